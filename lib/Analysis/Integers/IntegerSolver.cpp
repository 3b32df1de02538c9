//===- IntegerSolver.cpp - Linear constraints in integers -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntegerSolver.h"
#include "BranchAndBound.h"
#include "IntegerSearch.h"
#include "VariableElimination.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

using Answer = IntegerSolver::Answer;

/// What a solver may do: systems that Presburger solves in integers, and
/// others, which take a fraction of that.
static constexpr unsigned kMaxChecks = 96, kMaxTries = 512;

/// After so many tries that did not tell, each case of a choice is checked for
/// consistency.
static constexpr unsigned kManyTries = 16;

/// About how long it takes to solve a system: by the entries of the matrix,
/// more often by far for integers, and if numbers soon outgrow 64 bits.
static uint64_t estimate(const VariableElimination &reduction,
                         bool isRational) {
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

static bool isBelow(const LinearConstraint &constraint, int64_t limit) {
  return std::abs(constraint.row.constant) < limit &&
         llvm::all_of(
             constraint.row.terms,
             [&](auto term) { return std::abs(term.second) < limit; });
}

/// Without constraints that have a number of `limit` or more: what is computed
/// with them soon outgrows 64 bits. There may be more solutions then.
static presburger::IntegerPolyhedron
makePolyhedron(const VariableElimination &reduction, int64_t limit) {
  ArrayRef<unsigned> variables = reduction.getVariables();
  DenseMap<unsigned, unsigned> columns;
  for (auto [column, variable] : llvm::enumerate(variables))
    columns[variable] = column;
  presburger::IntegerPolyhedron system(
      presburger::PresburgerSpace::getSetSpace(variables.size()));
  SmallVector<int64_t> dense(variables.size() + 1);
  for (const LinearConstraint &constraint : reduction.getRows()) {
    if (!isBelow(constraint, limit))
      continue;
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

/// Whether MLIR's search, which knows no limit, soon comes to an end: of many
/// variables with large factors it takes seconds.
static bool isSmall(const VariableElimination &reduction) {
  constexpr unsigned kMaxVariables = 20, kMaxBits = 129;
  constexpr int64_t kLimit = int64_t(1) << 32;
  int64_t largest = 1;
  for (const LinearConstraint &constraint : reduction.getRows()) {
    if (!isBelow(constraint, kLimit))
      return false;
    for (auto term : constraint.row.terms)
      largest = std::max(largest, std::abs(term.second));
  }
  unsigned numVariables = reduction.getVariables().size();
  return numVariables <= kMaxVariables &&
         numVariables * llvm::Log2_64(largest) <= kMaxBits;
}

/// Solves what is left, in integers only if it `isLast`.
Answer IntegerSolver::solveByLibrary(const VariableElimination &reduction,
                                     bool isLast) {
  effort += estimate(reduction, !isLast);
  constexpr int64_t kLimit = int64_t(1) << 31;
  presburger::IntegerPolyhedron system =
      makePolyhedron(reduction, isLast ? INT64_MAX : kLimit);
  if (!isLast)
    return presburger::Simplex(system).isEmpty() ? Answer::Empty
                                                 : Answer::Solved;
  BranchAndBound search(system);
  Answer answer = search.run();
  SmallVector<DynamicAPInt, 8> numbers(search.getSample());
  if (answer == Answer::Unknown && isSmall(reduction)) {
    auto found = system.findIntegerSample();
    answer = found ? Answer::Solved : Answer::Empty;
    numbers = found.value_or(SmallVector<DynamicAPInt, 8>());
  }
  if (answer != Answer::Solved)
    return answer;
  SmallVector<int64_t> values(reduction.getNumVariables());
  for (auto [variable, number] :
       llvm::zip_equal(reduction.getVariables(), numbers))
    values[variable] = llvm::int64fromDynamicAPInt(number);
  // Of systems that were simplified before it finds what is no solution.
  if (IntegerSearch::check(reduction.getRows(), values) != Answer::Solved)
    return Answer::Unknown;
  setSample(reduction, values);
  return Answer::Solved;
}

void IntegerSolver::setSample(const VariableElimination &reduction,
                              ArrayRef<int64_t> values) {
  sample = reduction.expand(values);
  sample.truncate(numVariables);
}

/// Solves a system without choices, in integers only if it `isLast`.
Answer IntegerSolver::solveRows(const Rows &rows,
                                const VariableElimination &reduction,
                                bool isLast) {
  Answer answer = Answer::Unknown;
  if (isLast) {
    IntegerSearch search(reduction.getRows(), reduction.getNumVariables());
    answer = search.propagate() ? search.run() : Answer::Empty;
    effort += search.getNumSteps() * reduction.getRows().size();
    if (answer == Answer::Solved)
      setSample(reduction, search.getSample());
  }
  bool isDear = isLast && answer == Answer::Unknown;
  unsigned &count = isDear ? numChecks : numTries;
  if (++count > (isDear ? kMaxChecks : kMaxTries))
    return Answer::Unknown;
  if (answer != Answer::Unknown)
    return answer;
  // What is implied makes integer programming slow.
  if (isLast && numImplied > 0)
    return solveByLibrary(
        VariableElimination(ArrayRef(rows).drop_front(numImplied),
                            numVariables),
        isLast);
  return solveByLibrary(reduction, isLast);
}

/// Whether `part` can hold, as far as bounds tell.
static bool isPossible(const LinearConjunction &part,
                       const VariableElimination &reduction,
                       BoundPropagation bounds) {
  return llvm::all_of(part, [&](const LinearConstraint &constraint) {
    std::optional<LinearRow> row = reduction.reduce(constraint.row);
    return !row || bounds.add(*row, constraint.isEquality);
  });
}

/// Whether `part` can hold together with `rows`, in rationals.
bool IntegerSolver::isConsistent(Rows rows, const LinearConjunction &part) {
  llvm::append_range(rows, part);
  VariableElimination reduction(rows, numVariables);
  return !reduction.isEmpty() &&
         solveByLibrary(reduction, /*isLast=*/false) != Answer::Empty;
}

/// Takes the only possible case of a choice where there is but one, then tries
/// the cases of the choice that has the fewest.
Answer IntegerSolver::search(Rows rows, Choices choices) {
  while (true) {
    if (!IntegerSearch(rows, numVariables).propagate())
      return Answer::Empty;
    VariableElimination reduction(rows, numVariables);
    IntegerSearch bounds(reduction.getRows(), reduction.getNumVariables());
    if (reduction.isEmpty() || !bounds.propagate())
      return Answer::Empty;
    effort += rows.size() * (1 + choices.size());
    Choices open;
    SmallVector<const LinearConjunction *> fewest;
    const LinearChoice *next = nullptr;
    for (const LinearChoice *choice : choices) {
      SmallVector<const LinearConjunction *> possible;
      for (const LinearConjunction &part : *choice)
        if (isPossible(part, reduction, bounds.getBounds()) &&
            (numTries < kManyTries || isConsistent(rows, part)))
          possible.push_back(&part);
      if (possible.empty())
        return Answer::Empty;
      if (possible.size() == 1) {
        llvm::append_range(rows, *possible.front());
        continue;
      }
      open.push_back(choice);
      if (!next || possible.size() < fewest.size()) {
        next = choice;
        fewest = std::move(possible);
      }
    }
    if (open.size() < choices.size()) {
      choices = std::move(open);
      continue;
    }
    bool isLast = choices.empty();
    Answer answer = solveRows(rows, reduction, isLast && !isRational);
    if (answer != Answer::Solved || isLast)
      return answer;
    llvm::erase(choices, next);
    return searchCases(rows, choices, fewest);
  }
}

Answer IntegerSolver::searchCases(const Rows &rows, const Choices &choices,
                                  ArrayRef<const LinearConjunction *> cases) {
  Answer result = Answer::Empty;
  for (const LinearConjunction *part : cases) {
    Rows more = rows;
    llvm::append_range(more, *part);
    Answer answer = search(std::move(more), choices);
    if (answer == Answer::Solved)
      return answer;
    if (answer == Answer::Unknown)
      result = answer;
    if (answer == Answer::Unknown && isForEmptiness)
      break;
  }
  return result;
}

Answer IntegerSolver::solve(ArrayRef<LinearConstraint> rows,
                            ArrayRef<LinearChoice> choices,
                            ArrayRef<LinearConstraint> implied) {
  Choices open;
  for (const LinearChoice &choice : choices)
    open.push_back(&choice);
  numImplied = implied.size();
  Rows all(implied);
  llvm::append_range(all, rows);
  return search(std::move(all), std::move(open));
}

} // namespace mlir::workgroup
