//===- HazardPaths.h - What lies between two steps --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every path from the first step of a hazard to the second one passes:
// points, barriers, branches and loops. A walk has three parts: from the first
// step to the end of its iteration, whole iterations between, and from the
// start of an iteration to the second step. A barrier covers the hazard if it
// is met on this walk.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_HAZARDPATHS_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_HAZARDPATHS_H

#include "SyncProgram.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::workgroup {

/// Walks along what every path from one step to another passes. Where a path
/// can go round a loop once more it meets the same again, so that the shortest
/// path decides: it leaves a loop as soon as it can, reaches a step of a loop
/// in its first iteration, and skips a loop that may have no iteration; unless
/// the hazard knows better. Only branches are left to the client: what all of
/// their branch regions have in common is up to it.
class HazardPaths {
public:
  struct Client {
    llvm::function_ref<void(SyncPoint)> onPoint;
    /// A barrier, or a branch that is passed from its start to its end.
    llvm::function_ref<void(unsigned node, const SyncIteration &iteration)>
        onNode;
    /// A loop that is passed, and may have no iteration.
    llvm::function_ref<void(unsigned node, const SyncIteration &iteration)>
        onLoop = nullptr;
    /// All from the point `first` to the point `last` of a sequence; false to
    /// be told one by one.
    llvm::function_ref<bool(unsigned sequence, unsigned first, unsigned last)>
        onRange = nullptr;
  };

  HazardPaths(const SyncProgram &program, Client client)
      : program(program), client(client) {}

  /// Walks all that lies between the steps of a hazard; nothing if no path
  /// leads from the one to the other.
  void walk(const SyncHazard &hazard) const {
    walkFrom(hazard);
    walkTo(hazard);
  }
  /// The parts of that in the iteration of the first step (and whole iterations
  /// between), and in the iteration of the second one, if that is a later
  /// iteration of a loop.
  void walkFrom(const SyncHazard &hazard) const;
  void walkTo(const SyncHazard &hazard) const;
  /// Walks the items of a branch region.
  void walkRegion(unsigned sequence) const;

private:
  HazardPaths(const HazardPaths &paths, const SyncHazard &hazard)
      : program(paths.program), client(paths.client), hazard(&hazard) {}

  void walkFirstIteration() const;
  void walkSecondIteration() const;
  void walkWholeIterations(unsigned loop, unsigned count) const;
  /// From the point `first` to the point `last` of a sequence.
  void walkPoints(unsigned sequence, unsigned first, unsigned last) const;
  void walkLoop(unsigned loop) const;
  void walkBranch(unsigned branch) const;
  unsigned countWholeIterations(unsigned loop,
                                SyncHazard::WholeIteration which) const;
  void walkIterationAfter(unsigned loop, unsigned place) const;
  void walkIterationBefore(unsigned loop) const;
  void walkIterationsOnEitherSide() const;
  /// From behind `node` to the end of the item of `sequence` that contains it;
  /// returns the place of that item.
  unsigned leave(unsigned node, unsigned sequence) const;
  /// From the start of the item of `sequence` that contains `node` to `node`.
  unsigned enter(unsigned sequence, unsigned node) const;
  /// True if a path leads from the one step to the other.
  bool hasPath() const;

  const SyncProgram &program;
  Client client;
  /// Whose paths are walked; null for a branch region.
  const SyncHazard *hazard = nullptr;
  /// The iteration that the walk is in.
  mutable SyncIteration iteration;
};

/// True if `isMet` holds of all regions of `branch` that threads may take;
/// false if its regions are not known.
bool isMetInRegions(const SyncProgram &program, const SyncNode &branch,
                    llvm::function_ref<bool(unsigned region)> isMet);

/// The node around `node`, the node around that, and so on.
llvm::SmallVector<unsigned> getSyncParents(const SyncProgram &program,
                                           unsigned node);

/// True if, within one iteration of the loops around both, `first` comes before
/// `second`: nothing comes before itself, and regions of a branch exclude each
/// other.
bool isBefore(const SyncProgram &program, unsigned first, unsigned second);

/// The number of loops around a sequence.
unsigned getSyncLevel(const SyncProgram &program, unsigned sequence);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_HAZARDPATHS_H
