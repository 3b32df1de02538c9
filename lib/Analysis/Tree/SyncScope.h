//===- SyncScope.h - Who meets at barriers, and where they go ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a tree of a kernel is built by: the threads that meet at barriers, those
// of a block, of a warp or of a part of the block, and which branches and loops
// they take together.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_TREE_SYNCSCOPE_H
#define WORKGROUP_LIB_ANALYSIS_TREE_SYNCSCOPE_H

#include "Analysis/Program/KernelLoops.h"
#include "workgroup/Analysis/Uniformity.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::workgroup {

/// The threads that are to meet at barriers, and what is known of where they go
/// together.
struct SyncScope {
  UniformityUnit unit;
  const UniformityAnalysis &uniformity;
  /// The uniformity of the block, whatever `unit` is.
  const UniformityAnalysis &block;
  const KernelLoops &loops;
  /// True if all threads that get to a branch or a loop together go the same
  /// path.
  llvm::function_ref<bool(Operation *)> takesOnePath;
  /// True if the loop has an iteration whenever it is reached.
  llvm::function_ref<bool(const KernelLoop *)> hasIteration;
  /// The number of iterations of the loop, if that is always the same.
  llvm::function_ref<std::optional<int64_t>(const KernelLoop *)>
      getNumIterations;
  /// True if no thread ever gets to an operation.
  llvm::function_ref<bool(Operation *)> isDead;
  /// True if no thread ever takes the branch region of that number of a branch.
  llvm::function_ref<bool(Operation *, unsigned)> isNeverTaken;
  /// True if some thread gets to an operation, as its ids alone tell, in the
  /// first iteration of the loops around.
  llvm::function_ref<bool(Operation *)> isReachedBySome;
  /// True if lanes of a warp are known that get to an operation without others.
  llvm::function_ref<bool(Operation *)> partsWarps;
  /// The first of the operations that stand in place of the call that the given
  /// one stands in place of; null if it stands in place of none.
  llvm::function_ref<Operation *(Operation *)> getStartOfCall;
  /// True for a barrier of the part of the block that gets to it.
  llvm::function_ref<bool(Operation *)> isPartBarrier;
  /// The region of a branch that the threads are those of which take it, and
  /// all that the tree is about; null for all of the kernel, by all threads.
  Region *part = nullptr;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_TREE_SYNCSCOPE_H
