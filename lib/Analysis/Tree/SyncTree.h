//===- SyncTree.h - A kernel as barriers see it -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sequences, loops and branches that all threads of a block, or of a warp,
// take together, whether they are operations or branches between blocks; and in
// them the accesses to memory and the barriers. What not all threads take
// together is one step: no barrier can stand in it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_TREE_SYNCTREE_H
#define WORKGROUP_LIB_ANALYSIS_TREE_SYNCTREE_H

#include "Analysis/Placement/BarrierPlacement.h"
#include "Analysis/Program/KernelLoops.h"
#include "Analysis/Program/OpEffects.h"
#include "AsyncCompletion.h"
#include "workgroup/Analysis/ThreadAccesses.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::workgroup {

/// The edges between blocks that a place in a kernel is: something stands there
/// in a block that all of them get to first.
struct SyncEdges {
  SmallVector<Block *> from;
  Block *to = nullptr;
};

/// What `SyncTreeBuilder` makes of a kernel.
class SyncTree {
public:
  const SyncProgram &getProgram() const { return program; }

  /// The step that access number `access` is part of.
  unsigned getStep(unsigned access) const { return stepOf[access]; }
  /// The completion of an asynchronous access; null if that is not known.
  const AsyncCompletion *getCompletion(unsigned access) const {
    auto it = completions.known.find(access);
    return it == completions.known.end() ? nullptr : &it->second;
  }
  /// True if nothing waits for the asynchronous access.
  bool isNeverDone(unsigned access) const {
    return completions.never.contains(access);
  }
  /// The wait that misses the asynchronous access; null if none is known.
  const MissedPhase *getMissed(unsigned access) const {
    auto it = completions.missed.find(access);
    return it == completions.missed.end() ? nullptr : &it->second;
  }
  /// The loops around a node that threads execute together, outermost first:
  /// their nodes.
  SmallVector<unsigned, 3> getLoopsAround(unsigned node) const;
  /// The number of loops around a sequence.
  unsigned getDepth(unsigned sequence) const;
  const KernelLoop *getLoop(unsigned node) const { return loopOf.lookup(node); }
  /// True if `node` stands before the test of the loop that is the node `loop`.
  bool isBeforeTest(unsigned node, unsigned loop) const;

  /// The operation before which a barrier at `point` is to stand; null if there
  /// is no such place.
  Operation *getInsertionPoint(SyncPoint point) const;
  /// The edges for points that have no such place; nothing for an empty region.
  ArrayRef<SyncEdges> getEdges() const { return edges; }
  /// The operation that a node is, or starts with.
  Operation *getStart(unsigned node) const { return before[node]; }
  /// The operation that decides which part of `node`, a branch, is taken:
  /// one that has them as its regions, or goes to them as its successors.
  Operation *getBranch(unsigned node) const { return branches.lookup(node); }
  /// The barrier that is `node`.
  Operation *getBarrier(unsigned node) const { return barriers.lookup(node); }
  /// The same with fences as the only barriers, that tell the asynchronous
  /// proxy of what has been done to `space`.
  SyncProgram getFenced(MemorySpace space) const;
  /// The nodes that are barriers, and proxy fences.
  SmallVector<unsigned> getBarriers() const;
  SmallVector<unsigned> getFences() const {
    return llvm::to_vector(llvm::make_first_range(fences));
  }

  /// True if the tree is of one branch region only.
  bool isOfPart() const { return part; }
  /// True if the tree is about the access.
  bool contains(const ThreadAccess &access) const {
    return !part || part->isAncestor(access.op->getParentRegion());
  }
  /// Branches that not all threads take together, where all get to them
  /// together: each an `scf.if`.
  ArrayRef<Operation *> getDivergentBranches() const {
    return divergentBranches;
  }

  /// Barriers that not all threads reach.
  ArrayRef<Operation *> getDivergentBarriers() const {
    return divergentBarriers;
  }
  /// True if there are barriers of warps in branches that not all lanes take
  /// together, and it is not known whether lanes meet there.
  bool hasOpenBarriers() const { return isOpen; }
  /// Barriers of warps, or of a part of the block, where its threads part.
  ArrayRef<Operation *> getPartedBarriers() const { return parted; }
  /// An operation at which control flow gets too entangled for this; null for
  /// none. Then nothing else is of use.
  Operation *getUnstructured() const { return unstructured; }

private:
  friend class SyncTreeBuilder;
  SyncTree() = default;

  Region *part = nullptr;
  SyncProgram program;
  std::vector<unsigned> stepOf;
  /// Steps that are proxy fences.
  DenseMap<unsigned, Operation *> fences;
  AsyncCompletions completions;
  DenseMap<unsigned, const KernelLoop *> loopOf;
  DenseMap<unsigned, Operation *> barriers, branches;
  /// The operation that each node starts with; the operation behind each
  /// sequence; and the test of each loop that tests in its middle.
  std::vector<Operation *> before;
  DenseMap<unsigned, Operation *> ends, tests;
  /// Nodes that start where each iteration of a loop does: nothing stands
  /// before them but on the edges into the loop.
  DenseMap<unsigned, const KernelLoop *> atHeaders;
  SmallVector<SyncEdges> edges;
  /// Blocks that have several places.
  DenseSet<Block *> shared;
  SmallVector<Operation *> divergentBarriers, divergentBranches;
  /// Barriers of warps where lanes part.
  SmallVector<Operation *> parted;
  bool isOpen = false;
  Operation *unstructured = nullptr;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_TREE_SYNCTREE_H
