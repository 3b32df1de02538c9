//===- BufferTypes.h - Types and views of static buffers --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What hoisting needs to know of an allocation's type: how many elements its
// layout spans, the contiguous buffer that holds them, and the way back from
// that buffer to the type that the uses expect.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_UTILS_BUFFERTYPES_H
#define WORKGROUP_LIB_TRANSFORMS_UTILS_BUFFERTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Target/AccessWidth.h"

namespace mlir::workgroup {

/// The largest access to workgroup memory in bytes, so that a buffer with this
/// alignment serves all of them.
constexpr int64_t kMinBufferAlignment = kWidestAccessBytes;

/// The largest value that `index` can take, if it has a constant bound.
std::optional<int64_t> getUpperBound(OpFoldResult index);

/// The number of elements from the start of a buffer to the last one that a
/// memref with these extents, none of them zero, can address; nothing if there
/// is no such number.
std::optional<int64_t> getSpan(ArrayRef<int64_t> extents,
                               ArrayRef<int64_t> strides, int64_t offset);

/// The number of elements between the first and one past the last that
/// allocation `op` can address, dynamic extents taken at their constant upper
/// bounds. Nothing if the layout is not strided or an extent has no bound.
std::optional<int64_t> getBufferSpan(Operation *op);

/// The type of the contiguous buffer in workgroup memory that holds the `span`
/// elements of allocation `op`.
MemRefType getBufferType(Operation *op, int64_t span);

/// A view of `buffer` with the shape and layout of allocation `op`, in
/// workgroup memory as this project spells it.
Value createViewOfType(RewriterBase &rewriter, Operation *op, Value buffer);

/// Replaces `buffer` by `replacement`, which differs at most in the spelling of
/// its memory space. Views of it are respelled; uses that insist on the old
/// spelling (calls, terminators) get a cast.
void replaceBuffer(RewriterBase &rewriter, Value buffer, Value replacement);

/// Respells the workgroup attributions of kernel `scope` and, on a `gpu.func`,
/// raises their alignment to at least `alignment` bytes and what accesses need.
void normalizeAttributions(RewriterBase &rewriter, Operation *scope,
                           int64_t alignment);

/// Does the same for the workgroup globals of the `gpu.module`s inside `root`.
void normalizeGlobals(RewriterBase &rewriter, Operation *root,
                      int64_t alignment);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_UTILS_BUFFERTYPES_H
