//===- SyncTree.cpp - A kernel as barriers see it -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SyncTree.h"

namespace mlir::workgroup {

SyncProgram SyncTree::getFenced(MemorySpace space) const {
  SyncProgram fenced = program;
  for (SyncNode &node : fenced.nodes)
    if (node.kind == SyncNode::Barrier)
      node.kind = SyncNode::Step;
  for (auto [node, fence] : fences)
    if (isProxyFence(fence, space))
      fenced.nodes[node].kind = SyncNode::Barrier;
  return fenced;
}

SmallVector<unsigned, 3> SyncTree::getLoopsAround(unsigned node) const {
  SmallVector<unsigned, 3> around;
  std::optional<unsigned> parent =
      program.sequences[program.nodes[node].sequence].parent;
  for (; parent;
       parent = program.sequences[program.nodes[*parent].sequence].parent)
    if (program.nodes[*parent].kind == SyncNode::Loop)
      around.insert(around.begin(), *parent);
  return around;
}

bool SyncTree::isBeforeTest(unsigned node, unsigned loop) const {
  unsigned at = node;
  for (std::optional<unsigned> parent = at; parent && *parent != loop;
       parent = program.sequences[program.nodes[at].sequence].parent)
    at = *parent;
  return program.nodes[at].index < program.nodes[loop].exit;
}

unsigned SyncTree::getDepth(unsigned sequence) const {
  std::optional<unsigned> parent = program.sequences[sequence].parent;
  if (!parent)
    return 0;
  bool isLoop = program.nodes[*parent].kind == SyncNode::Loop;
  return getDepth(program.nodes[*parent].sequence) + isLoop;
}

SmallVector<unsigned> SyncTree::getBarriers() const {
  SmallVector<unsigned> nodes;
  for (auto [number, node] : llvm::enumerate(program.nodes))
    if (node.kind == SyncNode::Barrier)
      nodes.push_back(number);
  return nodes;
}

Operation *SyncTree::getInsertionPoint(SyncPoint point) const {
  const SyncSequence &sequence = program.sequences[point.sequence];
  if (sequence.parent) {
    const SyncNode &around = program.nodes[*sequence.parent];
    if (around.kind == SyncNode::Loop && around.exit == point.index &&
        around.exit != 0)
      return tests.lookup(point.sequence);
  }
  if (point.index == sequence.items.size()) {
    Operation *end = ends.lookup(point.sequence);
    bool isShared = end && shared.contains(end->getBlock());
    return isShared ? nullptr : end; // others pass there, too
  }
  unsigned next = sequence.items[point.index];
  return atHeaders.contains(next) ? nullptr : before[next];
}

} // namespace mlir::workgroup
