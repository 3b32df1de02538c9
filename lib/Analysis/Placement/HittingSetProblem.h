//===- HittingSetProblem.h - Choices, demands, prices -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a hitting set is asked for: choices with a price, and demands, each of
// which wants one of several choices. A choice may be free and make further
// demands instead, which says that one demand can be met by meeting some
// others.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_HITTINGSETPROBLEM_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_HITTINGSETPROBLEM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>

namespace mlir::workgroup {

/// Prices compare lexicographically.
class Price {
public:
  Price() = default;
  explicit Price(unsigned size) : digits(size, 0) {}

  int &operator[](unsigned index) { return digits[index]; }
  Price &operator+=(const Price &other);
  Price &operator-=(const Price &other);
  bool operator<(const Price &other) const {
    return std::lexicographical_compare(
        digits.begin(), digits.end(), other.digits.begin(), other.digits.end());
  }
  /// More than any sum of prices.
  static Price getInfinite(unsigned size);

private:
  llvm::SmallVector<int, 6> digits;
};

/// The choices, with their prices, and the demands that they have to meet.
struct HittingSetProblem {
  struct Choice {
    Price price;
    /// Among equally good choices, that of the highest rank is preferred, then
    /// the last.
    unsigned rank = 0;
    /// If not empty, the choice is free, but asks for these further demands.
    llvm::SmallVector<unsigned, 2> demands;
  };
  llvm::SmallVector<Choice, 0> choices;
  /// Numbers of choices, ascending.
  llvm::SmallVector<llvm::SmallVector<unsigned, 0>, 0> demands;
  /// These demands have to be met; the others if a choice asks for them.
  llvm::SmallVector<unsigned, 0> required;
  /// Number of digits of all prices.
  unsigned priceSize = 1;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_HITTINGSETPROBLEM_H
