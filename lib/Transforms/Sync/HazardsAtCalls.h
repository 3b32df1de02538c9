//===- HazardsAtCalls.h - What functions have to order ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Seen by itself, a function may find anything in what it is given. What it has
// to order is what is a hazard in some kernel that calls it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_SYNC_HAZARDSATCALLS_H
#define WORKGROUP_LIB_TRANSFORMS_SYNC_HAZARDSATCALLS_H

#include "KernelSync.h"
#include <set>

namespace mlir::workgroup {

/// The hazards of the kernels of a program, in which functions stand in place
/// of calls, by the operations that they are between.
class HazardsAtCalls {
public:
  /// Collects the hazards of the program `root`; nothing is looked at if it has
  /// no calls.
  HazardsAtCalls(Operation *root, const SyncOptions &options);

  /// The hazards of a `function` in `program` that threads of `unit` have to
  /// order.
  std::vector<Hazard> find(KernelSync &function, const InlinedProgram &program,
                           const SyncTree &tree, UniformityUnit unit) const;

  /// True if whole warps do each call of `function`, the original.
  bool areWarpsTogether(Operation *function) const {
    return !areUnknown && !parting.contains(function);
  }

private:
  /// The function that two operations are done by in one call of it, how they
  /// and the loop that is between them, if there is one, are reached from
  /// there.
  using Path = SmallVector<Operation *>;
  using Key = std::tuple<Operation *, Path, Path, Path>;
  using Keys = std::set<Key>;

  static Key getKey(const Hazard &hazard, const KernelSync &kernel,
                    const InlinedProgram &program, Operation *function);

  void add(KernelSync &kernel, const InlinedProgram &program,
           UniformityUnit unit);
  void addReferred(Operation *scope, const InlinedProgram &program);
  void addParting(KernelSync &kernel, const InlinedProgram &program);

  /// The hazards that barriers of the block have to order, and those for
  /// barriers of warps; in both if one cannot be told from the other.
  Keys ofBlock, ofWarp;
  /// Functions that lanes of a warp may call without the others.
  DenseSet<Operation *> parting;
  /// A kernel was not understood: any two may be a hazard.
  bool areUnknown = false;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_SYNC_HAZARDSATCALLS_H
