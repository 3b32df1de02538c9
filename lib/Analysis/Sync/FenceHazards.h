//===- FenceHazards.h - What TMA sees of threads ----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TMA reaches memory by another proxy than threads do. What a thread writes,
// TMA sees if a proxy fence of that thread comes behind the write, and then a
// barrier before the thread that starts the copy: `store`, `nvvm.fence.proxy`,
// `gpu.barrier`, copy.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_SYNC_FENCEHAZARDS_H
#define WORKGROUP_LIB_ANALYSIS_SYNC_FENCEHAZARDS_H

#include "HazardCollector.h"

namespace mlir::workgroup {

/// Finds what a thread does by one of two accesses, and TMA by the other, with
/// no proxy fence, or no barrier behind it, between.
class FenceHazards {
public:
  FenceHazards(HazardContext &context, HazardCollector &found);

  /// Asks for two accesses, which may come one after the other in one iteration
  /// of the loops `around`.
  void visit(unsigned first, unsigned second, ArrayRef<unsigned> around,
             bool isOrdered, bool isReverse);

private:
  void addUnfenced(unsigned first, unsigned second, ArrayRef<unsigned> around,
                   bool isOrdered);
  void addUnfenced(Hazard hazard);
  bool isFencedInStep(unsigned first, unsigned second) const;
  const SyncProgram &getFenced(MemorySpace space);

  HazardContext &context;
  const ArrayRef<ThreadAccess> accesses;
  const SyncTree &tree;
  const SyncProgram &program;
  ThreadConflicts &conflicts;
  HazardCollector &found;
  /// Which accesses TMA does.
  std::vector<bool> ofProxy;
  /// The program as proxy fences of each space see it.
  std::map<MemorySpace, SyncProgram> fenced;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_SYNC_FENCEHAZARDS_H
