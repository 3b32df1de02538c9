//===- MixedRadix.cpp - Equations of mixed-radix numbers ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An equation of threads that meet is split at a base, one of its factors:
// terms that the base divides make the upper part, all others the lower one. If
// the range of the lower part leaves the upper part a single value, the
// equation becomes two:
//
//   128 * (block - block') + (row - row') = 0, -127 <= row - row' <= 127
//     -> block - block' = 0, row - row' = 0
//
// The factors are tried as bases, the least one first. What threads tell is
// taken apart number by number if it is not a multiple.
//
//===----------------------------------------------------------------------===//

#include "MixedRadix.h"
#include "Analysis/Integers/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

/// Puts the parts in the place of the equation, if the lower one is too small
/// to make up for a difference of the upper one. They have `base`, which is
/// more than one, between them.
bool MixedRadix::finish(Equation &equation, Components &parts, int64_t base) {
  Equation ofTables = parts.lower;
  SmallVector<Term, 6> others, ofThreads;
  for (const Term &term : parts.lower.terms)
    (system.isOfTables(term.first) ? ofThreads : others).push_back(term);
  if (!system.addTables(ofTables, ofThreads))
    return false;
  auto range = system.getTotalRange(others, ofTables);
  if (!range)
    return false;
  Number low = addScaled(equation.low, (*range)[1], -1);
  Number high = addScaled(equation.high, (*range)[0], -1);
  if (!low || !high)
    return false;
  int64_t least = llvm::divideCeilSigned(*low, base);
  int64_t most = llvm::divideFloorSigned(*high, base);
  system.isImpossible |= least > most;
  if (least != most)
    return system.isImpossible;
  parts.upper.low = parts.upper.high = least;
  parts.lower.low = equation.low - least * base;
  parts.lower.high = equation.high - least * base;
  equation = std::move(parts.lower);
  system.equations.push_back(std::move(parts.upper)); // invalidates `equation`
  return true;
}

bool MixedRadix::split(Equation &equation, int64_t base) {
  auto isEmpty = [](const Equation &part) {
    auto isZero = [](int64_t number) { return number == 0; };
    return part.terms.empty() && llvm::all_of(part.first, isZero) &&
           llvm::all_of(part.second, isZero);
  };
  auto addComponents = [&](const Equation &from, Components &parts) {
    for (auto table : {&Equation::first, &Equation::second})
      for (int64_t number : from.*table) {
        int64_t times = llvm::divideFloorSigned(number, base);
        (parts.upper.*table).push_back(times);
        (parts.lower.*table).push_back(number - times * base);
      }
  };
  // Terms stay terms if they can: then more is known of them.
  Components parts, numbers;
  Equation ofThreads;
  ofThreads.first = equation.first;
  ofThreads.second = equation.second;
  SmallVector<Term, 6> told;
  for (const Term &term : equation.terms) {
    bool isUpper = term.second % base == 0;
    Term divided = {term.first, isUpper ? term.second / base : term.second};
    (isUpper ? parts.upper : parts.lower).terms.push_back(divided);
    if (system.isOfTables(term.first))
      told.push_back(term);
    else
      (isUpper ? numbers.upper : numbers.lower).terms.push_back(divided);
  }
  addComponents(equation, parts);
  if (!isEmpty(parts.upper) && finish(equation, parts, base))
    return true;
  if (told.empty() || !system.addTables(ofThreads, told))
    return false;
  addComponents(ofThreads, numbers);
  return !isEmpty(numbers.upper) && finish(equation, numbers, base);
}

/// What all numbers of two tables are multiples of, beyond a constant.
static int64_t getStep(ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
  int64_t step = 0;
  for (ArrayRef<int64_t> table : {first, second})
    for (int64_t number : table)
      step = std::gcd(step, number - first.front());
  return step;
}

bool MixedRadix::split(Equation &equation) {
  if (llvm::all_of(equation.terms, [&](const Term &term) {
        return system.isOfTables(term.first);
      }))
    return false; // of what threads alone tell, ranges are enough
  SmallVector<int64_t, 6> bases;
  for (const auto &[variable, factor] : equation.terms)
    if (factor > 1 || factor < -1)
      bases.push_back(std::abs(factor));
  if (int64_t step = getStep(equation.first, equation.second); step > 1)
    bases.push_back(step);
  llvm::sort(bases);
  bases.erase(llvm::unique(bases), bases.end());
  return llvm::any_of(bases,
                      [&](int64_t base) { return split(equation, base); });
}

//===----------------------------------------------------------------------===//
// Few numbers
//===----------------------------------------------------------------------===//

/// Numbers are tried so often for one equation.
static constexpr unsigned kMaxNumbers = 256;

/// True if numbers of `terms`, the largest factors first, may solve `rest`,
/// which has no others.
bool MixedRadix::maySolve(ArrayRef<Term> terms, const Equation &rest,
                          unsigned &numTries) const {
  auto range = system.getTotalRange(terms, rest);
  if (!range)
    return true;
  if ((*range)[1] < rest.low || (*range)[0] > rest.high)
    return false;
  if (terms.empty())
    return true;
  auto [variable, factor] = terms.front();
  Interval numbers = system.getRange(variable);
  auto others = system.getTotalRange(terms.drop_front(), rest);
  if (!numbers.min || !numbers.max || !others)
    return true;
  Number low = addScaled(rest.low, (*others)[1], -1);
  Number high = addScaled(rest.high, (*others)[0], -1);
  if (!low || !high)
    return true;
  if (factor < 0)
    std::swap(low, high);
  int64_t least = std::max(*numbers.min, llvm::divideCeilSigned(*low, factor));
  int64_t most = std::min(*numbers.max, llvm::divideFloorSigned(*high, factor));
  for (int64_t number = least; number <= most; ++number) {
    Equation left = rest;
    Number newLow = addScaled(rest.low, number, -factor);
    Number newHigh = addScaled(rest.high, number, -factor);
    if (++numTries > kMaxNumbers || !newLow || !newHigh)
      return true;
    left.low = *newLow;
    left.high = *newHigh;
    if (maySolve(terms.drop_front(), left, numTries))
      return true;
  }
  return false;
}

bool MixedRadix::isRuledOut(const Equation &equation) const {
  Equation rest = equation;
  SmallVector<Term, 6> terms = std::move(rest.terms);
  rest.terms.clear();
  llvm::stable_sort(terms, [](const Term &lhs, const Term &rhs) {
    return std::abs(lhs.second) > std::abs(rhs.second);
  });
  unsigned numTries = 0;
  return !maySolve(terms, rest, numTries);
}

} // namespace mlir::workgroup
