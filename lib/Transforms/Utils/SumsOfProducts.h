//===- SumsOfProducts.h - A product and its addition as one -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structured operation that sums up products, as a convolution does, rounds
// each product, and then the sum. One multiply-add rounds once, which is more
// exact and half the instructions. Only the addition to a result along a
// reduction becomes one: element-wise bodies keep the roundings that are
// written.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_UTILS_SUMSOFPRODUCTS_H
#define WORKGROUP_LIB_TRANSFORMS_UTILS_SUMSOFPRODUCTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::workgroup {

/// The product that `inner`, an operation of the body of `op`, adds to a result
/// along a reduction, and nothing else uses; null if it does something else.
arith::MulFOp getAddedProduct(linalg::LinalgOp op, Operation *inner);

/// True if `inner`, of the body of `op`, is a product that `getAddedProduct`
/// finds.
bool isAddedProduct(linalg::LinalgOp op, Operation *inner);

/// The sum that `addition` makes of `product` by one operation, on what their
/// operands are in `mapping`.
Value createMultiplyAdd(OpBuilder &builder, Operation *addition,
                        arith::MulFOp product, const IRMapping &mapping);

/// Makes one operation of each product and its addition in the body of `op`.
void fuseMultiplyAdds(RewriterBase &rewriter, linalg::LinalgOp op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_UTILS_SUMSOFPRODUCTS_H
