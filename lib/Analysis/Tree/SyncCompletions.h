//===- SyncCompletions.h - Where asynchronous accesses are done -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each asynchronous access, the step behind which it is done: a wait for a
// phase of an mbarrier, or a wait that leaves too few groups pending for that
// of the access (PTX ISA, `cp.async.wait_group` and
// `cp.async.bulk.wait_group`). Phases are asked first, then groups of copies,
// of bulk stores, and of what these read. An access for which nothing is found
// is never done, or not known to be.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_TREE_SYNCCOMPLETIONS_H
#define WORKGROUP_LIB_ANALYSIS_TREE_SYNCCOMPLETIONS_H

#include "SyncScope.h"
#include "SyncTree.h"

namespace mlir::workgroup {

/// True if something in `scope` may wait for asynchronous copies in a way that
/// is not followed.
bool mayWaitForCopies(Operation *scope);

/// The steps of a tree at which asynchronous accesses may be done.
struct WaitSteps {
  /// Steps of operations that commit groups of copies or wait for them.
  DenseMap<Operation *, unsigned> ofGroups;
  /// Steps of operations that wait for phases of mbarriers.
  DenseMap<Operation *, unsigned> ofPhases;
  /// Nodes in which operations on groups are that are no step of their own.
  DenseSet<unsigned> hiding;
};

/// Finds where asynchronous accesses are done in `tree`, which has all nodes
/// and is of `sync`.
AsyncCompletions findCompletions(Operation *scope,
                                 const ThreadAccesses &accesses,
                                 const SyncScope &sync, const SyncTree &tree,
                                 const WaitSteps &steps);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_TREE_SYNCCOMPLETIONS_H
