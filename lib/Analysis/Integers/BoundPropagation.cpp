//===- BoundPropagation.cpp - What single constraints tell of variables ---===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BoundPropagation.h"
#include "CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

/// The most that `factor` times a variable can be; nothing if there is no
/// limit, or a large one.
std::optional<int64_t> BoundPropagation::getMost(unsigned variable,
                                                 int64_t factor) const {
  const Interval &range = bounds[variable];
  const std::optional<int64_t> &end = factor > 0 ? range.max : range.min;
  return end ? addScaled(0, *end, factor) : std::nullopt;
}

/// `factor` times the variable and `rest` are not negative together. False if
/// that leaves no value.
bool BoundPropagation::limit(unsigned variable, int64_t factor, int64_t rest) {
  Interval &range = bounds[variable];
  if (factor > 0) {
    int64_t least = llvm::divideCeilSigned(-rest, factor);
    if (range.min && *range.min >= least)
      return true;
    range.min = least;
  } else {
    int64_t most = llvm::divideFloorSigned(rest, -factor);
    if (range.max && *range.max <= most)
      return true;
    range.max = most;
  }
  hasChanged = true;
  return !range.min || !range.max || *range.min <= *range.max;
}

/// `sign` times `row` is not negative.
bool BoundPropagation::addNonNegative(const Row &row, int64_t sign) {
  std::optional<int64_t> most = addScaled(0, row.constant, sign);
  unsigned unlimited = 0, last = 0;
  for (auto [number, term] : llvm::enumerate(row.terms)) {
    std::optional<int64_t> part = getMost(term.first, sign * term.second);
    if (part && most) {
      most = addScaled(*most, *part, 1);
    } else {
      ++unlimited;
      last = number;
    }
  }
  if (!most || unlimited > 1)
    return true;
  if (unlimited == 0 && *most < 0)
    return false;
  for (auto [number, term] : llvm::enumerate(row.terms)) {
    if (unlimited == 1 && number != last)
      continue;
    int64_t factor = sign * term.second;
    Number rest = most;
    if (unlimited == 0)
      rest = addScaled(*most, *getMost(term.first, factor), -1);
    if (rest && !limit(term.first, factor, *rest))
      return false;
  }
  return true;
}

bool BoundPropagation::add(const Row &row, bool isEquality) {
  if (!isEquality)
    return addNonNegative(row, 1);
  int64_t divisor = 0;
  for (auto [variable, factor] : row.terms)
    divisor = std::gcd(divisor, factor);
  if (divisor ? row.constant % divisor != 0 : row.constant != 0)
    return false;
  return addNonNegative(row, 1) && addNonNegative(row, -1);
}

} // namespace mlir::workgroup
