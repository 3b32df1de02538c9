//===- HazardCollector.h - Keeps what is a hazard ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whoever finds two accesses and an order of them, asks here: the conflict
// analysis tells whether threads meet in that order, what barriers order that
// are there is left out, and what is known of the paths between is kept with
// the hazard.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDCOLLECTOR_H
#define WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDCOLLECTOR_H

#include "Analysis/Placement/GivenBarriers.h"
#include "Analysis/Placement/ImpliedOrders.h"
#include "Analysis/Refinement/BranchRelevance.h"
#include "HazardContext.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

namespace mlir::workgroup {

/// The hazards of a kernel that were found so far.
class HazardCollector {
public:
  explicit HazardCollector(HazardContext &context);

  /// Adds what barriers separate that stand in `order` between the accesses,
  /// if threads that are as `relation` says may meet. Certain if what has no
  /// fewer points needs no asking: whatever comes to cover this one covers
  /// that, too.
  Conflict::Kind add(unsigned first, unsigned second, SyncHazard order,
                     const PairRelation &relation);
  /// Adds what barriers separate that stand between `from` and the second
  /// access, in the same iterations of all loops or, if `relation` has a
  /// carrier, in a later iteration of that: of `loop`.
  Conflict::Kind addOrdered(unsigned first, unsigned second, unsigned from,
                            std::optional<unsigned> loop,
                            PairRelation relation);
  /// Adds what no barrier separates, because the first access may happen at any
  /// time: by the same thread, too.
  void addUnordered(unsigned first, unsigned second, PairRelation relation,
                    bool isExact);
  /// Adds what no barrier helps against, if it happens for certain; false if it
  /// may not.
  bool addUncoverable(unsigned first, unsigned second,
                      const PairRelation &relation, const MissedPhase *missed);
  /// Adds a hazard of which all is known.
  void keep(Hazard hazard) { hazards.push_back(std::move(hazard)); }

  /// Asks for a hazard, and remembers it as leading if it is one about the
  /// paths of which nothing more is known: it is added when it is asked for
  /// again, or in the end.
  bool addLeading(unsigned first, unsigned second, const SyncHazard &order,
                  const PairRelation &relation);
  /// The pairs of leading hazards in order, the later access first.
  std::vector<std::pair<unsigned, unsigned>> getLeadingPairs() const;

  /// True if the barriers that are there cover `order`.
  bool isCovered(const SyncHazard &order) const {
    return counts.isCovered(order);
  }
  /// True if no loop and no branch lies between, so that there is only one
  /// path.
  bool isStraight(const SyncHazard &order) const;
  /// The order of `hazard` with what is known of loops and branches that have
  /// barriers or proxy fences in them.
  SyncHazard narrowAroundSync(const Hazard &hazard);
  bool isOrderedByBarriers(Hazard &hazard) const;

  ArrayRef<Hazard> getHazards() const { return hazards; }
  std::vector<Hazard> take();

  /// What barriers cover that are there, if that is not asked for; and what
  /// leading hazards imply.
  ImpliedOrders implied;

  static constexpr llvm::StringLiteral kUntimed =
      "it is not known when the asynchronous operation is done";

private:
  /// A leading hazard, with what was answered when it was asked for.
  struct Leading {
    Hazard hazard;
    Conflict::Kind kind;
    bool isAdded = false;
  };

  void findSyncNodes();
  bool needsNoBarrier(unsigned first, unsigned second,
                      const PairRelation &relation) const;
  bool mayMeetAnyTime(unsigned first, unsigned second,
                      const PairRelation &anyTime);
  Conflict find(unsigned first, unsigned second, const PairRelation &relation);
  SyncHazard narrowPaths(const Hazard &hazard);
  bool addNarrowed(Hazard hazard, bool isSettled);
  Leading *getLeading(unsigned first, unsigned second, const SyncHazard &order);

  HazardContext &context;
  const ArrayRef<ThreadAccess> accesses;
  const SyncTree &tree;
  const SyncProgram &program;
  ThreadConflicts &conflicts;
  BarrierCounts counts;
  BranchRelevance decisions;
  /// Loops and branches with barriers or proxy fences in them.
  DenseSet<unsigned> syncNodes;
  /// Of each sequence, how many loops and branches are before a point.
  SmallVector<SmallVector<unsigned, 0>, 0> partedBefore;
  std::vector<Hazard> hazards;
  /// How many were asked what is known of their paths.
  unsigned numNarrowed = 0;
  /// Leading hazards, by the pair, the later access first.
  std::multimap<std::pair<unsigned, unsigned>, Leading> leading;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_SYNC_HAZARDCOLLECTOR_H
