//===- StageReads.h - What a block reads more than once ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block reads some tiles of global memory more than once, as a softmax does
// (maximum, sum, quotient) or windows that overlap do, or across the order in
// which they lie, as a transposition does. Such a tile is copied to workgroup
// memory once, by the whole block, and its readers read the copy. A tile is
// staged if nothing in the block may write to it and the copies fit into the
// given bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_STAGEREADS_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_STAGEREADS_H

#include "workgroup/Analysis/ArgumentAliases.h"

namespace mlir::workgroup {

/// Copies to workgroup memory, once per block, the tiles of global memory that
/// the operations of the block reduce and read again, those that they read in
/// windows that overlap, and those that an element-wise operation reads across
/// the order of its result. No more than `maxBytes` of them.
void stageReads(Operation *scope, const ArgumentAliases &aliases,
                int64_t maxBytes);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_STAGEREADS_H
