//===- EdgeBlocks.h - Blocks for what stands on edges -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where paths between blocks meet in the first block of a loop, or several go
// back to it, nothing can stand before the loop, or at the end of an iteration:
// there is no block for it. Canonicalization leaves such edges.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_SYNC_EDGEBLOCKS_H
#define WORKGROUP_LIB_TRANSFORMS_SYNC_EDGEBLOCKS_H

#include "KernelSync.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Makes a block for each place in `root` that is edges. In the end those are
/// taken away again that nothing was put into.
class EdgeBlocks {
public:
  EdgeBlocks(Operation *root, const SyncOptions &options);
  ~EdgeBlocks();

private:
  Block *findTarget(const SyncEdges &edges) const;
  void split(const SyncEdges &edges);
  void skip(Block *block);

  IRRewriter rewriter;
  SmallVector<Block *> blocks;
  /// The block that the edge from the one block to the other goes to now.
  DenseMap<std::pair<Block *, Block *>, Block *> moved;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_SYNC_EDGEBLOCKS_H
