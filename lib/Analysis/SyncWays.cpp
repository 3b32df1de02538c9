//===- SyncWays.cpp - What lies between two steps -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SyncWays.h"
#include "llvm/ADT/DenseSet.h"

using namespace llvm;

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

unsigned SyncProgram::append(unsigned sequence, SyncNode::Kind kind) {
  SyncNode &node = nodes.emplace_back();
  node.kind = kind;
  node.sequence = sequence;
  node.index = sequences[sequence].items.size();
  unsigned number = nodes.size() - 1;
  sequences[sequence].items.push_back(number);
  return number;
}

unsigned SyncProgram::addPart(unsigned node) {
  unsigned sequence = sequences.size();
  sequences.emplace_back().parent = node;
  nodes[node].parts.push_back(sequence);
  return sequence;
}

bool isMetInArms(const SyncProgram &program, const SyncNode &branch,
                 function_ref<bool(unsigned)> isMet) {
  return !branch.parts.empty() && all_of(branch.parts, [&](unsigned arm) {
    return program.sequences[arm].isNeverTaken || isMet(arm);
  });
}

SmallVector<unsigned> getSyncParents(const SyncProgram &program,
                                     unsigned node) {
  SmallVector<unsigned> parents;
  while (std::optional<unsigned> parent =
             program.sequences[program.nodes[node].sequence].parent) {
    node = *parent;
    parents.push_back(node);
  }
  return parents;
}

unsigned getSyncLevel(const SyncProgram &program, unsigned sequence) {
  unsigned level = 0;
  while (std::optional<unsigned> parent = program.sequences[sequence].parent) {
    const SyncNode &node = program.nodes[*parent];
    level += node.kind == SyncNode::Loop;
    sequence = node.sequence;
  }
  return level;
}

//===----------------------------------------------------------------------===//
// Ways
//===----------------------------------------------------------------------===//

void SyncWays::walkGaps(unsigned sequence, unsigned first,
                        unsigned last) const {
  if (client.onRange && client.onRange(sequence, first, last))
    return;
  for (unsigned place = first; place <= last; ++place) {
    client.onGap({sequence, place});
    if (place == last)
      return;
    unsigned item = program.sequences[sequence].items[place];
    const SyncNode &node = program.nodes[item];
    if (node.kind == SyncNode::Loop)
      walkLoop(item);
    else if (node.kind == SyncNode::Branch)
      walkBranch(item);
    else if (node.kind == SyncNode::Barrier)
      client.onNode(item, turn);
  }
}

void SyncWays::walkArm(unsigned sequence) const {
  walkGaps(sequence, 0, program.sequences[sequence].items.size());
}

unsigned SyncWays::countWholeTurns(unsigned loop,
                                   SyncHazard::WholeTurn which) const {
  return hazard ? count(hazard->wholeTurns, std::pair(loop, which)) : 0;
}

void SyncWays::walkLoop(unsigned loop) const {
  const SyncNode &node = program.nodes[loop];
  unsigned body = node.parts.front();
  if (node.exit != 0)
    walkGaps(body, 0, node.exit);
  if (node.hasTurn || countWholeTurns(loop, SyncHazard::Passed) != 0)
    walkGaps(body, node.exit, program.sequences[body].items.size());
  else if (client.onLoop)
    client.onLoop(loop, turn);
}

void SyncWays::walkBranch(unsigned branch) const {
  const auto *arm = find_if(program.nodes[branch].parts, [&](unsigned part) {
    return hazard &&
           is_contained(hazard->taken, std::pair(unsigned(part), turn));
  });
  if (arm != program.nodes[branch].parts.end())
    walkArm(*arm);
  else
    client.onNode(branch, turn);
}

/// What is passed is in other turns of `loop` than the step.
void SyncWays::walkWholeTurns(unsigned loop, unsigned count) const {
  SyncTurn own = turn;
  turn.whole = loop;
  for (turn.number = 0; turn.number != count; ++turn.number)
    walkArm(program.nodes[loop].parts.front());
  turn = own;
}

/// A whole turn of `loop` behind that of the first step, which is in the item
/// at `place` of its body.
void SyncWays::walkTurnAfter(unsigned loop, unsigned place) const {
  unsigned after = countWholeTurns(loop, SyncHazard::AfterFirst);
  // What stands behind the test is still of the turn of what stands before it.
  if (after != 0 && place >= program.nodes[loop].exit)
    walkWholeTurns(loop, after);
  else if (after != 0 || countWholeTurns(loop, SyncHazard::Either) != 0)
    walkSomeTurn(loop);
}

void SyncWays::walkTurnBefore(unsigned loop) const {
  if (unsigned before = countWholeTurns(loop, SyncHazard::BeforeSecond))
    walkWholeTurns(loop, before);
  else if (countWholeTurns(loop, SyncHazard::Either) != 0)
    walkSomeTurn(loop);
}

/// What is passed in a turn of `loop` of which no more is known.
void SyncWays::walkSomeTurn(unsigned loop) const {
  SyncTurn own = turn;
  turn.isOther = true;
  walkArm(program.nodes[loop].parts.front());
  turn = own;
}

unsigned SyncWays::leave(unsigned node, unsigned sequence) const {
  while (program.nodes[node].sequence != sequence) {
    unsigned current = program.nodes[node].sequence;
    unsigned place = program.nodes[node].index;
    unsigned end = program.sequences[current].items.size();
    node = *program.sequences[current].parent;
    const SyncNode &parent = program.nodes[node];
    walkTurnAfter(node, place);
    if (parent.kind == SyncNode::Branch) {
      walkGaps(current, place + 1, end);
    } else if (place < parent.exit) {
      walkGaps(current, place + 1, parent.exit);
    } else {
      walkGaps(current, place + 1, end);
      turn.isOther = true; // the test comes in some later turn
      if (parent.exit != 0)
        walkGaps(current, 0, parent.exit);
      turn.isOther = false;
    }
  }
  return program.nodes[node].index;
}

unsigned SyncWays::enter(unsigned sequence, unsigned node) const {
  while (program.nodes[node].sequence != sequence) {
    unsigned current = program.nodes[node].sequence;
    walkGaps(current, 0, program.nodes[node].index);
    node = *program.sequences[current].parent;
    walkTurnBefore(node);
  }
  return program.nodes[node].index;
}

/// The sequences around a node, innermost first.
static SmallVector<unsigned> getSequences(const SyncProgram &program,
                                          unsigned node) {
  SmallVector<unsigned> sequences{program.nodes[node].sequence};
  for (unsigned parent : getSyncParents(program, node))
    sequences.push_back(program.nodes[parent].sequence);
  return sequences;
}

/// The place of the item of `sequence` that is `node` or contains it.
static unsigned getPlace(const SyncProgram &program, unsigned sequence,
                         unsigned node) {
  while (program.nodes[node].sequence != sequence)
    node = *program.sequences[program.nodes[node].sequence].parent;
  return program.nodes[node].index;
}

unsigned SyncWays::getCommonSequence() const {
  SmallVector<unsigned> around = getSequences(program, hazard->to);
  SmallDenseSet<unsigned> others(around.begin(), around.end());
  SmallVector<unsigned> sequences = getSequences(program, hazard->from);
  return *find_if(sequences,
                  [&](unsigned sequence) { return others.contains(sequence); });
}

bool SyncWays::hasWay() const {
  if (hazard->loop)
    return is_contained(getSyncParents(program, hazard->from), *hazard->loop) &&
           is_contained(getSyncParents(program, hazard->to), *hazard->loop);
  // Arms exclude each other, and nothing comes before itself.
  unsigned common = getCommonSequence();
  return getPlace(program, common, hazard->from) <
         getPlace(program, common, hazard->to);
}

void SyncWays::walkFirstTurn() const {
  if (!hazard->loop) {
    unsigned common = getCommonSequence();
    unsigned last = getPlace(program, common, hazard->to);
    walkGaps(common, leave(hazard->from, common) + 1, last);
    return;
  }
  unsigned body = program.nodes[*hazard->loop].parts.front();
  unsigned end = program.sequences[body].items.size();
  walkGaps(body, leave(hazard->from, body) + 1, end);
  if (hazard->isFar)
    walkWholeTurns(*hazard->loop, hazard->numWhole);
}

void SyncWays::walkSecondTurn() const {
  if (!hazard->loop) {
    enter(getCommonSequence(), hazard->to);
    return;
  }
  unsigned body = program.nodes[*hazard->loop].parts.front();
  walkGaps(body, 0, enter(body, hazard->to));
}

void SyncWays::walkFrom(const SyncHazard &hazard) const {
  SyncWays ways(*this, hazard);
  if (ways.hasWay())
    ways.walkFirstTurn();
}

void SyncWays::walkTo(const SyncHazard &hazard) const {
  SyncWays ways(*this, hazard);
  ways.turn.isSecond = true;
  if (ways.hasWay())
    ways.walkSecondTurn();
}

//===----------------------------------------------------------------------===//
// Barriers that are there
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
           (node.hasTurn && isPassed(body, node.exit, getEnd(body)));
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
  bool isPlain = hazard.wholeTurns.empty() && hazard.taken.empty();
  if (!isPlain)
    return mlir::workgroup::isCut(program, hazard, {});
  bool isMet = false;
  auto add = [&](unsigned sequence, unsigned first, unsigned last) {
    isMet |= isPassed(sequence, first, last);
    return true;
  };
  auto ignoreGap = [](SyncGap) {};
  auto ignoreNode = [](unsigned, const SyncTurn &) {};
  SyncWays(program, {ignoreGap, ignoreNode, nullptr, add}).walk(hazard);
  return isMet;
}

} // namespace mlir::workgroup
