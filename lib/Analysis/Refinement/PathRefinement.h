//===- PathRefinement.h - What lies between for certain ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Paths of the program that no two threads of a hazard take do not count: the
// hazard may require an iteration of a loop between its accesses, or a region
// of a branch. For each loop and branch on a path the conflict is asked for
// again, with the loop left out or the region avoided. If the threads do not
// meet then, all paths pass that node, and a barrier in it covers the hazard.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_REFINEMENT_PATHREFINEMENT_H
#define WORKGROUP_LIB_ANALYSIS_REFINEMENT_PATHREFINEMENT_H

#include "Analysis/Tree/SyncTree.h"
#include "BranchRelevance.h"

namespace mlir::workgroup {

/// The loops around `step`, but not around `other` in the same iteration,
/// outermost first; of an order between the two.
SmallVector<unsigned, 3> getLoopsApart(const SyncTree &tree, unsigned step,
                                       unsigned other, const SyncHazard &order);

/// The end of `loop` that says that the first access, or the wait for it, is
/// executed for the last time in it; nothing if some iterations do without it.
std::optional<LoopEnd> getLastIteration(const SyncTree &tree,
                                        const Hazard &hazard, unsigned loop);

/// The end of a loop that has no iteration.
LoopEnd getNoIteration(const KernelLoop *loop);

/// True if which region of `branch` is taken follows from the iterations of
/// `loops`, and so from what an access in them knows.
bool dependsOnly(ThreadConflicts &conflicts, Operation *branch, unsigned region,
                 ArrayRef<const KernelLoop *> loops);

/// The order of `hazard` with what the paths have in common because its threads
/// meet on no others: whole iterations of loops, and regions of branches. Only
/// those nodes are asked for that are worth it by `isOfUse`.
SyncHazard narrow(const Hazard &hazard, const SyncTree &tree,
                  ThreadConflicts &conflicts, BranchRelevance &decisions,
                  llvm::function_ref<bool(unsigned node)> isOfUse = nullptr);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_REFINEMENT_PATHREFINEMENT_H
