//===- IntegerSearch.cpp - Integers by halving ranges ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntegerSearch.h"
#include "CheckedArithmetic.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::workgroup {

using Answer = IntegerSearch::Answer;

/// What a search may take, and where it looks in a range without an end.
static constexpr unsigned kMaxSteps = 40;
static constexpr int64_t kWindow = 1 << 12;

Answer IntegerSearch::check(ArrayRef<Constraint> rows,
                            ArrayRef<int64_t> values) {
  for (const Constraint &constraint : rows) {
    Number sum = constraint.row.constant;
    for (auto [variable, factor] : constraint.row.terms)
      if (sum)
        sum = addScaled(*sum, values[variable], factor);
    if (!sum)
      return Answer::Unknown;
    if (constraint.isEquality ? *sum != 0 : *sum < 0)
      return Answer::Empty;
  }
  return Answer::Solved;
}

/// Takes the constraints one after the other until they tell nothing new.
bool IntegerSearch::propagate(BoundPropagation &bounds) {
  constexpr unsigned kMaxRounds = 8;
  for (unsigned round = 0; round < kMaxRounds; ++round) {
    for (const Constraint &constraint : rows)
      if (!bounds.add(constraint.row, constraint.isEquality))
        return false;
    if (!bounds.takeChange())
      return true;
  }
  return true;
}

/// Every variable has one value: whether these are a solution.
Answer IntegerSearch::take(const BoundPropagation &bounds) {
  sample.clear();
  for (const Interval &range : bounds.getRanges())
    sample.push_back(*range.min);
  return check(rows, sample);
}

Answer IntegerSearch::searchPart(BoundPropagation bounds, unsigned variable,
                                 Interval part) {
  if (++numSteps > kMaxSteps)
    return Answer::Unknown;
  bounds.setRange(variable, part);
  return propagate(bounds) ? search(bounds) : Answer::Empty;
}

/// The number of integers in `range`, less one; nothing without ends.
static std::optional<uint64_t> getLength(const Interval &range) {
  if (!range.min || !range.max)
    return std::nullopt;
  return uint64_t(*range.max) - uint64_t(*range.min);
}

/// A finite part of a range without an end.
static Interval getWindow(const Interval &range) {
  if (range.max)
    return {*range.max - kWindow, range.max};
  int64_t least = range.min.value_or(0);
  return {least, least + kWindow};
}

Answer IntegerSearch::search(const BoundPropagation &bounds) {
  std::optional<unsigned> shortest, endless;
  for (auto [variable, range] : llvm::enumerate(bounds.getRanges())) {
    std::optional<uint64_t> length = getLength(range);
    if (!length)
      endless = endless.value_or(variable);
    else if (*length > 0 &&
             (!shortest || *length < getLength(bounds.getRanges()[*shortest])))
      shortest = variable;
  }
  if (!shortest && !endless)
    return take(bounds);
  if (!shortest) {
    Answer answer =
        searchPart(bounds, *endless, getWindow(bounds.getRanges()[*endless]));
    return answer == Answer::Solved ? answer : Answer::Unknown;
  }
  Interval range = bounds.getRanges()[*shortest];
  int64_t middle = *range.min + int64_t(*getLength(range) / 2);
  Answer lower = searchPart(bounds, *shortest, {range.min, middle});
  if (lower == Answer::Solved)
    return lower;
  Answer upper = searchPart(bounds, *shortest, {middle + 1, range.max});
  return upper == Answer::Empty ? lower : upper;
}

Answer IntegerSearch::run() {
  llvm::BitVector isUsed(bounds.getRanges().size());
  for (const Constraint &constraint : rows)
    for (auto [variable, factor] : constraint.row.terms)
      isUsed.set(variable);
  BoundPropagation used = bounds;
  for (unsigned variable = 0; variable < isUsed.size(); ++variable)
    if (!isUsed[variable])
      used.setRange(variable, {0, 0});
  return search(used);
}

} // namespace mlir::workgroup
