//===- ThreadConflictQuery.h - Two footprints, two threads ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A query takes two footprints and the relation of two threads (same block or
// two blocks, same or later iteration) and says whether the threads may touch
// one byte. It asks from cheap to dear: ranges; tables of all threads of the
// block; a system of integer constraints for two threads given as numbers;
// mixed-radix equations; the system for any two threads. The answer is none,
// possible with a reason, or certain with a witness: two threads and a place.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADCONFLICTQUERY_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADCONFLICTQUERY_H

#include "ConflictMeans.h"
#include "SymbolicFootprint.h"
#include "ThreadPairSystem.h"

namespace mlir::workgroup {

/// One question: two footprints, two threads.
class ThreadConflictQuery {
  using Footprint = SymbolicFootprint;
  using Form = SymbolicForm;
  using System = ThreadPairSystem;

public:
  ThreadConflictQuery(const ConflictMeans &means, const Footprint &first,
                      const Footprint &second, const PairRelation &relation);

  Conflict decide();
  /// True if ranges or tables show that there is none.
  bool isApart() { return isSeparate() || cannotMeet(); }
  /// False if a quick look shows that there is no conflict.
  bool isPossible();
  /// True if the threads of these numbers meet for certain.
  bool isCertain(std::pair<unsigned, unsigned> threads) {
    return tables && !isOfTwoBlocks() &&
           solve(threads).kind == Conflict::Certain;
  }

private:
  bool isOfTwoBlocks() const {
    return relation.threads == PairRelation::OfTwoBlocks;
  }
  /// The distance from the first place of a footprint to the last one along a
  /// coordinate; nothing if that is not known, or if there are places below the
  /// first.
  static std::optional<int64_t> getReach(const Footprint &footprint,
                                         unsigned coordinate);
  bool isSeparate();
  bool cannotMeet();
  bool cannotBeEqual();
  bool isToldByThreads() const;
  void addMeeting(System &system);
  void addAll(System &system);
  Conflict solve(std::optional<std::pair<unsigned, unsigned>> threads,
                 bool isRational = false);
  Conflict solve(System &system, bool areGiven, bool isRational);
  struct Mixture;
  std::optional<Mixture> getMixture();
  struct Differences;
  Differences findDifferences(const Mixture &mixture);
  bool isSeparate(const Mixture &mixture, const Differences &known);
  Conflict decideForAll();
  std::optional<Conflict> tryThreads(const Mixture &mixture);
  Conflict decideByThreads(Conflict conflict,
                           const std::optional<Mixture> &mixture);
  bool isSeparateByThreads(const Mixture &mixture);
  std::vector<ThreadTables::Table> getTraits(const Footprint &footprint);
  std::optional<ThreadCoordinates> getCoordinates(const Footprint &footprint,
                                                  ArrayRef<Form> own);
  bool isPair(unsigned first, unsigned second) const;
  std::optional<std::pair<unsigned, unsigned>> findPair(ArrayRef<unsigned> lhs,
                                                        ArrayRef<unsigned> rhs);
  System::Row addBox(System &system, const Footprint &footprint,
                     unsigned coordinate, System::Row place, System::Side side);
  Conflict::Witness makeWitness(System &system, ArrayRef<System::Row> place);

  SymbolicIndex &index;
  ThreadTables *tables;
  FactBounds &bounds;
  ConflictEffort &effort;
  const Footprint &first, &second;
  const PairRelation &relation;
  /// The coordinates without what is the same for both.
  SmallVector<Form, 2> firstOwn, secondOwn;
  bool mayBeSame, isAnybody;
  /// Pairs of threads that may meet, as far as they tell themselves.
  std::vector<std::pair<unsigned, unsigned>> meetings;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADCONFLICTQUERY_H
