//===- HazardFinder.h - Collects the hazards of a kernel --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDFINDER_H
#define WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDFINDER_H

#include "Analysis/Placement/GivenBarriers.h"
#include "Analysis/Placement/HazardPaths.h"
#include "Analysis/Placement/ImpliedOrders.h"
#include "BranchRelevance.h"
#include "Hazards.h"

namespace mlir::workgroup {

/// Collects the hazards of a kernel.
class HazardFinder {
public:
  HazardFinder(const ThreadAccesses &accesses, const SyncTree &tree,
               ThreadConflicts &conflicts, PairRelation::Threads threads,
               HazardUse use,
               llvm::function_ref<bool(unsigned, unsigned)> isElsewhere,
               bool isComplete)
      : memory(accesses), accesses(accesses.getAccesses()), tree(tree),
        program(tree.getProgram()), counts(program), conflicts(conflicts),
        decisions(conflicts), threads(threads), use(use),
        isOpenOnly(use != HazardUse::Elimination),
        hasBarriers(!tree.getBarriers().empty()), isElsewhere(isElsewhere),
        isLeadingOnly(choosesBarriers() && !isComplete && !isSmall()),
        implied(program) {
    findSyncNodes();
  }

  std::vector<Hazard> find();

private:
  /// True if barriers are chosen by what is found.
  bool choosesBarriers() const {
    return use == HazardUse::Elimination || use == HazardUse::Insertion;
  }
  void findSyncNodes();
  bool isSmall() const;
  bool isPlain(unsigned access) const;
  void findKinds();
  bool areApart(unsigned first, unsigned second);
  bool isSettled(unsigned first, unsigned second);
  void findLeading();
  void findLeading(ArrayRef<unsigned> steps);
  void findLeading(unsigned loop, ArrayRef<unsigned> steps);
  void findLeading(unsigned from, unsigned to, std::optional<unsigned> loop);
  bool addLeading(unsigned first, unsigned second,
                  std::optional<unsigned> loop);
  SmallVector<unsigned, 3> getCommonLoops(unsigned from, unsigned to);
  bool canRace(unsigned first, unsigned second) const;
  /// Atomic updates of one class may come in any order, but those of the class
  /// kOrderedUpdate.
  static unsigned getUpdateClass(const ThreadAccess &access);
  static constexpr unsigned kOrderedUpdate = 1;
  static constexpr llvm::StringLiteral kUntimed =
      "it is not known when the asynchronous operation is done";
  static bool areInterchangeable(const ThreadAccess &lhs,
                                 const ThreadAccess &rhs);
  PairRelation getAnyTime(unsigned first, unsigned second) const;
  void visit(unsigned first, unsigned second);
  ArrayRef<unsigned> getCarriers(unsigned first, unsigned second,
                                 ArrayRef<unsigned> around);
  bool isWaitedBefore(unsigned first, unsigned second) const;
  void visitDirection(unsigned first, unsigned second,
                      ArrayRef<unsigned> around, bool isOrdered);
  bool isStraight(const SyncHazard &order) const;
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
  bool isUnknown(unsigned access) const {
    return accesses[access].isAsync && !tree.getCompletion(access);
  }
  bool visitUnknown(unsigned first, unsigned second);
  void visitUndone(unsigned copy, unsigned other);
  bool visitUnwaited(unsigned copy, unsigned other);
  bool addUncoverable(unsigned first, unsigned second,
                      const PairRelation &relation, const MissedPhase *missed);
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
  bool haveCommonRoot(unsigned first, unsigned second) const;
  bool isFencedInStep(unsigned first, unsigned second) const;
  void addUnfenced(Hazard hazard);
  const SyncProgram &getFenced(MemorySpace space);

  const ThreadAccesses &memory;
  ArrayRef<ThreadAccess> accesses;
  const SyncTree &tree;
  const SyncProgram &program;
  BarrierCounts counts;
  ThreadConflicts &conflicts;
  BranchRelevance decisions;
  PairRelation::Threads threads;
  /// What barriers cover that are there is not asked for: it costs most. More
  /// is asked for of what they do not cover.
  HazardUse use;
  bool isOpenOnly, hasBarriers;
  llvm::function_ref<bool(unsigned, unsigned)> isElsewhere;
  /// Loops and branches with barriers or proxy fences in them.
  DenseSet<unsigned> syncNodes;
  DenseMap<unsigned, SmallVector<unsigned, 3>> loopsAround;
  std::vector<Hazard> hazards;
  unsigned numNarrowed = 0, numTried = 0;
  /// Of each sequence, how many loops and branches are before a place.
  SmallVector<SmallVector<unsigned, 0>, 0> partedBefore;
  /// Asynchronous accesses that were reported for lack of a wait.
  DenseSet<unsigned> unknown;
  std::map<MemorySpace, SyncProgram> fenced;

  /// Whether what leading hazards imply is left out; otherwise it is marked.
  bool isLeadingOnly;
  /// What barriers cover that are there, if that is not asked for; and what
  /// leading hazards imply.
  ImpliedOrders implied;
  /// Which accesses are done when their threads go on; and those of each step.
  std::vector<bool> plain;
  /// Of each access, the number of those about which questions have the same
  /// answers; and of two such numbers, if there are not too many, whether there
  /// is anything to ask.
  SmallVector<unsigned, 0> kinds;
  unsigned numKinds = 0;
  enum class Meeting : uint8_t { Unknown, Never, Asked };
  std::vector<Meeting> meetings;
  DenseMap<unsigned, SmallVector<unsigned, 2>> plainAt;
  /// Leading hazards, by the pair, the later access first; with what was
  /// answered when they were asked for.
  struct Leading {
    Hazard hazard;
    Conflict::Kind kind;
    bool isAdded = false;
  };
  std::multimap<std::pair<unsigned, unsigned>, Leading> leading;

  Leading *getLeading(unsigned first, unsigned second, const SyncHazard &order);
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDFINDER_H
