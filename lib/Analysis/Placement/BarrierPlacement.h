//===- BarrierPlacement.h - Where barriers order accesses -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel as barriers see it: steps in sequences, loops and branches that all
// threads take together, and hazards, pairs of steps that a barrier has to
// separate on every path from the one to the other. This decides which hazards
// are covered, and finds the fewest places for barriers that cover all: fewest
// in the deepest loops first, then in those around them (lexicographic, as in
// Darte and Schreiber, "A linear-time algorithm for optimal barrier placement",
// PPoPP 2005). It knows nothing of the IR.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_BARRIERPLACEMENT_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_BARRIERPLACEMENT_H

#include "GivenBarriers.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::workgroup {

/// The fewest barriers that cover `hazards`. Those among the nodes are taken as
/// they are; or, with `replaceExisting`, count as if they were not there. Among
/// the best placements one is found that has most of its points right behind a
/// barrier: such a point says that this barrier stays. Otherwise a point is as
/// late as it can be. Takes a limited time; only if that is used up, which
/// takes some hundreds of entangled branches and loops, the result may not be
/// optimal.
SyncPlacement placeBarriers(const SyncProgram &program,
                            llvm::ArrayRef<SyncHazard> hazards,
                            bool replaceExisting = false);

/// The numbers of the `hazards` that no barrier can cover, in addition to those
/// among the nodes: what is `uncovered` in their placement.
llvm::SmallVector<unsigned> findUncovered(const SyncProgram &program,
                                          llvm::ArrayRef<SyncHazard> hazards);

/// The same, where barriers of warps come on top: the fewest of both, those of
/// the block before those of warps at each level.
SyncPlacement placeBarriers(const SyncProgram &program,
                            llvm::ArrayRef<SyncHazard> hazards,
                            const WarpOrders &warps);

/// The fewest of the barriers among the nodes that cover `hazards`; the others
/// could go. Each point is the one right behind a barrier that stays.
SyncPlacement chooseBarriers(const SyncProgram &program,
                             llvm::ArrayRef<SyncHazard> hazards);
/// The same, where those of the block may become those of warps.
SyncPlacement chooseBarriers(const SyncProgram &program,
                             llvm::ArrayRef<SyncHazard> hazards,
                             const WarpOrders &warps);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_BARRIERPLACEMENT_H
