//===- LazyPlacement.h - Barriers for many hazards --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of n accesses in branches, n^2 pairs may have to be ordered, of which none
// implies another for certain, each by one of n places. But what orders the
// nearest mostly orders all. So barriers are placed for the nearest only, then
// for those besides that are left open, until none is. What is best for a part
// of the hazards, and covers all, is best for all.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_LAZYPLACEMENT_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_LAZYPLACEMENT_H

#include "BarrierPlacement.h"

namespace mlir::workgroup {

/// True if there are so many hazards that it pays not to look at all at once.
bool isWorthLaziness(llvm::ArrayRef<SyncHazard> hazards);

/// The fewest barriers, beside those among the nodes, that cover `hazards`.
SyncPlacement placeLazily(const SyncProgram &program,
                          llvm::ArrayRef<SyncHazard> hazards);

/// The numbers of the `hazards` that neither barriers among the nodes nor
/// barriers at `points` cover.
llvm::SmallVector<unsigned> findOpen(const SyncProgram &program,
                                     llvm::ArrayRef<SyncHazard> hazards,
                                     llvm::ArrayRef<SyncPoint> points);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_LAZYPLACEMENT_H
