//===- GivenBarriers.h - What given barriers cover --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether barriers that are among the nodes of a program, or would be put into
// it, stand on every path between two steps.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_GIVENBARRIERS_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_GIVENBARRIERS_H

#include "SyncProgram.h"
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace mlir::workgroup {

/// True if barriers at `points`, and those that are among the nodes, stand on
/// every path from `hazard.from` to `hazard.to`. False if there is no path:
/// steps of different branch regions exclude each other, and none comes before
/// itself.
bool isCovered(const SyncProgram &program, const SyncHazard &hazard,
               llvm::ArrayRef<SyncPoint> points);

/// The numbers of the `hazards` that barriers among the nodes do not cover.
llvm::SmallVector<unsigned> findOpen(const SyncProgram &program,
                                     llvm::ArrayRef<SyncHazard> hazards);

/// For each of `points`, the numbers of the `hazards` that a barrier there
/// covers, in addition to the barriers among the nodes, and that these do not
/// cover.
std::vector<llvm::SmallVector<unsigned, 0>>
findCovered(const SyncProgram &program, llvm::ArrayRef<SyncHazard> hazards,
            llvm::ArrayRef<SyncPoint> points);

/// Tells which hazards the barriers among the nodes cover, with as little work
/// for long paths as for short ones.
class BarrierCounts {
public:
  explicit BarrierCounts(const SyncProgram &program);

  /// The same as `mlir::workgroup::isCovered`, without further points.
  bool isCovered(const SyncHazard &hazard) const;

private:
  bool isPassed(unsigned sequence, unsigned first, unsigned last) const {
    return before[sequence][first] != before[sequence][last];
  }
  bool isMetIn(unsigned node) const;

  const SyncProgram &program;
  /// For each sequence and each point of it, the number of items before the
  /// point that meet a barrier on all paths through them.
  llvm::SmallVector<llvm::SmallVector<unsigned, 0>, 0> before;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_GIVENBARRIERS_H
