//===- BarrierPlacement.cpp - Where barriers order accesses ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/BarrierPlacement.h"
#include "LazyPlacement.h"
#include "PlacementProblem.h"
#include "SyncWays.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Given barriers
//===----------------------------------------------------------------------===//

namespace {

/// Tells whether barriers at given gaps stand on ways.
class GivenGaps {
public:
  GivenGaps(const SyncProgram &program, ArrayRef<SyncGap> gaps)
      : program(program), gaps(gaps.begin(), gaps.end()) {
    sort(this->gaps);
  }

  bool isCut(const SyncHazard &hazard) const {
    return isMet([&](const SyncWays &ways) { ways.walk(hazard); });
  }
  /// The same for who passes a barrier, or a branch from its start to its end.
  bool cuts(unsigned number) const {
    const SyncNode &node = program.nodes[number];
    return node.kind == SyncNode::Barrier ||
           isMetInArms(program, node, [&](unsigned arm) {
             return isMet([&](const SyncWays &ways) { ways.walkArm(arm); });
           });
  }

private:
  bool isMet(function_ref<void(const SyncWays &)> walk) const {
    bool result = false;
    walk(SyncWays(program, {[&](SyncGap gap) {
                              result |= std::binary_search(gaps.begin(),
                                                           gaps.end(), gap);
                            },
                            [&](unsigned node, const SyncTurn &) {
                              result |= result || cuts(node);
                            }}));
    return result;
  }

  const SyncProgram &program;
  SmallVector<SyncGap> gaps;
};

} // namespace

bool isCut(const SyncProgram &program, const SyncHazard &hazard,
           ArrayRef<SyncGap> gaps) {
  return GivenGaps(program, gaps).isCut(hazard);
}

SmallVector<unsigned> findOpen(const SyncProgram &program,
                               ArrayRef<SyncHazard> hazards) {
  BarrierCounts counts(program);
  SmallVector<unsigned> open;
  for (auto [number, hazard] : enumerate(hazards))
    if (!counts.isCut(hazard))
      open.push_back(number);
  return open;
}

std::vector<SmallVector<unsigned, 0>> findCut(const SyncProgram &program,
                                              ArrayRef<SyncHazard> hazards,
                                              ArrayRef<SyncGap> gaps) {
  DenseMap<std::pair<unsigned, unsigned>, unsigned> numbers;
  // The branches that a gap cuts by itself: other arms have barriers.
  DenseMap<unsigned, SmallVector<unsigned>> inside;
  for (auto [number, gap] : enumerate(gaps)) {
    numbers[{gap.sequence, gap.index}] = number;
    GivenGaps given(program, gap);
    for (auto node = program.sequences[gap.sequence].parent; node;
         node = program.sequences[program.nodes[*node].sequence].parent)
      if (program.nodes[*node].kind == SyncNode::Branch && given.cuts(*node))
        inside[*node].push_back(number);
  }
  std::vector<SmallVector<unsigned, 0>> cut(gaps.size());
  for (unsigned number : findOpen(program, hazards)) {
    SmallDenseSet<unsigned> cutting;
    auto addGap = [&](SyncGap gap) {
      auto it = numbers.find({gap.sequence, gap.index});
      if (it != numbers.end())
        cutting.insert(it->second);
    };
    auto addNode = [&](unsigned node, const SyncTurn &) {
      if (auto it = inside.find(node); it != inside.end())
        cutting.insert_range(it->second);
    };
    SyncWays(program, {addGap, addNode}).walk(hazards[number]);
    for (unsigned gap : cutting)
      cut[gap].push_back(number);
  }
  return cut;
}

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
  auto addNode = [&](unsigned node, const SyncTurn &) {
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
