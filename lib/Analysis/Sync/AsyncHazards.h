//===- AsyncHazards.h - Hazards of asynchronous operations ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy that its thread does not wait for at once is done at a step behind it,
// in this or a later iteration, or nobody knows when. Between its start and
// that step, it is in order with nothing.
//
// Of a copy that is waited for two iterations later, what reads its bytes in
// the next iteration is unordered whatever barriers there are; in the second
// one barriers behind the wait order it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_SYNC_ASYNCHAZARDS_H
#define WORKGROUP_LIB_ANALYSIS_SYNC_ASYNCHAZARDS_H

#include "HazardCollector.h"

namespace mlir::workgroup {

/// Finds the hazards of copies that are waited for in a later iteration of a
/// loop, or that nothing waits for, as far as is known.
class AsyncHazards {
public:
  AsyncHazards(HazardContext &context, HazardCollector &found)
      : context(context), accesses(context.accesses), tree(context.tree),
        conflicts(context.conflicts), found(found) {}

  /// Finds those where the first access is a copy that is done in some
  /// iteration of a loop.
  void visitInLoop(unsigned first, unsigned second, ArrayRef<unsigned> around,
                   bool isOrdered);
  /// Finds those of accesses of one step, which may hold loops that each thread
  /// iterates on its own: there an access meets a copy of the iterations
  /// before, none of which was waited for.
  void visitRepeated(unsigned first, unsigned second,
                     ArrayRef<unsigned> around);
  /// True if the second access comes behind a wait that misses the first one,
  /// in the same iteration, for certain.
  bool visitMissed(unsigned first, unsigned second);
  /// True if it is not known when one of the accesses is done, so that nothing
  /// is known of their order; says so once for each.
  bool visitUnknown(unsigned first, unsigned second);
  /// Finds all iterations in which `other` may come behind `copy`, of which it
  /// is not known when it is done.
  void visitUndone(unsigned copy, unsigned other);
  /// True if a thread waits for the copy `first` in the step of `second`,
  /// before that.
  bool isWaitedBefore(unsigned first, unsigned second) const;

private:
  bool isLeftToWarps(unsigned first, unsigned second);
  bool mayMeetAnyTime(unsigned first, unsigned second);
  void addTurned(unsigned first, unsigned second, PairRelation relation);
  void addEntered(unsigned first, unsigned second, PairRelation relation);
  void
  addWaited(unsigned first, unsigned second, bool isWaited,
            llvm::function_ref<PairRelation(int64_t least, bool isFar)> relate);
  void addBehind(unsigned first, unsigned second, std::optional<unsigned> loop,
                 PairRelation relation);
  bool visitUnwaited(unsigned copy, unsigned other);

  HazardContext &context;
  const ArrayRef<ThreadAccess> accesses;
  const SyncTree &tree;
  ThreadConflicts &conflicts;
  HazardCollector &found;
  /// Accesses that were reported for lack of a wait.
  DenseSet<unsigned> unknown;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_SYNC_ASYNCHAZARDS_H
