//===- SyncTreePoints.h - Points of two trees of a kernel -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Points of a tree as points of a finer tree of the same kernel. The tree of
// warps, say, has loops and branches where that of the block has one step: both
// are walked side by side, and items match that start at the same operation.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_TREE_SYNCTREEPOINTS_H
#define WORKGROUP_LIB_ANALYSIS_TREE_SYNCTREEPOINTS_H

#include "SyncTree.h"

namespace mlir::workgroup {

/// Points of a tree, as sequence and index, and where they are in another one.
using SyncPointMap = DenseMap<std::pair<unsigned, unsigned>, SyncPoint>;

/// The points of `tree` in which barriers of the block can stand, and where
/// they are in the tree of the same kernel for warps, which takes more apart.
SyncPointMap matchPoints(const SyncTree &tree, const SyncTree &finer);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_TREE_SYNCTREEPOINTS_H
