//===- HazardCoverage.h - What barriers order of hazards --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which hazards barriers order that are there or are planned, where a barrier
// need not stand on every path: one in each iteration of a loop, or in the
// branch regions that the threads of a hazard take.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_REFINEMENT_HAZARDCOVERAGE_H
#define WORKGROUP_LIB_ANALYSIS_REFINEMENT_HAZARDCOVERAGE_H

#include "Analysis/Conflict/ThreadConflicts.h"
#include "Analysis/Tree/SyncTree.h"
#include "Hazard.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::workgroup {

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

#endif // WORKGROUP_LIB_ANALYSIS_REFINEMENT_HAZARDCOVERAGE_H
