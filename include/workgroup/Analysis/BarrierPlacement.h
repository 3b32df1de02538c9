//===- BarrierPlacement.h - Where barriers order accesses -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel as barriers see it: steps in sequences, loops and branches that all
// threads take together, and hazards, pairs of steps that a barrier has to
// separate on every way from the one to the other. This decides which hazards
// are cut, and finds the fewest places for barriers that cut all: fewest in the
// deepest loops first, then in those around them (lexicographic, as in Darte
// and Schreiber, "A linear-time algorithm for optimal barrier placement", PPoPP
// 2005). It knows nothing of the IR.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_ANALYSIS_BARRIERPLACEMENT_H
#define WORKGROUP_ANALYSIS_BARRIERPLACEMENT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <tuple>
#include <vector>

namespace mlir::workgroup {

/// What stands in a sequence.
struct SyncNode {
  enum Kind { Step, Barrier, Loop, Branch } kind = Step;
  /// The sequence that the node stands in, and its place there.
  unsigned sequence = 0, index = 0;
  /// Of a loop, its body; of a branch, its arms, an empty one for none. One of
  /// the arms is taken.
  llvm::SmallVector<unsigned, 2> parts;
  /// Of a loop: it is left, or gone on with, before item number `exit` of its
  /// body. 0 for a loop that tests first; what stands before is executed once
  /// more than the rest.
  unsigned exit = 0;
  /// Of a loop: what follows `exit` is executed at least once.
  bool hasTurn = false;
  /// Of what stands in place of a call, the number of the call: no barrier is
  /// put into it, nor between nodes of the same call. They follow each other.
  std::optional<unsigned> call;
  /// Of a barrier: it stays, whatever others do.
  bool isFixed = false;
};

/// Items one after the other.
struct SyncSequence {
  llvm::SmallVector<unsigned, 8> items;
  /// The node that it is a part of; none for the outermost one, number 0.
  std::optional<unsigned> parent;
  /// Of an arm: no thread ever takes it, so that it needs no barrier.
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

/// In which turn of the loops around it a way passes something: in that of the
/// first step, or of the second one; in the whole turn of a loop that is next
/// to it; or in another one.
struct SyncTurn {
  bool isSecond = false, isOther = false;
  std::optional<unsigned> whole;
  /// Of several whole turns, which one, counted from 0.
  unsigned number = 0;

  bool operator==(const SyncTurn &other) const {
    return isSecond == other.isSecond && isOther == other.isOther &&
           whole == other.whole && number == other.number;
  }
};

/// Two steps between which threads have to meet: `from` comes first, and in the
/// same turn of all loops around both; or, if `loop` (around both) is given,
/// `to` is in a later turn of it than `from`: in the next one or any later, or,
/// if `isFar`, in none earlier than the one after the next. Then the turns of
/// loops inside of `loop` have nothing to do with each other.
struct SyncHazard {
  unsigned from = 0, to = 0;
  std::optional<unsigned> loop;
  bool isFar = false;
  /// Loops of which at least one whole turn lies between, or as many as they
  /// are named: after the turn of `from` or before that of `to`, one of the
  /// two, or of a loop that is passed.
  enum WholeTurn { AfterFirst, BeforeSecond, Either, Passed };
  llvm::SmallVector<std::pair<unsigned, WholeTurn>, 0> wholeTurns = {};
  /// How many whole turns of `loop` lie between at least, if it `isFar`.
  unsigned numWhole = 1;
  /// Arms, by their sequences, that are taken where a way passes their branch
  /// in such a turn.
  llvm::SmallVector<std::pair<unsigned, SyncTurn>, 0> taken = {};
};

/// A place for a barrier: before item number `index` of a sequence; its end, if
/// there are no more. The one at the `exit` of a loop is before the test, so
/// that all pass it who leave or go on; only in a loop that tests first, where
/// `exit` is 0, it is in the body, behind the test.
struct SyncGap {
  unsigned sequence = 0, index = 0;

  bool operator==(const SyncGap &other) const {
    return sequence == other.sequence && index == other.index;
  }
  bool operator<(const SyncGap &other) const {
    return std::tie(sequence, index) < std::tie(other.sequence, other.index);
  }
};

/// True if barriers at `gaps`, and those that are among the nodes, stand on
/// every way from `hazard.from` to `hazard.to`. False if there is no way: steps
/// of different arms exclude each other, and none comes before itself.
bool isCut(const SyncProgram &program, const SyncHazard &hazard,
           llvm::ArrayRef<SyncGap> gaps);

/// Barriers that cut hazards.
struct SyncPlacement {
  /// In ascending order; those of warps, if they are asked for, apart.
  llvm::SmallVector<SyncGap> gaps, ofWarps;
  /// Hazards, by number, no two of which one barrier could help to cut: at
  /// least as many barriers are needed. It may be fewer than `gaps` although
  /// those are the best: around a loop, or to have fewer in deeper loops.
  llvm::SmallVector<unsigned> certificate;
  /// No placement is better. Otherwise none of the barriers can be left out.
  bool isOptimal = false;
  /// Hazards, by number, that no barrier can cut: nothing lies between.
  llvm::SmallVector<unsigned> uncut;
};

/// The fewest barriers that cut `hazards`. Those among the nodes are taken as
/// they are; or, with `replaceExisting`, count as if they were not there. Among
/// the best placements one is found that has most of its gaps right behind a
/// barrier: such a gap says that this barrier stays. Otherwise a gap is as late
/// as it can be. Takes a limited time; only if that is used up, which takes
/// some hundreds of entangled branches and loops, the result may not be
/// optimal.
SyncPlacement placeBarriers(const SyncProgram &program,
                            llvm::ArrayRef<SyncHazard> hazards,
                            bool replaceExisting = false);

/// Of `hazards`, by number, those that barriers among the nodes do not cut.
llvm::SmallVector<unsigned> findOpen(const SyncProgram &program,
                                     llvm::ArrayRef<SyncHazard> hazards);

/// Of `hazards`, by number, those that no barrier can cut, beside those among
/// the nodes: what is `uncut` in their placement.
llvm::SmallVector<unsigned> findUncut(const SyncProgram &program,
                                      llvm::ArrayRef<SyncHazard> hazards);

/// Of each of `gaps`, by number, the `hazards` that a barrier there cuts,
/// beside those among the nodes, and that these do not cut.
std::vector<llvm::SmallVector<unsigned, 0>>
findCut(const SyncProgram &program, llvm::ArrayRef<SyncHazard> hazards,
        llvm::ArrayRef<SyncGap> gaps);

/// What barriers of warps, or of the block, have to cut, in a program that
/// takes branches apart which warps take on their own.
struct WarpOrders {
  const SyncProgram &program;
  llvm::ArrayRef<SyncHazard> hazards;
  /// Where in it a gap of the block's program is; none if that is not known.
  llvm::function_ref<std::optional<SyncGap>(SyncGap)> getGap;
};

/// The same, where barriers of warps come on top: the fewest of both, those of
/// the block before those of warps at each level.
SyncPlacement placeBarriers(const SyncProgram &program,
                            llvm::ArrayRef<SyncHazard> hazards,
                            const WarpOrders &warps);

/// The fewest of the barriers among the nodes that cut `hazards`; the others
/// could go. Each gap is the one right behind a barrier that stays.
SyncPlacement chooseBarriers(const SyncProgram &program,
                             llvm::ArrayRef<SyncHazard> hazards);
/// The same, where those of the block may become those of warps.
SyncPlacement chooseBarriers(const SyncProgram &program,
                             llvm::ArrayRef<SyncHazard> hazards,
                             const WarpOrders &warps);

} // namespace mlir::workgroup

#endif // WORKGROUP_ANALYSIS_BARRIERPLACEMENT_H
