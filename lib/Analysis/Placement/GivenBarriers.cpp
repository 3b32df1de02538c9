//===- GivenBarriers.cpp - What given barriers cover ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GivenBarriers.h"
#include "HazardPaths.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// At given points
//===----------------------------------------------------------------------===//

namespace {

/// Tells whether barriers at given points stand on paths.
class GivenPoints {
public:
  GivenPoints(const SyncProgram &program, ArrayRef<SyncPoint> points)
      : program(program), points(points.begin(), points.end()) {
    sort(this->points);
  }

  bool isCovered(const SyncHazard &hazard) const {
    return isMet([&](const HazardPaths &paths) { paths.walk(hazard); });
  }
  /// The same for who passes a barrier, or a branch from its start to its end.
  bool covers(unsigned number) const {
    const SyncNode &node = program.nodes[number];
    return node.kind == SyncNode::Barrier ||
           isMetInRegions(program, node, [&](unsigned region) {
             return isMet(
                 [&](const HazardPaths &paths) { paths.walkRegion(region); });
           });
  }

private:
  bool isMet(function_ref<void(const HazardPaths &)> walk) const {
    bool result = false;
    walk(HazardPaths(program, {[&](SyncPoint point) {
                                 result |= std::binary_search(
                                     points.begin(), points.end(), point);
                               },
                               [&](unsigned node, const SyncIteration &) {
                                 result |= result || covers(node);
                               }}));
    return result;
  }

  const SyncProgram &program;
  SmallVector<SyncPoint> points;
};

} // namespace

bool isCovered(const SyncProgram &program, const SyncHazard &hazard,
               ArrayRef<SyncPoint> points) {
  return GivenPoints(program, points).isCovered(hazard);
}

SmallVector<unsigned> findOpen(const SyncProgram &program,
                               ArrayRef<SyncHazard> hazards) {
  BarrierCounts counts(program);
  SmallVector<unsigned> open;
  for (auto [number, hazard] : enumerate(hazards))
    if (!counts.isCovered(hazard))
      open.push_back(number);
  return open;
}

std::vector<SmallVector<unsigned, 0>> findCovered(const SyncProgram &program,
                                                  ArrayRef<SyncHazard> hazards,
                                                  ArrayRef<SyncPoint> points) {
  DenseMap<std::pair<unsigned, unsigned>, unsigned> numbers;
  // The branches that a point covers by itself: other regions have barriers.
  DenseMap<unsigned, SmallVector<unsigned>> inside;
  for (auto [number, point] : enumerate(points)) {
    numbers[{point.sequence, point.index}] = number;
    GivenPoints given(program, point);
    for (auto node = program.sequences[point.sequence].parent; node;
         node = program.sequences[program.nodes[*node].sequence].parent)
      if (program.nodes[*node].kind == SyncNode::Branch && given.covers(*node))
        inside[*node].push_back(number);
  }
  std::vector<SmallVector<unsigned, 0>> cover(points.size());
  for (unsigned number : findOpen(program, hazards)) {
    SmallDenseSet<unsigned> covering;
    auto addPoint = [&](SyncPoint point) {
      auto it = numbers.find({point.sequence, point.index});
      if (it != numbers.end())
        covering.insert(it->second);
    };
    auto addNode = [&](unsigned node, const SyncIteration &) {
      if (auto it = inside.find(node); it != inside.end())
        covering.insert_range(it->second);
    };
    HazardPaths(program, {addPoint, addNode}).walk(hazards[number]);
    for (unsigned point : covering)
      cover[point].push_back(number);
  }
  return cover;
}

//===----------------------------------------------------------------------===//
// Among the nodes
//===----------------------------------------------------------------------===//

/// Sequences inside of a node have greater numbers than that around it.
BarrierCounts::BarrierCounts(const SyncProgram &program)
    : program(program), before(program.sequences.size()) {
  for (unsigned sequence = before.size(); sequence-- > 0;) {
    before[sequence].push_back(0);
    for (unsigned item : program.sequences[sequence].items)
      before[sequence].push_back(before[sequence].back() + isMetIn(item));
  }
}

bool BarrierCounts::isMetIn(unsigned number) const {
  const SyncNode &node = program.nodes[number];
  auto getEnd = [&](unsigned part) { return before[part].size() - 1; };
  switch (node.kind) {
  case SyncNode::Step:
    return false;
  case SyncNode::Barrier:
    return true;
  case SyncNode::Loop: {
    unsigned body = node.parts.front();
    return isPassed(body, 0, node.exit) ||
           (node.hasIteration && isPassed(body, node.exit, getEnd(body)));
  }
  case SyncNode::Branch:
    return isMetInRegions(program, node, [&](unsigned region) {
      return isPassed(region, 0, getEnd(region));
    });
  }
  llvm_unreachable("a node of no kind");
}

bool BarrierCounts::isCovered(const SyncHazard &hazard) const {
  // What a hazard knows of items is not in the numbers.
  bool isPlain = hazard.wholeIterations.empty() && hazard.taken.empty();
  if (!isPlain)
    return mlir::workgroup::isCovered(program, hazard, {});
  bool isMet = false;
  auto add = [&](unsigned sequence, unsigned first, unsigned last) {
    isMet |= isPassed(sequence, first, last);
    return true;
  };
  auto ignorePoint = [](SyncPoint) {};
  auto ignoreNode = [](unsigned, const SyncIteration &) {};
  HazardPaths(program, {ignorePoint, ignoreNode, nullptr, add}).walk(hazard);
  return isMet;
}

} // namespace mlir::workgroup
