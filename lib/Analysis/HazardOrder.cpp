//===- HazardOrder.cpp - What barriers order, turn by turn ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/Hazards.h"

namespace mlir::workgroup {

namespace {
/// A loop of which each turn meets a barrier from `at` to `at`: what stands in
/// its body itself, so that each turn gets there.
struct Meeting {
  unsigned loop, at;
};
} // namespace

/// The loops around `step`, but not around `other` in the same turn, of which
/// each turn meets a barrier.
static SmallVector<Meeting> findMeeting(const SyncTree &tree, unsigned step,
                                        unsigned other,
                                        const SyncHazard &hazard,
                                        ArrayRef<SyncGap> gaps) {
  const SyncProgram &program = tree.getProgram();
  SmallVector<Meeting> meeting;
  auto around = tree.getLoopsAround(step), others = tree.getLoopsAround(other);
  for (auto [depth, loop] : llvm::enumerate(around)) {
    bool isCommon = depth < others.size() && others[depth] == loop;
    bool isInCarrier =
        hazard.loop &&
        llvm::is_contained(ArrayRef(around).take_front(depth), *hazard.loop);
    bool isOpen = hazard.loop ? isInCarrier : !isCommon;
    if (!isOpen)
      continue;
    unsigned at = step;
    while (program.sequences[program.nodes[at].sequence].parent != loop)
      at = *program.sequences[program.nodes[at].sequence].parent;
    if (isCut(program, {at, at, loop, false}, gaps))
      meeting.push_back({loop, at});
  }
  return meeting;
}

/// That the first access, or the wait for it, is executed for the last time in
/// `loop`; nothing if some turns do without it.
static std::optional<LoopEnd> getLastTurn(const SyncTree &tree,
                                          const Hazard &hazard, unsigned loop) {
  unsigned from = hazard.order.from, first = tree.getStep(hazard.first);
  int64_t turns = 0;
  const AsyncCompletion *done = tree.getCompletion(hazard.first);
  if (done && done->inLoop && done->inLoop->step == from) {
    if (!done->inLoop->isAround || done->inLoop->loop != loop)
      return std::nullopt; // of other turns than the access
    turns = done->inLoop->turns;
  }
  LoopEnd end;
  end.loop = tree.getLoop(loop);
  end.isBeforeTest = tree.isBeforeTest(first, loop);
  end.most = turns + !tree.isBeforeTest(from, loop) + end.isBeforeTest;
  return end;
}

/// Loops that every way without a barrier skips, and that always have as many
/// turns.
static SmallVector<unsigned> findSkipped(const SyncTree &tree,
                                         SymbolicIndex &index,
                                         const SyncHazard &hazard,
                                         ArrayRef<SyncGap> gaps) {
  constexpr unsigned kMaxLoops = 16;
  SmallVector<unsigned> skipped;
  SyncProgram program = tree.getProgram();
  unsigned count = 0;
  for (auto [number, node] : llvm::enumerate(program.nodes)) {
    if (node.kind != SyncNode::Loop || node.hasTurn || ++count > kMaxLoops ||
        !index.isSteady(tree.getLoop(number)))
      continue;
    node.hasTurn = true;
    if (isCut(program, hazard, gaps))
      skipped.push_back(number);
    node.hasTurn = false;
  }
  return skipped;
}

void removeOrdered(std::vector<Hazard> &hazards, const SyncTree &tree,
                   ThreadConflicts &conflicts, ArrayRef<SyncGap> gaps) {
  llvm::erase_if(hazards, [&](Hazard &hazard) {
    const SyncHazard &order = hazard.order;
    if (isCut(tree.getProgram(), order, gaps))
      return false;
    PairRelation relation = hazard.relation;
    for (Meeting meeting : findMeeting(tree, order.from, order.to, order, gaps))
      if (std::optional<LoopEnd> end = getLastTurn(tree, hazard, meeting.loop))
        relation.ends.push_back(*end);
    for (Meeting meeting : findMeeting(tree, order.to, order.from, order, gaps))
      relation.turns.push_back({tree.getLoop(meeting.loop), 0, 0});
    for (unsigned loop : findSkipped(tree, conflicts.getIndex(), order, gaps)) {
      LoopEnd none;
      none.loop = tree.getLoop(loop);
      none.most = 0;
      none.isFromStart = true;
      relation.ends.push_back(none);
    }
    if (relation.ends.size() == hazard.relation.ends.size() &&
        relation.turns.size() == hazard.relation.turns.size())
      return false;
    hazard.conflict = conflicts.find(hazard.first, hazard.second, relation);
    return !hazard.conflict;
  });
}

SmallVector<SyncHazard> getOrdered(ArrayRef<Hazard> hazards,
                                   const SyncTree &tree) {
  SmallVector<SyncHazard> ordered;
  for (const Hazard &hazard : hazards) {
    const SyncHazard &order = hazard.order;
    if (isCut(tree.getProgram(), order, {})) {
      ordered.push_back(order);
      continue;
    }
    for (auto [loop, at] : findMeeting(tree, order.from, order.to, order, {}))
      ordered.push_back({at, at, loop, false});
    for (auto [loop, at] : findMeeting(tree, order.to, order.from, order, {}))
      ordered.push_back({at, at, loop, false});
  }
  return ordered;
}

} // namespace mlir::workgroup
