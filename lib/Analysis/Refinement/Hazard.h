//===- Hazard.h - Accesses that barriers have to order ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two accesses of different threads that must not happen at the same time.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_REFINEMENT_HAZARD_H
#define WORKGROUP_LIB_ANALYSIS_REFINEMENT_HAZARD_H

#include "Analysis/Conflict/PairRelation.h"
#include "Analysis/Placement/SyncProgram.h"
#include "Analysis/Tree/AsyncCompletion.h"

namespace mlir::workgroup {

/// What hazards are looked for: to choose among the barriers that are there; to
/// add to them; to see whether these, which are tried, cover all that would ask
/// for some, so that one that they do not cover is enough; to tell what they do
/// not order; or to add waits, or proxy fences, of which only those are looked
/// for that lack one.
enum class HazardUse {
  Elimination,
  Insertion,
  Trial,
  Verification,
  Waits,
  Fences
};

/// Two accesses, by number, that must not happen at the same time. The first
/// one comes first; the second one in the same or a later iteration of
/// `order.loop`.
struct Hazard {
  unsigned first = 0, second = 0;
  SyncHazard order;
  PairRelation relation;
  Conflict conflict;
  /// It is not known when the first one is done, and so what barriers order.
  bool isUntimed = false;
  /// The wait between that misses the first one; null for none.
  const MissedPhase *missed = nullptr;
  /// The first one is asynchronous and may not be done when the second one
  /// comes: a wait has to come between.
  bool isUndone = false;
  /// A thread does the first one, TMA the second one, and some path between has
  /// no proxy fence.
  bool isUnfenced = false;
  /// What barriers cover of the others covers this one, too.
  bool isImplied = false;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_REFINEMENT_HAZARD_H
