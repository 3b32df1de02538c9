//===- SyncProgram.h - A kernel as barriers see it --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps, barriers, loops and branches, and pairs of steps between which threads
// have to meet. No IR is needed for it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_SYNCPROGRAM_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_SYNCPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <tuple>

namespace mlir::workgroup {

/// An item of a sequence.
struct SyncNode {
  enum Kind { Step, Barrier, Loop, Branch } kind = Step;
  /// The sequence that the node stands in, and its place there.
  unsigned sequence = 0, index = 0;
  /// The body of a loop, or the regions of a branch, one of which is taken; an
  /// empty sequence for a region that does not exist.
  llvm::SmallVector<unsigned, 2> parts;
  /// For a loop: the item of its body before which it tests, and is left or
  /// goes on. 0 for a loop that tests first; what stands before the test is
  /// executed once more than the rest.
  unsigned exit = 0;
  /// For a loop: what follows `exit` is executed at least once.
  bool hasIteration = false;
  /// For what stands in place of a call, the number of the call: no barrier is
  /// put into it, nor between nodes of the same call. They follow each other.
  std::optional<unsigned> call;
  /// For a barrier: it stays, whatever others do (a fixed barrier).
  bool isFixed = false;
};

/// Items one after the other.
struct SyncSequence {
  llvm::SmallVector<unsigned, 8> items;
  /// The node that it is a part of; none for the outermost one, number 0.
  std::optional<unsigned> parent;
  /// For a branch region: no thread ever takes it, so that it needs no barrier.
  bool isNeverTaken = false;
};

/// A kernel as barriers see it.
struct SyncProgram {
  llvm::SmallVector<SyncNode, 0> nodes;
  llvm::SmallVector<SyncSequence, 0> sequences;

  SyncProgram() { sequences.emplace_back(); }
  /// Appends a node to a sequence; returns its number.
  unsigned append(unsigned sequence, SyncNode::Kind kind);
  /// Adds a part to a loop or a branch; returns the number of the sequence.
  unsigned addPart(unsigned node);
};

/// In which iteration of the loops around it a path passes something: in that
/// of the first step, or of the second one; in the whole iteration of a loop
/// that is next to it; or in another one.
struct SyncIteration {
  bool isSecond = false, isOther = false;
  std::optional<unsigned> whole;
  /// The number of the iteration among several whole ones, counted from 0.
  unsigned number = 0;

  bool operator==(const SyncIteration &other) const {
    return isSecond == other.isSecond && isOther == other.isOther &&
           whole == other.whole && number == other.number;
  }
};

/// Two steps between which threads have to meet: `from` comes first, and in the
/// same iteration of all loops around both; or, if `loop` (around both) is
/// given, `to` is in a later iteration of it than `from`: in the next one or
/// any later, or, if `isFar`, in none earlier than the one after the next. Then
/// the iterations of loops inside of `loop` have nothing to do with each other.
struct SyncHazard {
  unsigned from = 0, to = 0;
  std::optional<unsigned> loop;
  bool isFar = false;
  /// Loops of which at least one whole iteration lies between, or as many as
  /// they are named: after the iteration of `from`, before that of `to`, on one
  /// of these sides, whichever, or of a loop that is passed.
  enum WholeIteration { AfterFirst, BeforeSecond, OnEitherSide, Passed };
  llvm::SmallVector<std::pair<unsigned, WholeIteration>, 0> wholeIterations =
      {};
  /// The least number of whole iterations of `loop` that lie between, if it
  /// `isFar`.
  unsigned numWhole = 1;
  /// Branch regions, by their sequences, that are taken where a path passes
  /// their branch in such an iteration.
  llvm::SmallVector<std::pair<unsigned, SyncIteration>, 0> taken = {};
};

/// A place for a barrier: before item number `index` of a sequence; its end, if
/// there are no more. The one at the `exit` of a loop is before the test, so
/// that all pass it who leave or go on; only in a loop that tests first, where
/// `exit` is 0, it is in the body, behind the test.
struct SyncPoint {
  unsigned sequence = 0, index = 0;

  bool operator==(const SyncPoint &other) const {
    return sequence == other.sequence && index == other.index;
  }
  bool operator<(const SyncPoint &other) const {
    return std::tie(sequence, index) < std::tie(other.sequence, other.index);
  }
};

/// Barriers that cover hazards.
struct SyncPlacement {
  /// In ascending order; those of warps, if they are asked for, apart.
  llvm::SmallVector<SyncPoint> points, ofWarps;
  /// Hazards, by number, no two of which one barrier could help to cover: at
  /// least as many barriers are needed. It may be fewer than `points` although
  /// those are the best: around a loop, or to have fewer in deeper loops.
  llvm::SmallVector<unsigned> certificate;
  /// No placement is better. Otherwise none of the barriers can be left out.
  bool isOptimal = false;
  /// Hazards, by number, that no barrier can cover: nothing lies between.
  llvm::SmallVector<unsigned> uncovered;
};

/// The hazards that barriers of warps, or of the block, have to cover, in a
/// program that takes apart those branches that warps take on their own.
struct WarpOrders {
  const SyncProgram &program;
  llvm::ArrayRef<SyncHazard> hazards;
  /// The point of this program for a point of the block's program; none if that
  /// is not known.
  llvm::function_ref<std::optional<SyncPoint>(SyncPoint)> getPoint;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_SYNCPROGRAM_H
