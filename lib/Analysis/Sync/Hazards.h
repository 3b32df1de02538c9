//===- Hazards.h - Accesses that a barrier has to separate ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pairs of accesses of a kernel that different threads may do to the same
// bytes, where one of them writes, and between which threads have to meet.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDS_H
#define WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDS_H

#include "Analysis/Conflict/ThreadConflicts.h"
#include "Hazard.h"
#include "SyncTree.h"

namespace mlir::workgroup {

/// What hazards are looked for: to choose among the barriers that are there; to
/// add to them; to tell what they do not order; or to add waits and fences that
/// asynchronous operations lack, of which only those that lack one are of use.
enum class HazardUse { Elimination, Insertion, Verification, Waits };

/// All that barriers have to separate, of the threads that `threads` names, but
/// for what they do in one iteration by two accesses of a step for which
/// `isElsewhere` holds. Of hazards that every barrier separates that separates
/// others, some are left out; all that is certain has a certain one among those
/// that remain. Unless it is for elimination, without what those of `tree`
/// order, and each with all that is known of its paths; otherwise as if
/// branches could lead anywhere.
std::vector<Hazard>
findHazards(const ThreadAccesses &accesses, const SyncTree &tree,
            ThreadConflicts &conflicts, PairRelation::Threads threads,
            HazardUse use = HazardUse::Elimination,
            llvm::function_ref<bool(unsigned, unsigned)> isElsewhere = nullptr,
            bool isComplete = false);

/// A kernel of more accesses, or of fewer in nested loops, is not asked for
/// hazards that others imply.
constexpr size_t kMaxComplete = 64;

/// True if the barriers of `tree`, and those at `points`, order `hazard`: also
/// if some path from the one access to the other has none. A barrier in each
/// iteration of a loop orders all but its last, or first, iteration with what
/// is outside; one in a branch, those who take it. Whether the paths without
/// one are taken may not be known: then the hazard becomes possible.
bool isOrdered(Hazard &hazard, const SyncTree &tree, ThreadConflicts &conflicts,
               ArrayRef<SyncPoint> points = {});

/// The barriers that only some paths between accesses of `hazards` meet: in
/// branches, and in loops that may have no iteration. They may be what orders
/// them.
DenseSet<unsigned> findConditional(ArrayRef<Hazard> hazards,
                                   const SyncTree &tree,
                                   ThreadConflicts &conflicts);

/// What the barriers of `tree` order of all that they have to; but for what
/// `findConditional` knows of.
SmallVector<SyncHazard> getOrdered(ArrayRef<Hazard> hazards,
                                   const SyncTree &tree);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDS_H
