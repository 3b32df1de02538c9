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

#ifndef WORKGROUP_LIB_ANALYSIS_SYNC_SYNCTREE_H
#define WORKGROUP_LIB_ANALYSIS_SYNC_SYNCTREE_H

#include "Analysis/Placement/BarrierPlacement.h"
#include "Analysis/Program/KernelLoops.h"
#include "Analysis/Program/OpEffects.h"
#include "AsyncCompletion.h"
#include "mlir/IR/Dominance.h"
#include "workgroup/Analysis/ThreadAccess.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::workgroup {

/// True if something in `scope` may wait for asynchronous copies in a way that
/// is not followed.
bool mayWaitForCopies(Operation *scope);

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

/// The edges between blocks that a place in a kernel is: something stands there
/// in a block that all of them get to first.
struct SyncEdges {
  SmallVector<Block *> from;
  Block *to = nullptr;
};

class SyncTree {
public:
  SyncTree(Operation *scope, const ThreadAccesses &accesses,
           const SyncScope &sync);

  const SyncProgram &getProgram() const { return program; }

  /// The step that access number `access` is part of.
  unsigned getStep(unsigned access) const { return stepOf[access]; }
  /// The completion of an asynchronous access; null if that is not known.
  const AsyncCompletion *getCompletion(unsigned access) const {
    auto it = completionOf.find(access);
    return it == completionOf.end() ? nullptr : &it->second;
  }
  /// True if nothing waits for the asynchronous access.
  bool isNeverDone(unsigned access) const { return neverDone.contains(access); }
  /// The wait that misses the asynchronous access; null if none is known.
  const MissedPhase *getMissed(unsigned access) const {
    auto it = missedOf.find(access);
    return it == missedOf.end() ? nullptr : &it->second;
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
  SmallVector<SyncEdges> getEdges() const;
  /// The operation that a node is, or starts with.
  Operation *getStart(unsigned node) const { return before[node]; }
  /// The points in which barriers of the block can stand, and where they are in
  /// the tree of the same kernel for warps, which takes more apart.
  using PointMap = DenseMap<std::pair<unsigned, unsigned>, SyncPoint>;
  PointMap matchPoints(const SyncTree &finer) const;
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
  void markRelevant(Operation *scope, const ThreadAccesses &accesses);
  bool isRelevant(Operation *op) const { return relevant.contains(op); }
  bool isBarrier(Operation *op) const;
  bool isMeeting(Operation *op) const;
  unsigned append(unsigned sequence, SyncNode::Kind kind, Operation *before);
  unsigned addPart(unsigned node) { return program.addPart(node); }
  unsigned addRegion(unsigned branch);

  void visitRegion(unsigned sequence, Region &region);
  void enter(Block *block);
  bool enterIrrelevant(ArrayRef<Block *> blocks);
  void visitBlock(unsigned sequence, Block &block);
  void visitOp(unsigned sequence, Operation &op);
  bool visitLoop(unsigned sequence, Operation &op);
  bool visitBranch(unsigned sequence, Operation &op);
  void addStep(unsigned sequence, Operation *op);
  void addDivergent(unsigned node, Operation *op);
  void addAccesses(unsigned node, Operation *op);
  void sortParted();
  void findCompletions(Operation *scope, const ThreadAccesses &accesses);

  void visitBlocks(unsigned sequence, Block *block, Block *stop);
  Block *visitNaturalLoop(unsigned sequence, const KernelLoop *loop,
                          Operation *before);
  Block *visitLoopAt(unsigned sequence, Block *block, Operation *before);
  Block *visitBranches(unsigned sequence, Block *block, Block *stop);
  void visitDivergentBlocks(unsigned sequence, ArrayRef<Block *> first,
                            Block *join, Operation *before);
  Block *findJoin(Block *block);
  static SmallVector<Block *> findBetween(ArrayRef<Block *> first, Block *join);
  bool mustPass(Block *block, Block *other);
  bool goesOnTogether(const KernelLoop *loop, ArrayRef<Block *> blocks);
  bool hasRelevant(Block *block) const;

  /// While it is built.
  const SyncScope &sync;
  Region *part;
  SyncProgram program;
  DenseMap<Operation *, SmallVector<unsigned, 2>> accessesOf;
  DenseSet<Operation *> relevant;
  std::vector<unsigned> stepOf;
  /// Steps of operations that commit groups of copies or wait for them.
  DenseMap<Operation *, unsigned> groupSteps;
  /// Steps of operations that wait for phases of mbarriers.
  DenseMap<Operation *, unsigned> phaseSteps;
  /// Steps that are proxy fences.
  DenseMap<unsigned, Operation *> fences;
  /// Nodes in which such operations are that are no step of their own.
  DenseSet<unsigned> hidingSteps;
  DenseMap<unsigned, AsyncCompletion> completionOf;
  DenseMap<unsigned, MissedPhase> missedOf;
  DenseSet<unsigned> neverDone;
  DenseMap<unsigned, const KernelLoop *> loopOf;
  /// Numbers of calls, by the operations that they start with.
  DenseMap<Operation *, unsigned> calls;
  DenseMap<unsigned, Operation *> barriers, branches;
  /// The operation that each node starts with; the operation behind each
  /// sequence; and the test of each loop that tests in its middle.
  std::vector<Operation *> before;
  DenseMap<unsigned, Operation *> ends, tests;
  /// Nodes that start where each iteration of a loop does: nothing stands
  /// before them but on the edges into the loop.
  DenseMap<unsigned, const KernelLoop *> atHeaders;
  /// The first block of each sequence of blocks, and the block behind it.
  DenseMap<unsigned, std::pair<Block *, Block *>> spans;
  SmallVector<Operation *> divergentBarriers, divergentBranches;
  /// Barriers of warps where lanes part.
  SmallVector<Operation *> parted;
  bool isOpen = false;
  Operation *unstructured = nullptr;
  /// Blocks that have their place, and those that have several.
  DenseSet<Block *> entered, shared;
  /// The natural loop that is being visited.
  const KernelLoop *open = nullptr;
  PostDominanceInfo postDominance;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_SYNC_SYNCTREE_H
