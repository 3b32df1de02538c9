//===- ThreadPairSolver.cpp - Whether constraints have a solution ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of two unknowns and exclusive ors are not linear. Each is a variable
// of its own, and what is known of two of them is added as a choice before the
// system is solved:
//
//   x * n and y * n, n >= 0: equal, or at least n apart, as x and y are
//   a xor k = b xor k'  ->  k != k' or a = b
//
//===----------------------------------------------------------------------===//

#include "ThreadPairSystem.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::workgroup {

using Row = ThreadPairSystem::Row;

/// More products are not compared.
static constexpr unsigned kMaxProducts = 6;

/// x * n and c * n are as far apart as x and c tell, for numbers c of which the
/// multiple is in a constraint: the bound of a loop, say.
void ThreadPairSystem::relateToMultiples(const ProductOf &product) {
  constexpr size_t kMaxMultiples = 2;
  constexpr int64_t kLimit = 1 << 16;
  if (product.rhs.terms.size() != 1 || product.rhs.constant != 0)
    return;
  auto [variable, factor] = product.rhs.terms.front();
  llvm::SmallSetVector<int64_t, 4> multiples;
  for (const Constraint &constraint : base)
    for (auto term : constraint.row.terms)
      if (term.first == variable && term.second % factor == 0)
        multiples.insert(std::abs(term.second / factor));
  multiples.remove_if(
      [](int64_t multiple) { return multiple < 2 || multiple > kLimit; });
  for (int64_t multiple : multiples.getArrayRef().take_front(kMaxMultiples)) {
    Row most = subtract(makeConstant(multiple - 1), product.lhs);
    Row least = subtract(product.lhs, makeConstant(multiple));
    Row below, above = product.product;
    below.add(product.rhs, multiple - 1);
    below.add(product.product, -1);
    above.add(product.rhs, -multiple);
    choices.push_back(
        {{{most, false}, {below, false}}, {{least, false}, {above, false}}});
  }
}

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
      cases[0] = {{factors, true}, {distance, true}};
      cases[1] = {{subtract(factors, makeConstant(1)), false},
                  {subtract(distance, lhs.rhs), false}};
      Row below;
      below.add(factors, -1);
      Row behind;
      behind.add(distance, -1);
      cases[2] = {{subtract(below, makeConstant(1)), false},
                  {subtract(behind, lhs.rhs), false}};
      choices.push_back(std::move(cases));
    }
    relateToMultiples(lhs);
    // And from zero.
    Cases cases(2);
    cases[0] = {{lhs.lhs, true}, {lhs.product, true}};
    cases[1] = {{subtract(lhs.lhs, makeConstant(1)), false},
                {subtract(lhs.product, lhs.rhs), false}};
    cases.emplace_back();
    cases[2] = {{subtract(makeConstant(-1), lhs.lhs), false}};
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
    Conjunction more = {{subtract(subtract(lhs, rhs), makeConstant(1)), false}};
    return more;
  };
  for (const MixtureOf &lhs : mixtures[First])
    for (const MixtureOf &rhs : mixtures[Second]) {
      Cases cases = {isMore(lhs.result, rhs.result),
                     isMore(rhs.result, lhs.result), isMore(lhs.key, rhs.key),
                     isMore(rhs.key, lhs.key), Conjunction()};
      cases.back() = {{subtract(lhs.number, rhs.number), true}};
      choices.push_back(std::move(cases));
    }
}

ThreadPairSystem::Answer ThreadPairSystem::solve(bool isRational) {
  relateProducts();
  relateMixtures();
  if (ranges.size() > kMaxVariables)
    return Answer::Unknown;
  // A solution of what is not exact is none of threads.
  solver.emplace(ranges.size(), isRational, /*isForEmptiness=*/!exact);
  return solver->solve(base, choices, envelopes);
}

bool ThreadPairSystem::settleInputs() {
  auto isPlain = [&](const Row &input) { return evaluate(input) >= 0; };
  if (llvm::all_of(inputs, isPlain))
    return true;
  Conjunction plain = base;
  for (const Row &input : inputs)
    plain.push_back({input, false});
  solver.emplace(ranges.size(), /*isRational=*/false, /*isForEmptiness=*/false);
  return solver->solve(plain, choices, envelopes) == Answer::Solved;
}

int64_t ThreadPairSystem::evaluate(const Row &row) const {
  int64_t sum = row.constant;
  for (auto [variable, factor] : row.terms)
    sum += factor * solver->getSample()[variable];
  return sum;
}

} // namespace mlir::workgroup
