//===- ThreadConflicts.h - Whether two threads meet in memory ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides whether two different threads of a block may touch the same byte by
// two accesses, the second of which is in the same or a later turn of a loop.
// The threads are symbolic: two sets of ids, of turns and of what diverges, and
// one of all that is uniform, as in GPUVerify (Betts et al., "GPUVerify: a
// verifier for GPU kernels", OOPSLA 2012).
//
// The means, from cheap to dear: ranges; tables of what all threads of a known
// block do, for any arithmetic; integer linear programming (Presburger), where
// quotients, remainders, minima and conditions are exact. What is not decided
// within a fixed number of steps is possible.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_ANALYSIS_THREADCONFLICTS_H
#define WORKGROUP_ANALYSIS_THREADCONFLICTS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Analysis/SymbolicIndex.h"
#include "workgroup/Analysis/ThreadAccess.h"
#include <array>
#include <map>
#include <string>

namespace mlir::workgroup {

/// Where in the execution of a kernel two accesses of different threads are.
struct PairRelation {
  enum Threads {
    /// Of the block, but not of one warp.
    OfTwoWarps,
    /// Of one warp.
    OfOneWarp,
    /// Of two blocks.
    OfTwoBlocks
  } threads = OfTwoWarps;
  /// The loops that both are in the same turn of.
  SmallVector<const KernelLoop *, 3> sameTurn;
  /// The second one is in a later turn of this loop than the first one: by
  /// `least` turns or more and, if that is given, no more than `most`. Null for
  /// none.
  const KernelLoop *carrier = nullptr;
  int64_t least = 1;
  std::optional<int64_t> most = 1;
  /// Where loops around the first one end.
  SmallVector<LoopEnd, 1> ends;
  /// Which turns of loops, counted from 0, the second one is in; or, if `first`
  /// is given, how many more than the turn of that loop that the first one is
  /// in.
  struct Turns {
    const KernelLoop *loop = nullptr;
    std::optional<int64_t> least = 0, most = 0;
    const KernelLoop *first = nullptr;

    bool operator<(const Turns &other) const {
      return std::tie(loop, least, most, first) <
             std::tie(other.loop, other.least, other.most, other.first);
    }
  };
  SmallVector<Turns, 1> turns;
  /// Arms of branches, by number, that are not taken, in the turns of the first
  /// thread or of the second one; but for `loop`, if that is given, of which it
  /// is that many turns `later`.
  struct Arm {
    Operation *branch = nullptr;
    unsigned number = 0;
    bool isOfSecond = false;
    const KernelLoop *loop = nullptr;
    int64_t later = 0;

    bool operator<(const Arm &other) const {
      return std::tie(branch, number, isOfSecond, loop, later) <
             std::tie(other.branch, other.number, other.isOfSecond, other.loop,
                      other.later);
    }
  };
  SmallVector<Arm, 1> avoided;
  /// It may be the same thread: one of them happens at any time.
  bool mayBeSame = false;

  bool operator<(const PairRelation &other) const {
    auto asTuple = [](const PairRelation &relation) {
      return std::tie(relation.threads, relation.carrier, relation.least,
                      relation.most, relation.mayBeSame, relation.sameTurn,
                      relation.ends, relation.turns, relation.avoided);
    };
    return asTuple(*this) < asTuple(other);
  }
};

/// Whether accesses of two threads touch the same byte.
struct Conflict {
  enum Kind {
    /// They do not.
    None,
    /// That is not known; `reason` says why.
    Possible,
    /// Two threads do.
    Certain
  } kind = None;
  std::string reason;
  /// Two threads, by their ids, and the place, as coordinates of the
  /// footprints' basis; of what is certain, and where the shape of the block is
  /// known.
  struct Witness {
    std::array<int64_t, 3> threads[2] = {};
    /// The blocks that they are of, where that is what is asked for.
    std::array<int64_t, 3> blocks[2] = {};
    SmallVector<int64_t, 1> place;
    /// How often the loops around had turned; with values that the launch may
    /// choose.
    SmallVector<std::pair<const KernelLoop *, std::array<int64_t, 2>>, 2> turns;
  };
  std::optional<Witness> witness;

  explicit operator bool() const { return kind != None; }
};

class ThreadTables;

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

  /// False if a quick look shows that they are not: `find` may still find that.
  bool mayFind(unsigned first, unsigned second, const PairRelation &relation);

  /// False if no two threads are as `relation` tells, whatever they do.
  bool mayBe(const PairRelation &relation);

  /// True if two accesses are known to be of different bytes, whoever does them
  /// and when: a question that costs next to nothing.
  bool areApart(unsigned first, unsigned second) const {
    const Extent &lhs = extents[first], &rhs = extents[second];
    return lhs.group == rhs.group && lhs.group != 0 &&
           (lhs.last < rhs.first || rhs.last < lhs.first);
  }

  /// True if all threads of the block or warp that get to `op`, a loop or a
  /// branch, together go the same way from there.
  bool takesOneWay(Operation *op, UniformityUnit unit);

  /// Which threads get to `op`, by linear ids; nothing if their ids alone do
  /// not tell.
  std::optional<std::vector<bool>> getReaching(Operation *op);

  /// True if some thread gets to `op`, as its ids alone tell: in the first turn
  /// of the loops around.
  bool isReachedBySome(Operation *op);

  /// False if the thread of these ids never gets to `op`.
  bool mayReach(Operation *op, const std::array<int64_t, 3> &ids);

  /// True if no thread gets to `op`, as far as their ids tell.
  bool isDead(Operation *op);

  /// The same of an arm of a branch.
  bool isNeverTaken(Operation *branch, unsigned arm);

  /// The threads, by linear ids, that take `arm` of `branch` whenever the block
  /// gets there, if they are always the same, whole warps, and not all; nothing
  /// otherwise.
  std::optional<std::vector<bool>> getTakers(scf::IfOp branch, Region &arm);

  /// Two threads of the block, or of one warp, by their ids, of which the first
  /// may execute `op` and the second does not; nothing if none are known.
  std::optional<std::pair<std::array<int64_t, 3>, std::array<int64_t, 3>>>
  findParting(Operation *op, UniformityUnit unit);

  /// An access as the query sees it.
  struct Footprint;
  const Footprint &getFootprint(unsigned access) const {
    return footprints[footprintOf[access]];
  }
  /// The same numbers for accesses with the same footprint, done in the same
  /// conditions.
  std::pair<unsigned, unsigned> getFootprintNumbers(unsigned access) const {
    return {footprintOf[access], whenOf[access]};
  }
  /// False if a quick look shows that threads, as `relation` tells, touch
  /// different bytes by two footprints of one basis.
  bool mayMeet(const Footprint &first, const Footprint &second,
               const PairRelation &relation);

  /// False if control is known not to get to `block` in a later turn of `loop`
  /// than that in which a thread does `access`; or in an earlier one.
  bool mayReach(Block *block, const KernelLoop *loop, unsigned access,
                bool isEarlier);

  SymbolicIndex &getIndex() { return index; }
  const SymbolicIndex &getIndex() const { return index; }
  /// True if so much was computed for the kernel that all further questions are
  /// answered by what costs little.
  bool isExhausted() const { return effort > kMaxEffort; }

  /// An access in terms of forms.
  struct Footprint {
    struct Extent {
      SymbolicForm count;
      int64_t stride = 1;
      unsigned coordinate = 0;
      /// There are not more; 0 if that is not known.
      int64_t limit = 0;

      /// How many there are at most; nothing if that is not known.
      std::optional<int64_t> getMost() const {
        if (count.isConstant())
          return count.constant;
        return limit != 0 ? std::optional(limit) : std::nullopt;
      }
    };
    SmallVector<SymbolicForm, 2> place;
    SmallVector<Extent, 1> box;
    int64_t run = 1;
    SymbolicCondition condition;
    AccessAgent agent = AccessAgent::Thread;

    bool operator==(const Footprint &other) const;
  };

private:
  friend class ThreadConflictQuery;
  unsigned makeFootprint(const ThreadAccess &access,
                         const AccessFootprint &footprint,
                         bool isInBounds = false);
  unsigned getFamily(Footprint footprint);
  std::pair<unsigned, unsigned> getTwins(unsigned first, unsigned second);
  bool areApartAnyTime(unsigned first, unsigned second,
                       const PairRelation &relation);
  using Key = std::tuple<unsigned, unsigned, unsigned>;
  Key getKey(unsigned first, unsigned second, const PairRelation &relation);
  bool isExcluded(unsigned first, unsigned second,
                  const PairRelation &relation);
  bool isPossible(unsigned first, unsigned second,
                  const PairRelation &relation);
  Conflict decideOnce(unsigned first, unsigned second,
                      const PairRelation &relation);
  void doubtBounds(Conflict &conflict, unsigned first, unsigned second,
                   const PairRelation &relation);
  const Conflict &decideTwins(unsigned first, unsigned second,
                              const PairRelation &relation);
  Conflict decide(const Footprint &first, const Footprint &second,
                  const PairRelation &relation);
  bool takeTurns(Footprint &first, Footprint &second, PairRelation &relation);
  /// Threads of a unit that get somewhere together, if they do at all.
  struct Crowd {
    UniformityUnit unit;
    /// The innermost loop there, of which they are in the same turn.
    const KernelLoop *around = nullptr;
    /// Those that may get there, if that is known.
    std::vector<bool> present;
  };
  /// Whether they all have the same.
  bool isUniform(const SymbolicForm &form, const Crowd &crowd);
  bool isUniform(const SymbolicCondition &condition, const Crowd &crowd);

  /// Bytes, or elements of the last coordinate, counted from a place that is
  /// the same for all of the same `group`; of group 0, nothing is known.
  struct Extent {
    unsigned group = 0;
    int64_t first = 0, last = 0;
  };
  void makeExtents();

  const ThreadAccesses &accesses;
  SymbolicIndex index;
  std::unique_ptr<ThreadTables> tables;
  /// Of each access, the number of its footprint, and that of one that is the
  /// same place for all: whatever threads may do both meet there.
  SmallVector<unsigned, 0> footprintOf, whenOf;
  /// The footprint where all of it is in bounds.
  SmallVector<unsigned, 0> inBoundsOf;
  std::vector<Footprint> footprints;
  SmallVector<Extent, 0> extents;
  std::unordered_multimap<size_t, unsigned> footprintsByHash;
  /// Of each footprint, the number of those that differ by constants only.
  SmallVector<unsigned, 0> families;
  /// The same whenever they are, and what is the same of these.
  SmallVector<unsigned, 0> anyTimeFamilies;
  std::vector<const Footprint *> familyFootprints;
  std::unordered_multimap<size_t, std::pair<Footprint, unsigned>>
      familiesByHash;
  /// Two footprints by their families and distances.
  std::map<SmallVector<int64_t, 4>, std::pair<unsigned, unsigned>> twins;
  std::map<SmallVector<int64_t, 4>, bool> apartAnyTime;
  std::map<Key, Conflict> known;
  std::map<Key, bool> possible;
  std::map<PairRelation, unsigned> relations;
  /// As ThreadPairSystem counts it. Some seconds; few kernels take a tenth.
  static constexpr uint64_t kMaxEffort = 1 << 24;
  uint64_t effort = 0;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_ANALYSIS_THREADCONFLICTS_H
