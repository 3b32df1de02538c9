//===- HazardContext.h - What hazards are looked for among ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all that finds hazards has in common: the accesses of a kernel, where
// they stand in its program, and whether two of them have to be ordered at all.
// Asks for no addresses.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDCONTEXT_H
#define WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDCONTEXT_H

#include "Analysis/Conflict/ThreadConflicts.h"
#include "Analysis/Refinement/Hazard.h"
#include "Analysis/Tree/SyncTree.h"

namespace mlir::workgroup {

/// A kernel of more accesses, or of fewer in nested loops, is not asked for
/// hazards that others imply.
constexpr size_t kMaxComplete = 64;

/// The accesses of a kernel, and which hazards among them are looked for.
class HazardContext {
public:
  HazardContext(const ThreadAccesses &accesses, const SyncTree &tree,
                ThreadConflicts &conflicts, PairRelation::Threads threads,
                HazardUse use, bool isComplete,
                llvm::function_ref<bool(unsigned, unsigned)> isOrdered)
      : accesses(accesses.getAccesses()), tree(tree),
        program(tree.getProgram()), conflicts(conflicts), threads(threads),
        use(use), isOpenOnly(use != HazardUse::Elimination),
        hasBarriers(!tree.getBarriers().empty()),
        isLeadingOnly(choosesBarriers() && !isComplete && !isSmall()),
        memory(accesses), isOrderedOtherwise(isOrdered) {}

  /// True if barriers are chosen by what is found.
  bool choosesBarriers() const {
    return use == HazardUse::Elimination || use == HazardUse::Insertion ||
           use == HazardUse::Trial;
  }
  /// True if it is of use what barriers order: not where waits or fences are to
  /// be added.
  bool asksForBarriers() const {
    return use != HazardUse::Waits && use != HazardUse::Fences;
  }

  //===--------------------------------------------------------------------===//
  // Accesses
  //===--------------------------------------------------------------------===//

  /// Atomic updates of one class may come in any order, but those of the class
  /// kOrderedUpdate.
  static unsigned getUpdateClass(const ThreadAccess &access);
  /// True if threads that do the one and the other at the same time are wrong,
  /// or if barriers that stand between are to stay.
  bool canRace(unsigned first, unsigned second) const;
  /// True if threads that do the write `access` at one time write the same.
  bool writesSame(unsigned access) const;
  /// True if something else than barriers orders both, whenever they meet.
  bool isOrdered(unsigned first, unsigned second) const {
    return isOrderedOtherwise && isOrderedOtherwise(first, second);
  }
  /// True if both may be in the same memory, which is known.
  bool haveCommonRoot(unsigned first, unsigned second) const;
  /// True if the access is done when its thread goes on.
  bool isPlain(unsigned access) const;
  /// True if it is not known when the access is done.
  bool isUnknown(unsigned access) const {
    return accesses[access].isAsync && !tree.getCompletion(access);
  }
  /// True if where the access is done all threads see it, with no barrier.
  bool isSeen(unsigned access) const {
    const AsyncCompletion *done = tree.getCompletion(access);
    return done && done->isForAll;
  }
  /// True if it is of use what barriers order with `access`, which comes first.
  bool asksForBarriers(unsigned access) const {
    return asksForBarriers() && !isSeen(access);
  }

  //===--------------------------------------------------------------------===//
  // Steps and loops
  //===--------------------------------------------------------------------===//

  const SmallVector<unsigned, 3> &getLoopsAround(unsigned step);
  /// The loops around both steps, outermost first.
  SmallVector<unsigned, 3> getCommonLoops(unsigned from, unsigned to);
  /// The loops of `around` in whose later iterations the accesses may meet:
  /// tiles of a ring are of one iteration of all loops around that give them.
  ArrayRef<unsigned> getCarriers(unsigned first, unsigned second,
                                 ArrayRef<unsigned> around) const;
  /// True if, within one iteration of the loops around both, `first` comes
  /// before `second`: steps have numbers in the order of the program, but those
  /// in different regions of a branch exclude each other.
  bool isBefore(unsigned first, unsigned second) const;

  /// That threads are in the same iteration of the loops `around`.
  PairRelation getRelation(ArrayRef<unsigned> around) const;
  /// That threads do both, in any iterations. Mostly they do not touch the same
  /// then, and all other questions are settled.
  PairRelation getAnyTime(unsigned first, unsigned second) const;

  const ArrayRef<ThreadAccess> accesses;
  const SyncTree &tree;
  const SyncProgram &program;
  ThreadConflicts &conflicts;
  const PairRelation::Threads threads;
  /// What barriers cover that are there is not asked for (`isOpenOnly`): it
  /// costs most. More is asked for of what they do not cover.
  const HazardUse use;
  const bool isOpenOnly, hasBarriers;
  /// Whether what leading hazards imply is left out; otherwise it is marked.
  const bool isLeadingOnly;

private:
  static constexpr unsigned kOrderedUpdate = 1;
  static bool areInterchangeable(const ThreadAccess &lhs,
                                 const ThreadAccess &rhs);
  bool isSmall() const;

  const ThreadAccesses &memory;
  const llvm::function_ref<bool(unsigned, unsigned)> isOrderedOtherwise;
  DenseMap<unsigned, SmallVector<unsigned, 3>> loopsAround;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDCONTEXT_H
