//===- Hazards.h - Accesses that a barrier has to separate ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pairs of accesses of a kernel that different threads may do to the same
// bytes, where one of them writes, and between which threads have to meet. Of
// `w: store %m[%tid]`, `r: load %m[%tid + 1]` in a loop they are (w, r) in one
// iteration, read after write, and (r, w) from one iteration into the next,
// write after read.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDS_H
#define WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDS_H

#include "Analysis/Conflict/ThreadConflicts.h"
#include "Analysis/Refinement/Hazard.h"
#include "Analysis/Tree/SyncTree.h"

namespace mlir::workgroup {

/// All that barriers have to separate, of the threads that `threads` names, but
/// for what they do in one iteration by two accesses of a step for which
/// `isElsewhere` holds. Of hazards that every barrier separates that separates
/// others, some are left out; all that is certain has a certain one among those
/// that remain. Unless it is for elimination, without what those of `tree`
/// order, and each with all that is known of its paths; otherwise as if
/// branches could lead anywhere. Other barriers are known to cover `covered`.
/// Two accesses for which `isOrdered` holds are in order whenever threads touch
/// the same by them.
std::vector<Hazard>
findHazards(const ThreadAccesses &accesses, const SyncTree &tree,
            ThreadConflicts &conflicts, PairRelation::Threads threads,
            HazardUse use = HazardUse::Elimination,
            llvm::function_ref<bool(unsigned, unsigned)> isElsewhere = nullptr,
            bool isComplete = false, ArrayRef<SyncHazard> covered = {},
            llvm::function_ref<bool(unsigned, unsigned)> isOrdered = nullptr);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDS_H
