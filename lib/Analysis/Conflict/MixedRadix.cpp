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
// Equations that only speak of threads are then looked up in tables, for all
// pairs of threads of the block.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Integers/CheckedArithmetic.h"
#include "PairEquations.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Components
//===----------------------------------------------------------------------===//

/// An equation as `base` times one and another.
struct PairEquations::Split {
  Equation upper, lower;
};

/// Adds the numbers that `terms`, which threads tell, are for each thread.
bool PairEquations::addTables(Equation &equation, ArrayRef<Term> terms) const {
  for (const auto &[variable, factor] : terms) {
    const Table &table = *tables->get(variable.atom);
    equation.first.resize(table.size());
    equation.second.resize(table.size());
    for (unsigned thread = 0; thread < table.size(); ++thread) {
      Number scaled = addScaled(0, table[thread], factor);
      constexpr int64_t kLimit = int64_t(1) << 48;
      if (!scaled || std::abs(*scaled) > kLimit)
        return false;
      if (variable.kind != Variable::Second)
        equation.first[thread] += *scaled;
      if (variable.kind != Variable::First)
        equation.second[thread] +=
            variable.kind == Variable::Second ? -*scaled : *scaled;
    }
  }
  return true;
}

/// Puts the parts in the place of the equation, if the lower one is too small
/// to make up for a difference of the upper one. They have `base`, which is
/// more than one, between them.
bool PairEquations::finish(Equation &equation, Split &parts, int64_t base) {
  Equation ofTables = parts.lower;
  SmallVector<Term, 6> others, ofThreads;
  for (const Term &term : parts.lower.terms)
    (isOfTables(term.first) ? ofThreads : others).push_back(term);
  if (!addTables(ofTables, ofThreads))
    return false;
  auto range = getTotalRange(others, ofTables);
  if (!range)
    return false;
  Number low = addScaled(equation.low, (*range)[1], -1);
  Number high = addScaled(equation.high, (*range)[0], -1);
  if (!low || !high)
    return false;
  int64_t least = llvm::divideCeilSigned(*low, base);
  int64_t most = llvm::divideFloorSigned(*high, base);
  isImpossible |= least > most;
  if (least != most)
    return isImpossible;
  parts.upper.low = parts.upper.high = least;
  parts.lower.low = equation.low - least * base;
  parts.lower.high = equation.high - least * base;
  equation = std::move(parts.lower);
  equations.push_back(std::move(parts.upper)); // invalidates `equation`
  return true;
}

bool PairEquations::split(Equation &equation, int64_t base) {
  auto isEmpty = [](const Equation &part) {
    auto isZero = [](int64_t number) { return number == 0; };
    return part.terms.empty() && llvm::all_of(part.first, isZero) &&
           llvm::all_of(part.second, isZero);
  };
  auto addComponents = [&](const Equation &from, Split &parts) {
    for (auto table : {&Equation::first, &Equation::second})
      for (int64_t number : from.*table) {
        int64_t times = llvm::divideFloorSigned(number, base);
        (parts.upper.*table).push_back(times);
        (parts.lower.*table).push_back(number - times * base);
      }
  };
  // Terms stay terms if they can: then more is known of them.
  Split parts, numbers;
  Equation ofThreads;
  ofThreads.first = equation.first;
  ofThreads.second = equation.second;
  SmallVector<Term, 6> told;
  for (const Term &term : equation.terms) {
    bool isUpper = term.second % base == 0;
    Term divided = {term.first, isUpper ? term.second / base : term.second};
    (isUpper ? parts.upper : parts.lower).terms.push_back(divided);
    if (isOfTables(term.first))
      told.push_back(term);
    else
      (isUpper ? numbers.upper : numbers.lower).terms.push_back(divided);
  }
  addComponents(equation, parts);
  if (!isEmpty(parts.upper) && finish(equation, parts, base))
    return true;
  if (told.empty() || !addTables(ofThreads, told))
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

/// Takes an equation of several mixed-radix components apart.
bool PairEquations::split(Equation &equation) {
  if (llvm::all_of(equation.terms,
                   [&](const Term &term) { return isOfTables(term.first); }))
    return false; // looked at with all others
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
// Threads
//===----------------------------------------------------------------------===//

/// Goes through all pairs of threads for the equations that say something of
/// nothing else: whether none is left, or only those of a thread and itself.
bool PairEquations::lookAtThreads() {
  if (!tables || isSameThread)
    return false;
  ThreadPlaces first, second;
  unsigned numThreads = tables->getNumThreads();
  for (ThreadPlaces *places : {&first, &second}) {
    places->starts.assign(numThreads, 0);
    places->isPossible = mayBe[places == &second];
  }
  bool isKnown = false;
  for (const Equation &equation : equations) {
    Equation numbers = equation;
    bool isUsable = equation.low == equation.high &&
                    llvm::all_of(equation.terms, [&](const Term &term) {
                      return isOfTables(term.first);
                    });
    if (!isUsable || !addTables(numbers, equation.terms) ||
        numbers.first.empty())
      continue;
    isKnown = true;
    for (int64_t &number : numbers.second)
      number += equation.low;
    first.keys.push_back(std::move(numbers.first));
    second.keys.push_back(std::move(numbers.second));
  }
  if (!isKnown)
    return false;
  auto isOther = [&](unsigned lhs, unsigned rhs) {
    return lhs != rhs && isPair(lhs, rhs);
  };
  isImpossible |= findMeetings(first, second, isPair, 1).empty();
  isSameThread = findMeetings(first, second, isOther, 1).empty();
  return isImpossible || isSameThread;
}

} // namespace mlir::workgroup
