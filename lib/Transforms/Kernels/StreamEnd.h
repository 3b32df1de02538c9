//===- StreamEnd.h - What is behind the last column -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a chain does with weights and is not known before the last column, such
// as their division by the sum of them, is done to the products in the end. And
// what else both parts of a chain, the loop over columns and its end, are made
// of.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_STREAMEND_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_STREAMEND_H

#include "ChainStream.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// The results of the second contraction, from the sums of `products` of all
/// `columns`. `ends` has what rows are reduced to.
Value finishStream(RewriterBase &rewriter, const ContractionChain &chain,
                   const ChainStream &stream, Value columns, Value products,
                   IRMapping ends);

/// Puts what makes `result` into the body of its user, if that is the only one
/// and element-wise: a conversion to the type of the results, say.
void fuseIntoUser(RewriterBase &rewriter, Value result);

/// What values of a chain have for dimensions: loops of the second contraction.
using ChainDims = SmallVector<unsigned>;

/// The dimensions of what `link` makes of rows, and of the second result.
ChainDims getRowDims(const ChainStream::Link &link);
ChainDims getResultDims(const ContractionChain &chain);

/// How a value with dimensions `from` is indexed by loops along `to`.
AffineMap mapDims(MLIRContext *context, ArrayRef<unsigned> from,
                  ArrayRef<unsigned> to);

/// The extents of `tensor`, as they are known where it is made.
SmallVector<OpFoldResult> getSizes(OpBuilder &builder, Value tensor);

/// The tensor that `value` is put into, behind what makes it.
Value getDestination(Value value);

/// Clones what `value` is computed from in `body`, unless `mapping` has it.
void cloneNeeded(OpBuilder &builder, Value value, Block *body,
                 IRMapping &mapping);

/// `value`, a float, as one of `type`.
Value convertFloat(OpBuilder &builder, Location loc, Value value, Type type);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_STREAMEND_H
