//===- NonNegative.h - Values that are never below zero ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_NONNEGATIVE_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_NONNEGATIVE_H

#include "mlir/IR/Value.h"

namespace mlir::workgroup {

/// True if `value`, an integer or index, is never negative, by induction over
/// the loops that carry it: all that it starts as is not, and neither is what
/// becomes of it. As elsewhere, arithmetic on `index` does not overflow.
bool isNeverNegative(Value value);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_NONNEGATIVE_H
