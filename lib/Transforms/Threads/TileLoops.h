//===- TileLoops.h - The loops of tile programs -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile program is a loop over blocks (`scf.forall`, mapped to blocks) with
// structured operations in it. These predicates tell which loop an operation is
// in: that over blocks, or one that shares work out to threads.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_THREADS_TILELOOPS_H
#define WORKGROUP_LIB_TRANSFORMS_THREADS_TILELOOPS_H

#include "Support/BlockLoops.h"

namespace mlir::workgroup {

/// The loops inside `root` the iterations of which are blocks.
inline SmallVector<scf::ForallOp> collectBlockLoops(Operation *root) {
  SmallVector<scf::ForallOp> loops;
  root->walk([&](scf::ForallOp loop) {
    if (isMappedToBlocks(loop))
      loops.push_back(loop);
  });
  return loops;
}

/// True if `op` is in a loop over blocks.
inline bool isInBlockLoop(Operation *op) {
  while ((op = op->getParentOp()))
    if (auto loop = dyn_cast<scf::ForallOp>(op); loop && isMappedToBlocks(loop))
      return true;
  return false;
}

/// True if `op` is a parallel loop in a block: its iterations are not for all
/// threads.
inline bool isLoopOfThreads(Operation *op) {
  return isa<scf::ForallOp, scf::ParallelOp>(op);
}

/// True if `op`, which is in a loop over blocks, is in another loop there.
inline bool isInThreadLoop(Operation *op) {
  do
    op = op->getParentOp();
  while (op && !isLoopOfThreads(op));
  auto loop = dyn_cast_if_present<scf::ForallOp>(op);
  return op && !(loop && isMappedToBlocks(loop));
}

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_THREADS_TILELOOPS_H
