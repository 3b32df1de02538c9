//===- CheckedArithmetic.h - Sums that may get too large --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of multiples of 64-bit integers, which have no result where they would
// get too large. Factors of systems grow when variables are eliminated, so that
// each step is checked: a caller without a result takes its answer as unknown.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INTEGERS_CHECKEDARITHMETIC_H
#define WORKGROUP_LIB_ANALYSIS_INTEGERS_CHECKEDARITHMETIC_H

#include "IntegerArithmetic.h"

namespace mlir::workgroup {

/// lhs + rhs * factor; nothing if that is too large. Half of what fits, so that
/// a few sums of it still do.
inline Number addScaled(int64_t lhs, int64_t rhs, int64_t factor) {
  constexpr int64_t kLimit = int64_t(1) << 62;
  int64_t product, sum;
  if (llvm::MulOverflow(rhs, factor, product) ||
      llvm::AddOverflow(lhs, product, sum) || sum > kLimit || sum < -kLimit)
    return std::nullopt;
  return sum;
}

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INTEGERS_CHECKEDARITHMETIC_H
