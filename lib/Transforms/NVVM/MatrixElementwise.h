//===- MatrixElementwise.h - What is done to matrices in registers -*- C++ -*-//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element-wise operations on matrices in the registers of a warp
// (`gpu.subgroup_mma_elementwise`). Upstream lowers some kinds for some element
// types: others are written by those where that is exact, as -a by a * -1, or
// refused.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_MATRIXELEMENTWISE_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_MATRIXELEMENTWISE_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Emits an error if `op` computes with matrices in the registers of a warp,
/// or multiplies them, in a way for which there is no lowering.
LogicalResult verifyMatrixElementwise(Operation *op);

/// Writes what upstream's lowering does not have of element-wise operations on
/// matrices, negation and difference, by what it has.
void expandMatrixElementwise(Operation *root, RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_MATRIXELEMENTWISE_H
