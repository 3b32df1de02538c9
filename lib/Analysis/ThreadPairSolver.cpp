//===- ThreadPairSolver.cpp - Whether constraints have a solution ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowBounds.h"
#include "RowReduction.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"

namespace mlir::workgroup {

using Row = ThreadPairSystem::Row;

/// What a query may take, as cases multiply: systems solved in integers, and in
/// rationals, which takes a fraction of that.
static constexpr unsigned kMaxChecks = 96, kMaxTries = 512;
static constexpr unsigned kMaxProducts = 6;

/// x * n and y * n are as far apart as x and y tell, if `n` is not negative:
/// the same, or `n` apart at least. So quotient and remainder by one number,
/// known or not, tell ids apart.
void ThreadPairSystem::relateProducts() {
  // Those that there are two of tell most.
  auto isOneOfTwo = [&](const ProductOf &product) {
    return llvm::any_of(products, [&](const ProductOf &other) {
      return other.rhs == product.rhs && !(other.product == product.product);
    });
  };
  SmallVector<ProductOf, 0> sorted, others;
  for (const ProductOf &product : products)
    (isOneOfTwo(product) ? sorted : others).push_back(product);
  llvm::append_range(sorted, others);
  if (sorted.size() > kMaxProducts)
    sorted.truncate(kMaxProducts);
  products = std::move(sorted);
  for (unsigned i = 0; i < products.size(); ++i) {
    const ProductOf &lhs = products[i];
    for (unsigned j = 0; j < i; ++j) {
      const ProductOf &rhs = products[j];
      if (!(lhs.rhs == rhs.rhs) || lhs.product == rhs.product)
        continue;
      Row factors = subtract(lhs.lhs, rhs.lhs);
      Row distance = subtract(lhs.product, rhs.product);
      Cases cases(3);
      cases[0].rows = {{factors, true}, {distance, true}};
      cases[1].rows = {{subtract(factors, makeConstant(1)), false},
                       {subtract(distance, lhs.rhs), false}};
      Row below;
      below.add(factors, -1);
      Row behind;
      behind.add(distance, -1);
      cases[2].rows = {{subtract(below, makeConstant(1)), false},
                       {subtract(behind, lhs.rhs), false}};
      choices.push_back(std::move(cases));
    }
    // And from zero.
    Cases cases(2);
    cases[0].rows = {{lhs.lhs, true}, {lhs.product, true}};
    cases[1].rows = {{subtract(lhs.lhs, makeConstant(1)), false},
                     {subtract(lhs.product, lhs.rhs), false}};
    cases.emplace_back();
    cases[2].rows = {{subtract(makeConstant(-1), lhs.lhs), false}};
    choices.push_back(std::move(cases));
  }
}

/// Two numbers are equal if their exclusive ors with the same key are: swizzles
/// take no two elements of a row to one place.
void ThreadPairSystem::relateMixtures() {
  constexpr size_t kMaxPairs = 2;
  if (mixtures[First].size() * mixtures[Second].size() > kMaxPairs)
    return;
  auto isMore = [](const Row &lhs, const Row &rhs) {
    Conjunction more;
    more.rows = {{subtract(subtract(lhs, rhs), makeConstant(1)), false}};
    return more;
  };
  for (const MixtureOf &lhs : mixtures[First])
    for (const MixtureOf &rhs : mixtures[Second]) {
      Cases cases = {isMore(lhs.result, rhs.result),
                     isMore(rhs.result, lhs.result), isMore(lhs.key, rhs.key),
                     isMore(rhs.key, lhs.key), Conjunction()};
      cases.back().rows = {{subtract(lhs.number, rhs.number), true}};
      choices.push_back(std::move(cases));
    }
}

/// True if constraints, one after the other, leave nothing.
static bool isEmptyByBounds(ArrayRef<ThreadPairSystem::Constraint> rows,
                            unsigned numVariables) {
  constexpr unsigned kMaxRounds = 8;
  RowBounds bounds(numVariables);
  for (unsigned round = 0; round < kMaxRounds; ++round) {
    for (const ThreadPairSystem::Constraint &constraint : rows)
      if (!bounds.add(constraint.row, constraint.isEquality))
        return true;
    if (!bounds.takeChange())
      return false;
  }
  return false;
}

/// About how long it takes to solve `rows`: by the entries of the matrix, more
/// often by far for integers, and if numbers soon outgrow 64 bits.
static uint64_t estimate(ArrayRef<ThreadPairSystem::Constraint> rows,
                         uint64_t numVariables, bool isRational) {
  constexpr int64_t kLarge = 1 << 16;
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

/// Whether `rows` have a solution, in rationals or integers.
ThreadPairSystem::Answer
ThreadPairSystem::check(const SmallVectorImpl<Constraint> &rows,
                        bool isRational) {
  if (isEmptyByBounds(rows, ranges.size()))
    return Answer::Empty;
  unsigned &count = isRational ? numTries : numChecks;
  if (++count > (isRational ? kMaxTries : kMaxChecks))
    return Answer::Unknown;
  using presburger::IntegerPolyhedron;
  using presburger::PresburgerSpace;
  RowReduction reduction(rows, ranges.size());
  ArrayRef<unsigned> variables = reduction.getVariables();
  effort += estimate(reduction.getRows(), variables.size(), isRational);
  DenseMap<unsigned, unsigned> columns;
  for (auto [column, variable] : llvm::enumerate(variables))
    columns[variable] = column;
  IntegerPolyhedron system(PresburgerSpace::getSetSpace(variables.size()));
  SmallVector<int64_t> dense(variables.size() + 1);
  for (const Constraint &constraint : reduction.getRows()) {
    int64_t constant = constraint.row.constant;
    if (constraint.row.terms.empty()) {
      if (constraint.isEquality ? constant != 0 : constant < 0)
        return Answer::Empty;
      continue;
    }
    llvm::fill(dense, 0);
    for (auto [variable, factor] : constraint.row.terms)
      dense[columns[variable]] = factor;
    dense.back() = constant;
    if (constraint.isEquality)
      system.addEquality(dense);
    else
      system.addInequality(dense);
  }
  if (system.isEmpty())
    return Answer::Empty;
  if (isRational)
    return Answer::Solved;
  system.simplify();
  auto solution = system.findIntegerSample();
  if (!solution)
    return Answer::Empty;
  SmallVector<int64_t> values;
  for (const llvm::DynamicAPInt &number : *solution)
    values.push_back(llvm::int64fromDynamicAPInt(number));
  sample = reduction.expand(values);
  return Answer::Solved;
}

/// Takes a case of each choice from number `depth` on.
ThreadPairSystem::Answer
ThreadPairSystem::search(SmallVectorImpl<Constraint> &rows, unsigned depth,
                         bool isRational) {
  bool isLast = depth == choices.size();
  Answer answer = check(rows, isRational || !isLast);
  if (answer != Answer::Solved || isLast)
    return answer;
  size_t size = rows.size();
  Answer result = Answer::Empty;
  for (const Conjunction &part : choices[depth]) {
    llvm::append_range(rows, part.rows);
    Answer inner = search(rows, depth + 1, isRational);
    rows.truncate(size);
    if (inner == Answer::Solved)
      return inner;
    if (inner == Answer::Unknown)
      result = inner;
  }
  return result;
}

ThreadPairSystem::Answer ThreadPairSystem::solve(bool isRational) {
  relateProducts();
  relateMixtures();
  if (ranges.size() > kMaxVariables)
    return Answer::Unknown;
  // Those with the fewest cases first: they fail first.
  llvm::stable_sort(choices, [](const Cases &lhs, const Cases &rhs) {
    return lhs.size() < rhs.size();
  });
  SmallVector<Constraint, 0> rows(base.rows.begin(), base.rows.end());
  return search(rows, 0, isRational);
}

int64_t ThreadPairSystem::evaluate(const Row &row) const {
  int64_t sum = row.constant;
  for (auto [variable, factor] : row.terms)
    sum += factor * sample[variable];
  return sum;
}

} // namespace mlir::workgroup
