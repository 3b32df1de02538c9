//===- ScaledFactors.h - Scales of factors, behind the sums -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PyTorch scales queries and keys of attention, each of 16 bits, in f32 before
// it multiplies them. Tensor cores multiply what has 16 bits:
//
//   sum (c * a) * (d * b)  ->  (c * d) * sum a * b
//
// Products of f16 are exact in f32, and neither form leaves the range of f32,
// so that this rounds no more often than the program does. Products of bf16 are
// exact as well, but may leave the range where scaled factors would not.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_SCALEDFACTORS_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_SCALEDFACTORS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::workgroup {

/// Has `op`, a sum of products in f32 of factors that are f16 times a constant,
/// multiply those of f16, and multiplies the sums by the constants; of bf16,
/// only if `narrow`. True if anything changed.
bool scaleSums(RewriterBase &rewriter, linalg::GenericOp op, bool narrow);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_SCALEDFACTORS_H
