//===- BarrierPlacement.cpp - Where barriers order accesses ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BarrierPlacement.h"
#include "LazyPlacement.h"
#include "PlacementProblem.h"
#include "SyncWays.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Barriers that could be
//===----------------------------------------------------------------------===//

namespace {

/// Tells whether barriers at some of the gaps, beside those among the nodes,
/// cut, with as little work for long ways as for short ones.
class CountedGaps {
public:
  CountedGaps(const SyncProgram &program, function_ref<bool(SyncGap)> isOfThem);

  bool isCut(const SyncHazard &hazard) {
    return isMet([&](const SyncWays &ways) { ways.walk(hazard); });
  }

private:
  bool isMet(function_ref<void(const SyncWays &)> walk);
  bool cuts(unsigned node);

  const SyncProgram &program;
  /// Of each sequence, how many of them are before a gap.
  SmallVector<SmallVector<unsigned, 0>, 0> before;
  DenseMap<unsigned, bool> cutting;
};

} // namespace

CountedGaps::CountedGaps(const SyncProgram &program,
                         function_ref<bool(SyncGap)> isOfThem)
    : program(program) {
  for (auto [number, sequence] : enumerate(program.sequences)) {
    SmallVector<unsigned, 0> &counts = before.emplace_back();
    counts.push_back(0);
    for (unsigned index = 0; index <= sequence.items.size(); ++index)
      counts.push_back(counts.back() + isOfThem({unsigned(number), index}));
  }
}

bool CountedGaps::isMet(function_ref<void(const SyncWays &)> walk) {
  bool result = false;
  auto ignore = [](SyncGap) {};
  auto addNode = [&](unsigned node, const SyncIteration &) {
    result = result || cuts(node);
  };
  auto addRange = [&](unsigned sequence, unsigned first, unsigned last) {
    result |= before[sequence][first] != before[sequence][last + 1];
    return result;
  };
  walk(SyncWays(program, {ignore, addNode, nullptr, addRange}));
  return result;
}

bool CountedGaps::cuts(unsigned number) {
  const SyncNode &node = program.nodes[number];
  if (node.kind == SyncNode::Barrier)
    return true;
  if (auto it = cutting.find(number); it != cutting.end())
    return it->second;
  bool result = isMetInArms(program, node, [&](unsigned arm) {
    return isMet([&](const SyncWays &ways) { ways.walkArm(arm); });
  });
  return cutting[number] = result;
}

SmallVector<unsigned> findUncut(const SyncProgram &program,
                                ArrayRef<SyncHazard> hazards) {
  PlacementCandidates candidates(program, hazards, Existing::Keep);
  CountedGaps possible(program,
                       [&](SyncGap gap) { return candidates.contains(gap); });
  SmallVector<unsigned> uncut;
  for (auto [number, hazard] : enumerate(hazards))
    if (!possible.isCut(hazard))
      uncut.push_back(number);
  return uncut;
}

SmallVector<unsigned> findOpen(const SyncProgram &program,
                               ArrayRef<SyncHazard> hazards,
                               ArrayRef<SyncGap> gaps) {
  SmallVector<SyncGap> sorted(gaps);
  sort(sorted);
  CountedGaps given(program, [&](SyncGap gap) {
    return std::binary_search(sorted.begin(), sorted.end(), gap);
  });
  SmallVector<unsigned> open;
  for (auto [number, hazard] : enumerate(hazards))
    if (!given.isCut(hazard))
      open.push_back(number);
  return open;
}

//===----------------------------------------------------------------------===//
// The fewest barriers
//===----------------------------------------------------------------------===//

SyncPlacement placeBarriers(const SyncProgram &program,
                            ArrayRef<SyncHazard> hazards,
                            bool replaceExisting) {
  if (!replaceExisting && isWorthLaziness(hazards))
    return placeLazily(program, hazards);
  Existing existing = replaceExisting ? Existing::Replace : Existing::Keep;
  return PlacementProblem({program, hazards}, existing).place();
}

SyncPlacement placeBarriers(const SyncProgram &program,
                            ArrayRef<SyncHazard> hazards,
                            const WarpOrders &warps) {
  return PlacementProblem({program, hazards}, warps, Existing::Keep).place();
}

SyncPlacement chooseBarriers(const SyncProgram &program,
                             ArrayRef<SyncHazard> hazards) {
  return PlacementProblem({program, hazards}, Existing::Choose).place();
}

SyncPlacement chooseBarriers(const SyncProgram &program,
                             ArrayRef<SyncHazard> hazards,
                             const WarpOrders &warps) {
  return PlacementProblem({program, hazards}, warps, Existing::Choose).place();
}

} // namespace mlir::workgroup
