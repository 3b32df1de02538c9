//===- BarrierPlacement.cpp - Where barriers order accesses ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BarrierPlacement.h"
#include "HazardPaths.h"
#include "PlacementProblem.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Barriers that could be
//===----------------------------------------------------------------------===//

namespace {

/// Tells whether barriers at some of the points, beside those among the nodes,
/// cover, with as little work for long paths as for short ones.
class CountedPoints {
public:
  CountedPoints(const SyncProgram &program,
                function_ref<bool(SyncPoint)> isOfThem);

  bool isCovered(const SyncHazard &hazard) {
    return isMet([&](const HazardPaths &paths) { paths.walk(hazard); });
  }

private:
  bool isMet(function_ref<void(const HazardPaths &)> walk);
  bool covers(unsigned node);

  const SyncProgram &program;
  /// For each sequence and each point of it, the number of them before the
  /// point.
  SmallVector<SmallVector<unsigned, 0>, 0> before;
  DenseMap<unsigned, bool> covering;
};

} // namespace

CountedPoints::CountedPoints(const SyncProgram &program,
                             function_ref<bool(SyncPoint)> isOfThem)
    : program(program) {
  for (auto [number, sequence] : enumerate(program.sequences)) {
    SmallVector<unsigned, 0> &counts = before.emplace_back();
    counts.push_back(0);
    for (unsigned index = 0; index <= sequence.items.size(); ++index)
      counts.push_back(counts.back() + isOfThem({unsigned(number), index}));
  }
}

bool CountedPoints::isMet(function_ref<void(const HazardPaths &)> walk) {
  bool result = false;
  auto ignore = [](SyncPoint) {};
  auto addNode = [&](unsigned node, const SyncIteration &) {
    result = result || covers(node);
  };
  auto addRange = [&](unsigned sequence, unsigned first, unsigned last) {
    result |= before[sequence][first] != before[sequence][last + 1];
    return result;
  };
  walk(HazardPaths(program, {ignore, addNode, nullptr, addRange}));
  return result;
}

bool CountedPoints::covers(unsigned number) {
  const SyncNode &node = program.nodes[number];
  if (node.kind == SyncNode::Barrier)
    return true;
  if (auto it = covering.find(number); it != covering.end())
    return it->second;
  bool result = isMetInRegions(program, node, [&](unsigned region) {
    return isMet([&](const HazardPaths &paths) { paths.walkRegion(region); });
  });
  return covering[number] = result;
}

SmallVector<unsigned> findUncovered(const SyncProgram &program,
                                    ArrayRef<SyncHazard> hazards) {
  PlacementCandidates candidates(program, hazards, Existing::Keep);
  CountedPoints possible(
      program, [&](SyncPoint point) { return candidates.contains(point); });
  SmallVector<unsigned> uncovered;
  for (auto [number, hazard] : enumerate(hazards))
    if (!possible.isCovered(hazard))
      uncovered.push_back(number);
  return uncovered;
}

//===----------------------------------------------------------------------===//
// The fewest barriers
//===----------------------------------------------------------------------===//

SyncPlacement placeBarriers(const SyncProgram &program,
                            ArrayRef<SyncHazard> hazards,
                            bool replaceExisting) {
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
