//===- SyncTreeBuilder.h - From a kernel to its tree ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Goes through the operations and blocks of a kernel. What threads take
// together becomes a loop or a branch of the tree, whether it is an operation
// or made of branches between blocks; what they do not take together becomes
// one step. Only what has accesses or barriers in it is worth a node.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_TREE_SYNCTREEBUILDER_H
#define WORKGROUP_LIB_ANALYSIS_TREE_SYNCTREEBUILDER_H

#include "SyncCompletions.h"
#include "mlir/IR/Dominance.h"

namespace mlir::workgroup {

/// Builds the tree of a kernel, or of a function, for the threads of `sync`.
class SyncTreeBuilder {
public:
  SyncTreeBuilder(Operation *scope, const ThreadAccesses &accesses,
                  const SyncScope &sync)
      : scope(scope), accesses(accesses), sync(sync) {}

  SyncTree build();

private:
  void markRelevant();
  bool isRelevant(Operation *op) const { return relevant.contains(op); }
  bool isBarrier(Operation *op) const;
  bool isMeeting(Operation *op) const;
  unsigned append(unsigned sequence, SyncNode::Kind kind, Operation *before);
  unsigned addPart(unsigned node) { return tree.program.addPart(node); }
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
  void findEdges();

  Operation *scope;
  const ThreadAccesses &accesses;
  const SyncScope &sync;
  SyncTree tree;
  DenseMap<Operation *, SmallVector<unsigned, 2>> accessesOf;
  DenseSet<Operation *> relevant;
  WaitSteps waits;
  /// Numbers of calls, by the operations that they start with.
  DenseMap<Operation *, unsigned> calls;
  /// The first block of each sequence of blocks, and the block behind it.
  DenseMap<unsigned, std::pair<Block *, Block *>> spans;
  /// Blocks that have their place.
  DenseSet<Block *> entered;
  /// The natural loop that is being visited.
  const KernelLoop *open = nullptr;
  PostDominanceInfo postDominance;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_TREE_SYNCTREEBUILDER_H
