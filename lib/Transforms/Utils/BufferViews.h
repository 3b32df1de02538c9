//===- BufferViews.h - Which elements a view has ----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a view has the first elements of a buffer, or all of them, and
// whether two views have the same: from subviews and casts alone.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_UTILS_BUFFERVIEWS_H
#define WORKGROUP_LIB_TRANSFORMS_UTILS_BUFFERVIEWS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::workgroup {

/// True if `part` begins where its source does, in dimensions as they are:
/// element (i, j, ...) of one is that of the other.
bool isLeadingSubView(memref::SubViewOp part);

/// What `view` is made of by subviews that are leading; `view` itself if it is
/// by none.
Value getLeadingSource(Value view);

/// True if `view` is `buffer`, or made of it by subviews that are leading.
bool isLeadingView(Value view, Value buffer);

/// As `isLeadingView`, through casts, too. All of the buffer if `isWhole`.
bool isLeadingPart(Value view, Value buffer, bool isWhole);

/// True if `lhs` and `rhs` are the same elements in the same order.
bool isSameView(Value lhs, Value rhs);

/// The number of elements of `memref` along `dim`, as an operand or a constant
/// if that is at hand.
OpFoldResult getExtent(OpBuilder &builder, Location loc, Value memref,
                       int64_t dim);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_UTILS_BUFFERVIEWS_H
