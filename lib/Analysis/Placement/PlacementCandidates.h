//===- PlacementCandidates.h - Points worth a barrier -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A barrier can stand in any point of a program, but few points are worth one:
// right before the end of a hazard, at the test of a loop, and where a barrier
// is already. A barrier in any other point can be moved to one of these without
// loss (the argument is in PlacementCandidates.cpp). So the hitting set has a
// choice for each candidate, not for each point.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_PLACEMENTCANDIDATES_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_PLACEMENTCANDIDATES_H

#include "SyncProgram.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::workgroup {

/// The treatment of barriers that are there: they are taken as given, are
/// candidates like other points, or are the only candidates.
enum class Existing { Keep, Replace, Choose };

/// True for a barrier that may go. A barrier of a called function may not:
/// other calls need it, too.
bool isReplaceable(const SyncNode &node);

/// The points that are worth a barrier, in the order of the program.
class PlacementCandidates {
public:
  /// Those for `hazards`, and those for which `isUseful` holds.
  PlacementCandidates(const SyncProgram &program,
                      llvm::ArrayRef<SyncHazard> hazards, Existing existing,
                      llvm::function_ref<bool(SyncPoint)> isUseful = nullptr);

  llvm::ArrayRef<SyncPoint> getPoints() const { return points; }
  bool contains(SyncPoint point) const { return getRank(point) != kNone; }
  unsigned getRank(SyncPoint point) const {
    return ranks[point.sequence][point.index];
  }
  bool isExisting(SyncPoint point) const { return getRank(point) == kExisting; }

private:
  /// Preference among points that do the same; none are no candidates. Right
  /// before the end of a hazard is as late as can be.
  enum Rank : unsigned { kNone, kTest, kEnd, kExisting };

  void addEnd(unsigned node);
  void addTest(const SyncNode &loop);
  void addUseful(llvm::function_ref<bool(SyncPoint)> isUseful);
  bool isInCall(SyncPoint point) const;
  void collect(unsigned sequence);

  const SyncProgram &program;
  llvm::SmallVector<llvm::SmallVector<unsigned>, 0> ranks;
  llvm::SmallVector<SyncPoint, 0> points;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_PLACEMENTCANDIDATES_H
