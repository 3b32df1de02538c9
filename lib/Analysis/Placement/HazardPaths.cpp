//===- HazardPaths.cpp - What lies between two steps ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HazardPaths.h"
#include "llvm/ADT/DenseSet.h"

using namespace llvm;

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

bool isMetInRegions(const SyncProgram &program, const SyncNode &branch,
                    function_ref<bool(unsigned)> isMet) {
  return !branch.parts.empty() && all_of(branch.parts, [&](unsigned region) {
    return program.sequences[region].isNeverTaken || isMet(region);
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

/// True if `parent` is around `node`.
static bool isAround(const SyncProgram &program, unsigned parent,
                     unsigned node) {
  std::optional<unsigned> at = node;
  while ((at = program.sequences[program.nodes[*at].sequence].parent))
    if (*at == parent)
      return true;
  return false;
}

/// The innermost sequence around both nodes: those inside of a node have
/// greater numbers than that around it.
static unsigned getCommonSequence(const SyncProgram &program, unsigned lhs,
                                  unsigned rhs) {
  auto leave = [&](unsigned sequence) {
    return program.nodes[*program.sequences[sequence].parent].sequence;
  };
  unsigned left = program.nodes[lhs].sequence;
  unsigned right = program.nodes[rhs].sequence;
  while (left != right)
    left > right ? left = leave(left) : right = leave(right);
  return left;
}

/// The place of the item of `sequence` that is `node` or contains it.
static unsigned getPlace(const SyncProgram &program, unsigned sequence,
                         unsigned node) {
  while (program.nodes[node].sequence != sequence)
    node = *program.sequences[program.nodes[node].sequence].parent;
  return program.nodes[node].index;
}

bool isBefore(const SyncProgram &program, unsigned first, unsigned second) {
  unsigned common = getCommonSequence(program, first, second);
  return getPlace(program, common, first) < getPlace(program, common, second);
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
// Paths
//===----------------------------------------------------------------------===//

void HazardPaths::walkPoints(unsigned sequence, unsigned first,
                             unsigned last) const {
  if (client.onRange && client.onRange(sequence, first, last))
    return;
  for (unsigned place = first; place <= last; ++place) {
    client.onPoint({sequence, place});
    if (place == last)
      return;
    unsigned item = program.sequences[sequence].items[place];
    const SyncNode &node = program.nodes[item];
    if (node.kind == SyncNode::Loop)
      walkLoop(item);
    else if (node.kind == SyncNode::Branch)
      walkBranch(item);
    else if (node.kind == SyncNode::Barrier)
      client.onNode(item, iteration);
  }
}

void HazardPaths::walkRegion(unsigned sequence) const {
  walkPoints(sequence, 0, program.sequences[sequence].items.size());
}

unsigned
HazardPaths::countWholeIterations(unsigned loop,
                                  SyncHazard::WholeIteration which) const {
  return hazard ? count(hazard->wholeIterations, std::pair(loop, which)) : 0;
}

void HazardPaths::walkLoop(unsigned loop) const {
  const SyncNode &node = program.nodes[loop];
  unsigned body = node.parts.front();
  if (node.exit != 0)
    walkPoints(body, 0, node.exit);
  if (node.hasIteration || countWholeIterations(loop, SyncHazard::Passed) != 0)
    walkPoints(body, node.exit, program.sequences[body].items.size());
  else if (client.onLoop)
    client.onLoop(loop, iteration);
}

void HazardPaths::walkBranch(unsigned branch) const {
  const auto *region = find_if(program.nodes[branch].parts, [&](unsigned part) {
    return hazard &&
           is_contained(hazard->taken, std::pair(unsigned(part), iteration));
  });
  if (region != program.nodes[branch].parts.end())
    walkRegion(*region);
  else
    client.onNode(branch, iteration);
}

/// What is passed is in other iterations of `loop` than the step.
void HazardPaths::walkWholeIterations(unsigned loop, unsigned count) const {
  SyncIteration own = iteration;
  iteration.whole = loop;
  for (iteration.number = 0; iteration.number != count; ++iteration.number)
    walkRegion(program.nodes[loop].parts.front());
  iteration = own;
}

/// Whole iterations of `loop` behind that of the first step, which is in the
/// item at `place` of its body. What stands behind the test is of the same
/// iteration as what stands before it.
void HazardPaths::walkIterationAfter(unsigned loop, unsigned place) const {
  const SyncNode &node = program.nodes[loop];
  unsigned count = countWholeIterations(loop, SyncHazard::AfterFirst);
  if (place >= node.exit)
    return walkWholeIterations(loop, count);
  unsigned body = node.parts.front();
  unsigned end = program.sequences[body].items.size();
  SyncIteration own = iteration;
  for (unsigned number = 0; number != count; ++number) {
    walkPoints(body, node.exit, end);
    iteration.whole = loop;
    iteration.number = number;
    walkPoints(body, 0, node.exit);
  }
  iteration = own;
}

/// The iterations of which it is not known on which side they are.
void HazardPaths::walkIterationsOnEitherSide() const {
  iteration.isOther = true;
  for (auto [loop, which] : hazard->wholeIterations)
    if (which == SyncHazard::OnEitherSide)
      walkRegion(program.nodes[loop].parts.front());
  iteration.isOther = false;
}

void HazardPaths::walkIterationBefore(unsigned loop) const {
  walkWholeIterations(loop,
                      countWholeIterations(loop, SyncHazard::BeforeSecond));
}

unsigned HazardPaths::leave(unsigned node, unsigned sequence) const {
  while (program.nodes[node].sequence != sequence) {
    unsigned current = program.nodes[node].sequence;
    unsigned place = program.nodes[node].index;
    unsigned end = program.sequences[current].items.size();
    node = *program.sequences[current].parent;
    const SyncNode &parent = program.nodes[node];
    walkIterationAfter(node, place);
    if (parent.kind == SyncNode::Branch) {
      walkPoints(current, place + 1, end);
    } else if (place < parent.exit) {
      walkPoints(current, place + 1, parent.exit);
    } else {
      walkPoints(current, place + 1, end);
      iteration.isOther = true; // the test comes in some later iteration
      if (parent.exit != 0)
        walkPoints(current, 0, parent.exit);
      iteration.isOther = false;
    }
  }
  return program.nodes[node].index;
}

unsigned HazardPaths::enter(unsigned sequence, unsigned node) const {
  while (program.nodes[node].sequence != sequence) {
    unsigned current = program.nodes[node].sequence;
    walkPoints(current, 0, program.nodes[node].index);
    node = *program.sequences[current].parent;
    walkIterationBefore(node);
  }
  return program.nodes[node].index;
}

bool HazardPaths::hasPath() const {
  if (hazard->loop)
    return isAround(program, *hazard->loop, hazard->from) &&
           isAround(program, *hazard->loop, hazard->to);
  return isBefore(program, hazard->from, hazard->to);
}

void HazardPaths::walkFirstIteration() const {
  if (!hazard->loop) {
    unsigned common = getCommonSequence(program, hazard->from, hazard->to);
    unsigned last = getPlace(program, common, hazard->to);
    walkPoints(common, leave(hazard->from, common) + 1, last);
    return;
  }
  unsigned body = program.nodes[*hazard->loop].parts.front();
  unsigned end = program.sequences[body].items.size();
  walkPoints(body, leave(hazard->from, body) + 1, end);
  walkIterationsOnEitherSide();
  if (hazard->isFar)
    walkWholeIterations(*hazard->loop, hazard->numWhole);
}

void HazardPaths::walkSecondIteration() const {
  if (!hazard->loop) {
    enter(getCommonSequence(program, hazard->from, hazard->to), hazard->to);
    return;
  }
  unsigned body = program.nodes[*hazard->loop].parts.front();
  walkPoints(body, 0, enter(body, hazard->to));
}

void HazardPaths::walkFrom(const SyncHazard &hazard) const {
  HazardPaths paths(*this, hazard);
  if (paths.hasPath())
    paths.walkFirstIteration();
}

void HazardPaths::walkTo(const SyncHazard &hazard) const {
  HazardPaths paths(*this, hazard);
  paths.iteration.isSecond = true;
  if (paths.hasPath())
    paths.walkSecondIteration();
}

} // namespace mlir::workgroup
