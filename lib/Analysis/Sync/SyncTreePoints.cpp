//===- SyncTreePoints.cpp - Where barriers can stand ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A point of a tree as an operation before which a barrier can be inserted, or
// as the edges of the control-flow graph that have to be split for it; and
// points of a tree as points of a finer tree of the same kernel. The tree of
// warps, say, has loops and branches where that of the block has one step: both
// are walked side by side, and items match that start at the same operation.
//
//===----------------------------------------------------------------------===//

#include "SyncTree.h"

namespace mlir::workgroup {

namespace {

/// Goes through two trees of a kernel side by side.
class PointMatcher {
public:
  PointMatcher(const SyncTree &tree, const SyncTree &finer)
      : tree(tree), finer(finer) {}

  SyncTree::PointMap match() {
    matchSequences(0, 0);
    return std::move(points);
  }

private:
  std::optional<unsigned> findMatch(unsigned item, ArrayRef<unsigned> items,
                                    unsigned start) const;
  void matchSequences(unsigned sequence, unsigned finerSequence);
  void matchParts(unsigned node, unsigned finerNode);

  const SyncTree &tree, &finer;
  SyncTree::PointMap points;
};

} // namespace

/// The position of what `item` is, from `start` on. A step may be a loop or a
/// branch that warps take on their own.
std::optional<unsigned> PointMatcher::findMatch(unsigned item,
                                                ArrayRef<unsigned> items,
                                                unsigned start) const {
  SyncNode::Kind kind = tree.getProgram().nodes[item].kind;
  for (unsigned position = start; position != items.size(); ++position) {
    SyncNode::Kind other = finer.getProgram().nodes[items[position]].kind;
    bool isSame =
        kind == other || (kind == SyncNode::Step && other != SyncNode::Barrier);
    if (isSame && tree.getStart(item) == finer.getStart(items[position]))
      return position;
  }
  return std::nullopt;
}

void PointMatcher::matchSequences(unsigned sequence, unsigned finerSequence) {
  ArrayRef<unsigned> items = tree.getProgram().sequences[sequence].items;
  ArrayRef<unsigned> finerItems =
      finer.getProgram().sequences[finerSequence].items;
  unsigned start = 0;
  for (auto [position, item] : llvm::enumerate(items)) {
    std::optional<unsigned> match = findMatch(item, finerItems, start);
    if (!match)
      continue;
    points[{sequence, unsigned(position)}] = {finerSequence, *match};
    matchParts(item, finerItems[*match]);
    start = *match + 1;
  }
  points[{sequence, unsigned(items.size())}] = {finerSequence,
                                                unsigned(finerItems.size())};
}

void PointMatcher::matchParts(unsigned node, unsigned finerNode) {
  const SyncNode &lhs = tree.getProgram().nodes[node];
  const SyncNode &rhs = finer.getProgram().nodes[finerNode];
  if (lhs.kind != rhs.kind || lhs.parts.size() != rhs.parts.size())
    return;
  for (auto [part, other] : llvm::zip(lhs.parts, rhs.parts))
    matchSequences(part, other);
  // Before the test, whatever stands behind it.
  if (lhs.kind == SyncNode::Loop && lhs.exit != 0)
    points[{lhs.parts.front(), lhs.exit}] = {rhs.parts.front(), rhs.exit};
}

SyncTree::PointMap SyncTree::matchPoints(const SyncTree &finer) const {
  return PointMatcher(*this, finer).match();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

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

/// The edges from the blocks around a loop to its header.
static SyncEdges getEdgesInto(const KernelLoop *loop) {
  SyncEdges edges;
  edges.to = loop->header;
  for (Block *from : llvm::SetVector<Block *>(loop->header->pred_begin(),
                                              loop->header->pred_end()))
    if (!llvm::is_contained(loop->latches, from))
      edges.from.push_back(from);
  return edges;
}

SmallVector<SyncEdges> SyncTree::getEdges() const {
  SmallVector<SyncEdges> all;
  for (auto [node, loop] : atHeaders)
    all.push_back(getEdgesInto(loop));
  for (auto [sequence, span] : spans) {
    auto [first, stop] = span;
    if (ends.lookup(sequence) || !stop || first == stop)
      continue;
    SyncEdges &edges = all.emplace_back();
    edges.to = stop;
    for (Block *block : findBetween(first, stop))
      if (llvm::is_contained(block->getSuccessors(), stop))
        edges.from.push_back(block);
  }
  llvm::erase_if(all, [&](const SyncEdges &edges) {
    return llvm::any_of(edges.from,
                        [&](Block *block) { return shared.contains(block); });
  });
  return all;
}

} // namespace mlir::workgroup
