//===- GivenBarriers.cpp - What given barriers cut ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GivenBarriers.h"
#include "SyncWays.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// At given gaps
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
                            [&](unsigned node, const SyncIteration &) {
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
    auto addNode = [&](unsigned node, const SyncIteration &) {
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
    return isMetInArms(program, node, [&](unsigned arm) {
      return isPassed(arm, 0, getEnd(arm));
    });
  }
  llvm_unreachable("a node of no kind");
}

bool BarrierCounts::isCut(const SyncHazard &hazard) const {
  // What a hazard knows of items is not in the numbers.
  bool isPlain = hazard.wholeIterations.empty() && hazard.taken.empty();
  if (!isPlain)
    return mlir::workgroup::isCut(program, hazard, {});
  bool isMet = false;
  auto add = [&](unsigned sequence, unsigned first, unsigned last) {
    isMet |= isPassed(sequence, first, last);
    return true;
  };
  auto ignoreGap = [](SyncGap) {};
  auto ignoreNode = [](unsigned, const SyncIteration &) {};
  SyncWays(program, {ignoreGap, ignoreNode, nullptr, add}).walk(hazard);
  return isMet;
}

} // namespace mlir::workgroup
