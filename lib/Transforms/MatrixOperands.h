//===- MatrixOperands.h - Bounds of matrix operands -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_MATRIXOPERANDS_H
#define WORKGROUP_LIB_TRANSFORMS_MATRIXOPERANDS_H

#include "workgroup/Analysis/Uniformity.h"

namespace mlir::workgroup {

/// Emits an error for each access that loads an operand of a matrix instruction
/// of kernel `scope`, or stores its result, with an index that is outside of
/// the memref in some thread of a block of known shape. Upstream's rewriting
/// takes `threadIdx.x` for the lane, so that the second warp of a block 64 wide
/// addresses rows 8 to 23 of a tile of 16.
LogicalResult verifyMatrixOperands(Operation *scope,
                                   const UniformityAnalysis &uniformity);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_MATRIXOPERANDS_H
