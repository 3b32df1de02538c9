//===- StageReads.h - What a block reads more than once ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_STAGEREADS_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_STAGEREADS_H

#include "workgroup/Analysis/ArgumentAliases.h"

namespace mlir::workgroup {

/// Copies to workgroup memory, once per block, the tiles of global memory that
/// the operations of the block reduce and read again, and those that an
/// element-wise operation reads across the order of its result. No more than
/// `maxBytes` of them.
void stageReads(Operation *scope, const ArgumentAliases &aliases,
                int64_t maxBytes);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_STAGEREADS_H
