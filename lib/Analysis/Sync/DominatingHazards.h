//===- DominatingHazards.h - Hazards that imply others ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of straight-line code with n accesses to a buffer, n^2 pairs may have to be
// separated, but what separates those next to each other separates the others,
// too: the hazards of neighbours lead.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_SYNC_DOMINATINGHAZARDS_H
#define WORKGROUP_LIB_ANALYSIS_SYNC_DOMINATINGHAZARDS_H

#include "HazardCollector.h"

namespace mlir::workgroup {

/// Finds the hazards that imply others, and tells which pairs need no asking.
class DominatingHazards {
public:
  DominatingHazards(HazardContext &context, HazardCollector &found);

  /// Finds the leading hazards.
  void find();
  /// True if nothing is to be asked of two accesses: it costs next to nothing
  /// to see that, as there are many pairs.
  bool isSettled(unsigned first, unsigned second);

private:
  void findKinds();
  bool areApart(unsigned first, unsigned second);
  void find(ArrayRef<unsigned> steps);
  void find(unsigned loop, ArrayRef<unsigned> steps);
  void find(unsigned from, unsigned to, std::optional<unsigned> loop);
  bool add(unsigned first, unsigned second, std::optional<unsigned> loop);

  HazardContext &context;
  const ArrayRef<ThreadAccess> accesses;
  const SyncTree &tree;
  const SyncProgram &program;
  ThreadConflicts &conflicts;
  HazardCollector &found;
  ImpliedOrders &implied;
  /// Which accesses are done when their threads go on; and those of each step.
  std::vector<bool> plain;
  DenseMap<unsigned, SmallVector<unsigned, 2>> plainAt;
  /// Of each access, the number of those about which questions have the same
  /// answers; and of two such numbers, if there are not too many, whether there
  /// is anything to ask.
  SmallVector<unsigned, 0> kinds;
  unsigned numKinds = 0;
  enum class Meeting : uint8_t { Unknown, Never, Asked };
  std::vector<Meeting> meetings;
  /// How many of those that have several paths were asked for in vain.
  unsigned numTried = 0;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_SYNC_DOMINATINGHAZARDS_H
