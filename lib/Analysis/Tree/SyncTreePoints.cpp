//===- SyncTreePoints.cpp - Points of two trees of a kernel ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SyncTreePoints.h"

namespace mlir::workgroup {

namespace {

/// Goes through two trees of a kernel side by side.
class PointMatcher {
public:
  PointMatcher(const SyncTree &tree, const SyncTree &finer)
      : tree(tree), finer(finer) {}

  SyncPointMap match() {
    matchSequences(0, 0);
    return std::move(points);
  }

private:
  std::optional<unsigned> findMatch(unsigned item, ArrayRef<unsigned> items,
                                    unsigned start) const;
  void matchSequences(unsigned sequence, unsigned finerSequence);
  void matchParts(unsigned node, unsigned finerNode);

  const SyncTree &tree, &finer;
  SyncPointMap points;
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

SyncPointMap matchPoints(const SyncTree &tree, const SyncTree &finer) {
  return PointMatcher(tree, finer).match();
}

} // namespace mlir::workgroup
