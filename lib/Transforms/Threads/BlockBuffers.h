//===- BlockBuffers.h - Buffers that blocks make for themselves -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers that a block allocates are the compiler's own, so that their layout
// may change if nobody asks for one. `makeRoom` makes a buffer larger, for
// tiles without a ragged end, and sets the distance of its rows such that two
// neighbouring rows lie in different halves of the banks.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_THREADS_BLOCKBUFFERS_H
#define WORKGROUP_LIB_TRANSFORMS_THREADS_BLOCKBUFFERS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// True if nothing cares for the layout of `buffer` and its slices.
bool takesAnyLayout(Value buffer);

/// Gives slices of `buffer` the types that follow from its type.
void updateSlices(RewriterBase &rewriter, Value buffer);

/// Replaces `alloc` by a slice of a buffer of `type`, which is static and no
/// smaller. Returns the buffer.
Value enlarge(RewriterBase &rewriter, memref::AllocOp alloc, MemRefType type);

/// The allocation of a block that `view` is a slice of neighbours of, and where
/// it begins there; null if it is of none without memory space and layout.
memref::AllocOp findBlockBuffer(Value view,
                                SmallVectorImpl<OpFoldResult> &offsets);

/// Makes the buffer of a block, which `view` is or is a slice of, as large as
/// it has to be for a tile of `shape` where the view begins, its rows so far
/// apart that there are few bank conflicts. Returns this tile, made before
/// `user`; null, and nothing is changed, if the buffer is another one's or
/// cannot be larger.
memref::SubViewOp makeRoom(RewriterBase &rewriter, Value view,
                           ArrayRef<int64_t> shape, Operation *user);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_THREADS_BLOCKBUFFERS_H
