//===- ThreadConflicts.h - Whether two threads meet in memory ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides whether two different threads of a block may touch the same byte by
// two accesses, the second of which is in the same or a later iteration of a
// loop. The threads are symbolic: two sets of ids, of iterations and of what
// diverges, and one of all that is uniform, as in GPUVerify (Betts et al.,
// "GPUVerify: a verifier for GPU kernels", OOPSLA 2012).
//
// The means, from cheap to dear: ranges; tables of what all threads of a known
// block do, for any arithmetic; integer linear programming (Presburger), where
// quotients, remainders, minima and conditions are exact. What is not decided
// within a fixed number of steps is possible.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADCONFLICTS_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADCONFLICTS_H

#include "ApartPairs.h"
#include "ConflictMeans.h"
#include "FootprintHulls.h"
#include "PairRelation.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <deque>
#include <map>

namespace mlir::workgroup {

/// Decides and remembers. An instance must not outlive a change of the index
/// arithmetic of the kernel.
class ThreadConflicts {
public:
  ThreadConflicts(Operation *scope, const ThreadAccesses &accesses,
                  const KernelLoops &loops, const UniformityAnalysis &block,
                  const UniformityAnalysis &warp,
                  const ArgumentAliases &arguments);
  ~ThreadConflicts();

  /// Whether the accesses number `first` and `second` may be of the same byte.
  /// Whether that is a race is another question: both may be reads.
  Conflict find(unsigned first, unsigned second, const PairRelation &relation);

  /// Whether `find` finds that they may be. Not asked is whether it is certain,
  /// which takes most of the time.
  bool canMeet(unsigned first, unsigned second, const PairRelation &relation);

  /// False if a quick look shows that they are not: `find` may still find that.
  bool mayFind(unsigned first, unsigned second, const PairRelation &relation);

  /// False if no two threads are as `relation` tells, whatever they do.
  bool mayBe(const PairRelation &relation);

  /// True if what all threads together touch by the one access, and by others
  /// like it, is apart from the same of the other one: one question for all of
  /// them.
  bool areTilesApart(unsigned first, unsigned second,
                     const PairRelation &relation);

  /// True if two accesses are known to be of different bytes, whoever does them
  /// and when: a question that costs next to nothing.
  bool areApart(unsigned first, unsigned second) const {
    const Extent &lhs = extents[first], &rhs = extents[second];
    return lhs.group == rhs.group && lhs.group != 0 &&
           (lhs.last < rhs.first || rhs.last < lhs.first);
  }

  /// Keeps that two accesses, as was found, are never of the same bytes: done
  /// by two threads, as `threads` tells, or by one, in whatever iterations.
  void keepApart(unsigned first, unsigned second,
                 PairRelation::Threads threads) {
    keptApart.insert(first, second, threads);
  }
  /// True if that is kept.
  bool areKeptApart(unsigned first, unsigned second,
                    PairRelation::Threads threads) const {
    return keptApart.contains(first, second, threads);
  }

  /// True if all threads of the block or warp that get to `op`, a loop or a
  /// branch, together go the same way from there.
  bool takesOnePath(Operation *op, UniformityUnit unit);

  /// Which threads get to `op`, by linear ids; nothing if their ids alone do
  /// not tell.
  std::optional<std::vector<bool>> getReaching(Operation *op);

  /// True if some thread gets to `op`, as its ids alone tell: in the first
  /// iteration of the loops around.
  bool isReachedBySome(Operation *op);

  /// False if the thread of these ids never gets to `op`.
  bool mayReach(Operation *op, const std::array<int64_t, 3> &ids);

  /// True if no thread gets to `op`, as far as their ids tell.
  bool isDead(Operation *op);

  /// The same of a branch region.
  bool isNeverTaken(Operation *branch, unsigned region);

  /// The threads, by linear ids, that take `region` of `branch` whenever the
  /// block gets there, if they are always the same, whole warps, and not all;
  /// nothing otherwise.
  std::optional<std::vector<bool>> getTakers(scf::IfOp branch, Region &region);

  /// Two threads of the block, or of one warp, by their ids, of which the first
  /// may execute `op` and the second does not; nothing if none are known.
  std::optional<std::pair<std::array<int64_t, 3>, std::array<int64_t, 3>>>
  findParting(Operation *op, UniformityUnit unit);

  const SymbolicFootprint &getFootprint(unsigned access) const {
    return footprints[footprintOf[access]];
  }
  /// The same numbers for accesses with the same footprint, done in the same
  /// conditions.
  std::pair<unsigned, unsigned> getFootprintNumbers(unsigned access) const {
    return {footprintOf[access], whenOf[access]};
  }
  /// False if a quick look shows that threads, as `relation` tells, touch
  /// different bytes by two footprints of one basis.
  bool mayMeet(const SymbolicFootprint &first, const SymbolicFootprint &second,
               const PairRelation &relation);

  SymbolicIndex &getIndex() { return index; }
  const SymbolicIndex &getIndex() const { return index; }
  /// True if so much was computed for the kernel that all further questions are
  /// answered by what costs little.
  bool isExhausted() const { return effort.isExhausted(); }
  /// Lets as much be computed as for a new instance.
  void renewEffort() { effort = ConflictEffort(); }

private:
  ConflictMeans getMeans();
  unsigned makeFootprint(const ThreadAccess &access,
                         const AccessFootprint &footprint,
                         bool isInBounds = false);
  unsigned intern(SymbolicFootprint made);
  unsigned getFamily(SymbolicFootprint footprint);
  std::pair<unsigned, unsigned> getTwins(unsigned first, unsigned second);
  bool areApartAnyTime(unsigned first, unsigned second,
                       const PairRelation &relation);
  bool areCopiesApart(unsigned first, unsigned second,
                      const PairRelation &relation);
  const std::optional<SymbolicFootprint> &getRolled(unsigned group);
  using Key = std::tuple<unsigned, unsigned, unsigned>;
  Key getKey(unsigned first, unsigned second, const PairRelation &relation);
  bool isExcluded(unsigned first, unsigned second,
                  const PairRelation &relation);
  bool isPossible(unsigned first, unsigned second,
                  const PairRelation &relation);
  Conflict decideOnce(unsigned first, unsigned second,
                      const PairRelation &relation);
  Conflict move(Conflict conflict, unsigned footprint, unsigned twin) const;
  bool canMeetOnce(unsigned first, unsigned second,
                   const PairRelation &relation);
  void remember(unsigned first, unsigned second, const Conflict &conflict);
  bool doKnownMeet(unsigned first, unsigned second,
                   const PairRelation &relation);
  Conflict decideInRows(unsigned first, unsigned second,
                        const PairRelation &relation);
  const Conflict &decideTwins(unsigned first, unsigned second,
                              const PairRelation &relation);
  Conflict decideByIterations(const SymbolicFootprint &first,
                              const SymbolicFootprint &second,
                              const PairRelation &relation,
                              const Conflict &conflict, bool isAnyEnough);
  Conflict decideCase(const SymbolicFootprint &first,
                      const SymbolicFootprint &second,
                      const PairRelation &relation);
  Conflict decide(const SymbolicFootprint &first,
                  const SymbolicFootprint &second, const PairRelation &relation,
                  bool isAnyEnough = false);
  bool takeIterations(SymbolicFootprint &first, SymbolicFootprint &second,
                      PairRelation &relation);
  bool areThere(const PairRelation &relation);
  /// Bytes, or elements of the last coordinate, counted from a place that is
  /// the same for all of the same `group`; of group 0, nothing is known.
  struct Extent {
    unsigned group = 0;
    int64_t first = 0, last = 0;
  };
  void makeExtents();
  void groupCopies();

  const ThreadAccesses &accesses;
  SymbolicIndex index;
  std::unique_ptr<ThreadTables> tables;
  std::unique_ptr<FactBounds> bounds;
  /// For each access, the number of its footprint, and of a footprint that is
  /// the same place for all: whatever threads may do both meet there.
  SmallVector<unsigned, 0> footprintOf, whenOf;
  /// The footprint where all of it is in bounds.
  SmallVector<unsigned, 0> inBoundsOf;
  /// They stay where they are when more are made.
  std::deque<SymbolicFootprint> footprints;
  SmallVector<Extent, 0> extents;
  std::unordered_multimap<size_t, unsigned> footprintsByHash;
  /// The family of each footprint: a number that footprints share which differ
  /// by constants only.
  SmallVector<unsigned, 0> families;
  /// The same whenever they are, and what is the same of these.
  SmallVector<unsigned, 0> anyTimeFamilies;
  std::vector<const SymbolicFootprint *> familyFootprints;
  std::unordered_multimap<size_t, std::pair<SymbolicFootprint, unsigned>>
      familiesByHash;
  /// Two footprints by their families and distances.
  std::map<SmallVector<int64_t, 4>, std::pair<unsigned, unsigned>> twins;
  std::map<SmallVector<int64_t, 4>, bool> apartAnyTime;
  /// Accesses by one value whose footprints differ by constants and conditions
  /// only: the number of the group of each, the different footprints of each
  /// group, and these as one.
  SmallVector<unsigned, 0> copyGroupOf;
  std::vector<SmallVector<unsigned, 0>> copyGroups;
  std::map<unsigned, std::optional<SymbolicFootprint>> rolled;
  std::map<Key, bool> apartCopies;
  std::optional<FootprintHulls> hulls;
  /// Whether two hulls, by number, are apart.
  std::map<Key, bool> apartHulls;
  std::map<Key, Conflict> known;
  /// Where it was not asked what is certain.
  std::map<Key, bool> meeting;
  /// Of footprints, threads that were found to meet by them at some time.
  DenseMap<std::pair<unsigned, unsigned>, std::pair<unsigned, unsigned>>
      meetingThreads;
  /// In iterations that are given.
  std::map<Key, Conflict> cases;
  std::map<Key, bool> possible;
  RelationNumbers relations;
  ApartPairs keptApart;
  ConflictEffort effort;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADCONFLICTS_H
