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
  for (unsigned place = first; place <= last; ++place) {
    client.onGap({sequence, place});
    if (place == last)
      return;
    unsigned item = program.sequences[sequence].items[place];
    const SyncNode &node = program.nodes[item];
    if (node.kind == SyncNode::Loop)
      walkLoop(node);
    else if (node.kind != SyncNode::Step)
      client.onNode(item);
  }
}

void SyncWays::walkArm(unsigned sequence) const {
  walkGaps(sequence, 0, program.sequences[sequence].items.size());
}

void SyncWays::walkLoop(const SyncNode &loop) const {
  unsigned body = loop.parts.front();
  if (loop.exit != 0)
    walkGaps(body, 0, loop.exit);
  if (loop.hasTurn)
    walkGaps(body, loop.exit, program.sequences[body].items.size());
}

unsigned SyncWays::leave(unsigned node, unsigned sequence) const {
  while (program.nodes[node].sequence != sequence) {
    unsigned current = program.nodes[node].sequence;
    unsigned place = program.nodes[node].index;
    unsigned end = program.sequences[current].items.size();
    node = *program.sequences[current].parent;
    const SyncNode &parent = program.nodes[node];
    if (parent.kind == SyncNode::Branch) {
      walkGaps(current, place + 1, end);
    } else if (place < parent.exit) {
      walkGaps(current, place + 1, parent.exit);
    } else {
      walkGaps(current, place + 1, end);
      if (parent.exit != 0)
        walkGaps(current, 0, parent.exit);
    }
  }
  return program.nodes[node].index;
}

unsigned SyncWays::enter(unsigned sequence, unsigned node) const {
  while (program.nodes[node].sequence != sequence) {
    unsigned current = program.nodes[node].sequence;
    walkGaps(current, 0, program.nodes[node].index);
    node = *program.sequences[current].parent;
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

unsigned SyncWays::getCommonSequence(const SyncHazard &hazard) const {
  SmallVector<unsigned> around = getSequences(program, hazard.to);
  SmallDenseSet<unsigned> others(around.begin(), around.end());
  SmallVector<unsigned> sequences = getSequences(program, hazard.from);
  return *find_if(sequences,
                  [&](unsigned sequence) { return others.contains(sequence); });
}

bool SyncWays::hasWay(const SyncHazard &hazard) const {
  if (hazard.loop)
    return is_contained(getSyncParents(program, hazard.from), *hazard.loop) &&
           is_contained(getSyncParents(program, hazard.to), *hazard.loop);
  // Arms exclude each other, and nothing comes before itself.
  unsigned common = getCommonSequence(hazard);
  return getPlace(program, common, hazard.from) <
         getPlace(program, common, hazard.to);
}

void SyncWays::walkFrom(const SyncHazard &hazard) const {
  if (!hasWay(hazard))
    return;
  if (!hazard.loop) {
    unsigned common = getCommonSequence(hazard);
    unsigned last = getPlace(program, common, hazard.to);
    walkGaps(common, leave(hazard.from, common) + 1, last);
    return;
  }
  unsigned body = program.nodes[*hazard.loop].parts.front();
  unsigned end = program.sequences[body].items.size();
  walkGaps(body, leave(hazard.from, body) + 1, end);
  if (hazard.isFar)
    walkGaps(body, 0, end);
}

void SyncWays::walkTo(const SyncHazard &hazard) const {
  if (!hasWay(hazard))
    return;
  if (!hazard.loop) {
    enter(getCommonSequence(hazard), hazard.to);
    return;
  }
  unsigned body = program.nodes[*hazard.loop].parts.front();
  walkGaps(body, 0, enter(body, hazard.to));
}

} // namespace mlir::workgroup
