//===- ThreadPairSolver.cpp - Whether constraints have a solution ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadPairSystem.h"

namespace mlir::workgroup {

using Row = ThreadPairSystem::Row;

/// More products are not compared.
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

/// Takes a case of each choice from number `depth` on.
ThreadPairSystem::Answer
ThreadPairSystem::search(SmallVectorImpl<Constraint> &rows, unsigned depth,
                         bool isRational) {
  bool isLast = depth == choices.size();
  Answer answer = solver.solve(rows, ranges.size(), isRational || !isLast);
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
    sum += factor * solver.getSample()[variable];
  return sum;
}

} // namespace mlir::workgroup
