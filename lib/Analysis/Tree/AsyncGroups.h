//===- AsyncGroups.h - When asynchronous copies are done --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `cp.async` is of the group that its thread commits next, and done when the
// thread has waited until no more groups are under way than it committed since:
// groups get done in the order in which they were committed (PTX ISA,
// cp.async.wait_group). So is a store by TMA, which has groups of its own (PTX
// ISA, cp.async.bulk.wait_group); that it has read what it stores may be waited
// for by itself. A product of a warp group is a group, and waits for those
// before it (`workgroup.group_product`).
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_TREE_ASYNCGROUPS_H
#define WORKGROUP_LIB_ANALYSIS_TREE_ASYNCGROUPS_H

#include "Analysis/Placement/SyncProgram.h"
#include "AsyncCompletion.h"

namespace mlir::workgroup {

/// True if `op` commits a group of copies or waits for groups.
bool isGroupOp(Operation *op);

/// The kinds of asynchronous operations whose groups are waited for.
enum class GroupKind {
  /// Copies by threads.
  Copies,
  /// Stores by TMA, and what those read.
  Stores,
  StoreReads,
  /// What products of warp groups read.
  Products
};

/// Finds in a kernel where its copies are done. Groups that may be committed,
/// or waited for, do not count: a copy is done there at the latest.
class AsyncGroups {
public:
  /// `steps`: those of operations that all threads of the tree get to together;
  /// `hiding`: steps that have others in them.
  AsyncGroups(GroupKind kind, const SyncProgram &program,
              const DenseMap<Operation *, unsigned> &steps,
              const DenseSet<unsigned> &hiding,
              llvm::function_ref<std::optional<int64_t>(unsigned loop)>
                  getNumIterations);

  /// `copy` is part of `step`. Nothing if it is not known when it is done.
  std::optional<AsyncCompletion> findCompletion(Operation *copy, unsigned step,
                                                Operation *scope);

  /// True if what was asked for last is done nowhere: nothing waits for it.
  bool isNeverDone() const { return neverDone; }

private:
  /// The items of a sequence from one of them on.
  struct Position {
    unsigned sequence = 0, index = 0;
  };
  ArrayRef<unsigned> getBody(unsigned loop) const {
    return program.sequences[program.nodes[loop].parts[0]].items;
  }
  bool isCommit(Operation *op) const;
  bool isNeverDone(unsigned step, Operation *scope) const;
  std::optional<int64_t> getNumLeft(Operation *op) const;
  Operation *findCommitInRegions(Operation *copy, Operation *scope) const;
  Operation *findWait(Operation *commit) const;
  std::optional<Position> findCommit(Operation *commit, unsigned step) const;
  bool isBeforeTest(Position at) const;
  ArrayRef<unsigned> getFollowing(Position at) const;
  int64_t countCommits(unsigned loop) const;
  std::optional<unsigned> follow(Position at);
  void enterLoop(unsigned loop);
  void advance(unsigned loop);
  bool leaveLoop(unsigned loop);
  std::optional<unsigned> visitItem(unsigned node);

  GroupKind kind;
  const SyncProgram &program;
  const DenseMap<Operation *, unsigned> &steps;
  DenseMap<unsigned, Operation *> opOf;
  /// Nodes that have commits and waits in them.
  DenseSet<unsigned> hiding;
  llvm::function_ref<std::optional<int64_t>(unsigned loop)> getNumIterations;
  /// The least number of groups that were committed since that of the copy.
  int64_t younger = 0;
  /// A loop around the copy that is left, and how many groups each of its
  /// iterations commits: that many more for each iteration that the copy comes
  /// before the last.
  struct Left {
    unsigned loop = 0;
    int64_t iterations = 0, commits = 0;
  };
  std::optional<Left> left;
  AsyncCompletion completion;
  bool neverDone = false;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_TREE_ASYNCGROUPS_H
