//===- AccessMasks.h - What masks of vectors are made of --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask is most often the conjunction of a number of first elements, and of
// conditions that hold for all elements or none.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSMASKS_H
#define WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSMASKS_H

#include "mlir/IR/Operation.h"

namespace mlir::workgroup {

/// Parts of a mask of one dimension; there may be others.
struct MaskParts {
  /// The number of first elements that are not masked off; null for all.
  Value count;
  /// Each of these is true, or nothing is accessed.
  SmallVector<Value, 1> conditions;
};

/// The parts of `mask`.
MaskParts getMaskParts(Value mask);

/// The mask of an operation of the vector dialect on memory; null for none.
Value getMaskOf(Operation *op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSMASKS_H
