//===- IntegerSolver.cpp - Linear constraints in integers -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/IntegerSolver.h"
#include "IntegerSearch.h"
#include "RowReduction.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"

namespace mlir::workgroup {

/// What a solver may do: systems that Presburger solves in integers, and
/// others, which take a fraction of that.
static constexpr unsigned kMaxChecks = 96, kMaxTries = 512;

void LinearRow::add(const LinearRow &other, int64_t factor) {
  constant += other.constant * factor;
  SmallVector<std::pair<unsigned, int64_t>, 4> sum;
  auto lhs = terms.begin();
  for (auto [variable, multiple] : other.terms) {
    while (lhs != terms.end() && lhs->first < variable)
      sum.push_back(*lhs++);
    int64_t total = multiple * factor;
    if (lhs != terms.end() && lhs->first == variable)
      total += (lhs++)->second;
    if (total != 0)
      sum.emplace_back(variable, total);
  }
  sum.append(lhs, terms.end());
  terms = std::move(sum);
}

/// About how long it takes to solve a system: by the entries of the matrix,
/// more often by far for integers, and if numbers soon outgrow 64 bits.
static uint64_t estimate(const RowReduction &reduction, bool isRational) {
  constexpr int64_t kLarge = 1 << 16;
  ArrayRef<LinearConstraint> rows = reduction.getRows();
  uint64_t numVariables = reduction.getVariables().size();
  uint64_t entries = 1 + rows.size() * numVariables;
  if (isRational)
    return entries;
  bool isLarge = llvm::any_of(rows, [&](const auto &constraint) {
    return llvm::any_of(constraint.row.terms, [&](auto term) {
      return std::abs(term.second) > kLarge;
    });
  });
  return entries * numVariables * (isLarge ? 64 : 1);
}

static presburger::IntegerPolyhedron
makePolyhedron(const RowReduction &reduction) {
  ArrayRef<unsigned> variables = reduction.getVariables();
  DenseMap<unsigned, unsigned> columns;
  for (auto [column, variable] : llvm::enumerate(variables))
    columns[variable] = column;
  presburger::IntegerPolyhedron system(
      presburger::PresburgerSpace::getSetSpace(variables.size()));
  SmallVector<int64_t> dense(variables.size() + 1);
  for (const LinearConstraint &constraint : reduction.getRows()) {
    llvm::fill(dense, 0);
    for (auto [variable, factor] : constraint.row.terms)
      dense[columns[variable]] = factor;
    dense.back() = constraint.row.constant;
    if (constraint.isEquality)
      system.addEquality(dense);
    else
      system.addInequality(dense);
  }
  return system;
}

IntegerSolver::Answer IntegerSolver::solve(ArrayRef<LinearConstraint> rows,
                                           unsigned numVariables,
                                           bool isRational) {
  if (!IntegerSearch(rows, numVariables).propagate())
    return Answer::Empty;
  RowReduction reduction(rows, numVariables);
  if (reduction.isEmpty())
    return Answer::Empty;
  IntegerSearch search(reduction.getRows(), reduction.getNumVariables());
  if (!search.propagate())
    return Answer::Empty;
  Answer answer = isRational ? Answer::Unknown : search.run();
  effort += search.getNumSteps() * rows.size();
  bool isQuick = isRational || answer != Answer::Unknown;
  unsigned &count = isQuick ? numTries : numChecks;
  if (++count > (isQuick ? kMaxTries : kMaxChecks))
    return Answer::Unknown;
  if (answer == Answer::Empty)
    return answer;
  SmallVector<int64_t> values;
  if (answer == Answer::Solved) {
    for (unsigned variable : reduction.getVariables())
      values.push_back(search.getSample()[variable]);
  } else {
    effort += estimate(reduction, isRational);
    presburger::IntegerPolyhedron system = makePolyhedron(reduction);
    if (system.isEmpty())
      return Answer::Empty;
    if (isRational)
      return Answer::Solved;
    system.simplify();
    auto solution = system.findIntegerSample();
    if (!solution)
      return Answer::Empty;
    for (const llvm::DynamicAPInt &number : *solution)
      values.push_back(llvm::int64fromDynamicAPInt(number));
  }
  sample = reduction.expand(values);
  sample.truncate(numVariables);
  return Answer::Solved;
}

} // namespace mlir::workgroup
