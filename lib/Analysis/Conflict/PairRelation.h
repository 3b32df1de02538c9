//===- PairRelation.h - Two accesses of two threads -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where in the execution of a kernel two accesses of different threads are, and
// whether they touch the same byte.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_PAIRRELATION_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_PAIRRELATION_H

#include "Analysis/Index/SymbolicIndex.h"
#include <array>
#include <string>
#include <unordered_map>

namespace mlir::workgroup {

/// The relation of two accesses of different threads in the execution of a
/// kernel: threads, iterations, branch regions.
struct PairRelation {
  enum Threads {
    /// Two threads of the block, but not of one warp.
    OfTwoWarps,
    /// Two threads of one warp.
    OfOneWarp,
    /// Two threads of two blocks.
    OfTwoBlocks
  } threads = OfTwoWarps;
  /// The loops that both are in the same iteration of.
  SmallVector<const KernelLoop *, 3> sameIteration;
  /// The second one is in a later iteration of this loop than the first one: by
  /// `least` iterations or more and, if that is given, no more than `most`.
  /// Null for none.
  const KernelLoop *carrier = nullptr;
  int64_t least = 1;
  std::optional<int64_t> most = 1;
  /// The ends of loops around the first one.
  SmallVector<LoopEnd, 1> ends;
  /// The iterations of loops, counted from 0, that the second one is in; or, if
  /// `first` is given, their distance from the iteration of that loop that the
  /// first one is in.
  struct Iterations {
    const KernelLoop *loop = nullptr;
    std::optional<int64_t> least = 0, most = 0;
    const KernelLoop *first = nullptr;

    bool operator==(const Iterations &other) const {
      return loop == other.loop && least == other.least && most == other.most &&
             first == other.first;
    }
  };
  SmallVector<Iterations, 1> iterations;
  /// Regions of branches, by number, that are not taken, in the iterations of
  /// the first thread or of the second one; but for `loop`, if that is given,
  /// of which it is that many iterations `later`.
  struct BranchRegion {
    Operation *branch = nullptr;
    unsigned number = 0;
    bool isOfSecond = false;
    const KernelLoop *loop = nullptr;
    int64_t later = 0;

    bool operator<(const BranchRegion &other) const {
      return std::tie(branch, number, isOfSecond, loop, later) <
             std::tie(other.branch, other.number, other.isOfSecond, other.loop,
                      other.later);
    }
    bool operator==(const BranchRegion &other) const {
      return branch == other.branch && number == other.number &&
             isOfSecond == other.isOfSecond && loop == other.loop &&
             later == other.later;
    }
  };
  SmallVector<BranchRegion, 1> avoided;
  /// It may be the same thread: one of them happens at any time.
  bool mayBeSame = false;

  bool operator==(const PairRelation &other) const {
    return threads == other.threads && carrier == other.carrier &&
           least == other.least && most == other.most &&
           mayBeSame == other.mayBeSame &&
           sameIteration == other.sameIteration && ends == other.ends &&
           iterations == other.iterations && avoided == other.avoided;
  }
  /// Of what tells most relations apart.
  friend llvm::hash_code hash_value(const PairRelation &relation) {
    return llvm::hash_combine(relation.threads, relation.carrier,
                              relation.least, relation.most.value_or(0),
                              relation.mayBeSame, relation.sameIteration.size(),
                              relation.ends.size(), relation.iterations.size(),
                              relation.avoided.size());
  }
};

/// Numbers of relations, in the order in which these are asked for first.
class RelationNumbers {
public:
  unsigned get(const PairRelation &relation) {
    return numbers.try_emplace(relation, numbers.size()).first->second;
  }

private:
  struct Hash {
    size_t operator()(const PairRelation &relation) const {
      return hash_value(relation);
    }
  };

  std::unordered_map<PairRelation, unsigned, Hash> numbers;
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
    SmallVector<int64_t, 1> coordinates;
    /// The iterations of the loops around, for both threads; with values that
    /// the launch may choose.
    SmallVector<std::pair<const KernelLoop *, std::array<int64_t, 2>>, 2>
        iterations;
  };
  std::optional<Witness> witness;

  explicit operator bool() const { return kind != None; }
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_PAIRRELATION_H
