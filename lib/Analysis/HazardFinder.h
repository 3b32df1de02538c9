//===- HazardFinder.h - Collects the hazards of a kernel --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_HAZARDFINDER_H
#define WORKGROUP_LIB_ANALYSIS_HAZARDFINDER_H

#include "SyncWays.h"
#include "workgroup/Analysis/Hazards.h"

namespace mlir::workgroup {

/// Collects the hazards of a kernel.
class HazardFinder {
public:
  HazardFinder(const ThreadAccesses &accesses, const SyncTree &tree,
               ThreadConflicts &conflicts, PairRelation::Threads threads,
               HazardUse use,
               llvm::function_ref<bool(unsigned, unsigned)> isElsewhere)
      : memory(accesses), accesses(accesses.getAccesses()), tree(tree),
        program(tree.getProgram()), counts(program), conflicts(conflicts),
        threads(threads), use(use), isOpenOnly(use != HazardUse::Elimination),
        hasBarriers(!tree.getBarriers().empty()), isElsewhere(isElsewhere) {
    findSyncNodes();
  }

  std::vector<Hazard> find();

private:
  void findSyncNodes();
  bool canRace(unsigned first, unsigned second) const;
  PairRelation getAnyTime(unsigned first, unsigned second) const;
  void visit(unsigned first, unsigned second);
  ArrayRef<unsigned> getCarriers(unsigned first, unsigned second,
                                 ArrayRef<unsigned> around);
  void visitDirection(unsigned first, unsigned second,
                      ArrayRef<unsigned> around, bool isOrdered);
  bool addHazard(Hazard hazard);
  Conflict::Kind add(unsigned first, unsigned second, SyncHazard order,
                     const PairRelation &relation);
  const SmallVector<unsigned, 3> &getLoopsAround(unsigned step);
  bool isBefore(unsigned first, unsigned second) const;
  void addUnordered(unsigned first, unsigned second, PairRelation relation,
                    bool isExact);
  Conflict::Kind addOrdered(unsigned first, unsigned second, unsigned from,
                            std::optional<unsigned> loop,
                            PairRelation relation);
  void visitInLoop(unsigned first, unsigned second, ArrayRef<unsigned> around,
                   bool isOrdered);
  void addTurned(unsigned first, unsigned second, PairRelation relation);
  void addEntered(unsigned first, unsigned second, PairRelation relation);
  void
  addWaited(unsigned first, unsigned second, bool isWaited,
            llvm::function_ref<PairRelation(int64_t least, bool isFar)> relate);
  void addBehind(unsigned first, unsigned second, std::optional<unsigned> loop,
                 PairRelation relation);
  bool visitUnknown(unsigned first, unsigned second);
  void visitRepeated(unsigned first, unsigned second,
                     ArrayRef<unsigned> around);
  bool visitMissed(unsigned first, unsigned second);
  /// True if where the access is done all threads see it, with no barrier.
  bool isSeen(unsigned access) const {
    const AsyncCompletion *done = tree.getCompletion(access);
    return done && done->isForAll;
  }
  void visitProxies(unsigned first, unsigned second, ArrayRef<unsigned> around,
                    bool isOrdered, bool isReverse);
  void addUnfenced(unsigned first, unsigned second, ArrayRef<unsigned> around,
                   bool isOrdered);
  void addUnfenced(Hazard hazard);
  const SyncProgram &getFenced(MemorySpace space);

  const ThreadAccesses &memory;
  ArrayRef<ThreadAccess> accesses;
  const SyncTree &tree;
  const SyncProgram &program;
  BarrierCounts counts;
  ThreadConflicts &conflicts;
  PairRelation::Threads threads;
  /// What barriers cut that are there is not asked for: it costs most. More is
  /// asked for of what they do not cut.
  HazardUse use;
  bool isOpenOnly, hasBarriers;
  llvm::function_ref<bool(unsigned, unsigned)> isElsewhere;
  /// Loops and branches with barriers or proxy fences in them.
  DenseSet<unsigned> syncNodes;
  DenseMap<unsigned, SmallVector<unsigned, 3>> loopsAround;
  std::vector<Hazard> hazards;
  unsigned numNarrowed = 0;
  /// Asynchronous accesses that were reported for lack of a wait.
  DenseSet<unsigned> unknown;
  std::map<MemorySpace, SyncProgram> fenced;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_HAZARDFINDER_H
