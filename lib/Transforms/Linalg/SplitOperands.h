//===- SplitOperands.h - What comes before a product ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum of products whose factors are computed in its body is no contraction
// that staging or tensor cores know. The factors become operands that are
// computed beforehand:
//
//   sum (a - za) * (b - zb)  ->  a' = a - za, b' = b - zb, sum a' * b'
//
// That costs one pass over each operand, and saves the arithmetic each time an
// element is read again.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_SPLITOPERANDS_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_SPLITOPERANDS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::workgroup {

/// The operation that multiplies what `op` sums up; null if that is not what it
/// does.
Operation *getProduct(linalg::GenericOp op);

/// Makes a contraction of a sum of products whose factors are computed in its
/// body, each from what it reads of one side: of `linalg.quantized_matmul`,
/// which sums up (a - za) * (b - zb), or of a weight with a scale for each
/// column. What comes before the product becomes an operation of its own, on as
/// many elements as the operand has. Only where each of them is read again,
/// along rows and columns: elsewhere it costs more than it saves.
void splitOperands(RewriterBase &rewriter, linalg::GenericOp op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_SPLITOPERANDS_H
