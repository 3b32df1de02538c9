//===- ZeroPoints.h - Zero points outside of products -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantized products and convolutions subtract a zero point from each element
// before they multiply: of 8 bits that makes 9, which no tensor core has. The
// zero points come out of the sum of N terms:
//
//   sum (a - za) * (b - zb)  =  sum a * b  -  zb * (sum a - N * za)
//                               -  za * sum b
//
// That holds for integers of any width, as all of it wraps alike. The sums of
// one operand are small: one for each row, and for each column.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_ZEROPOINTS_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_ZEROPOINTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::workgroup {

/// Takes the zero points out of a sum of products of integers of 8 bits, where
/// each element is read again, along rows and columns.
void takeOutZeroPoints(RewriterBase &rewriter, linalg::GenericOp op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_ZEROPOINTS_H
