//===- PlacementCandidates.cpp - Points worth a barrier -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only some points are worth a barrier. Let one stand in a point before an item
// that no hazard ends in, and that is not the first one behind the exit of a
// loop (unless the loop tests first, and the point is behind the test). Then
// every path that passes the point goes on through the whole item to the point
// behind it: the barrier can as well stand there, at the same level. Likewise a
// barrier at the end of a branch region can stand behind the branch, and one at
// the end of a body at its start, if the loop does not test there. Repeated,
// this moves every barrier to
//   - a point right before an item that contains the end of a hazard,
//   - the point at the exit of a loop, or
//   - the end of the body of a loop that tests first.
// Of a call that the end of a hazard is in, the first point is right before it:
// further on, none is allowed.
// What was covered stays covered, and no level gets more barriers. For the same
// reason two hazards that share a point share one of these.
//
//===----------------------------------------------------------------------===//

#include "PlacementCandidates.h"
#include "HazardPaths.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::workgroup {

bool isReplaceable(const SyncNode &node) {
  return node.kind == SyncNode::Barrier && !node.call && !node.isFixed;
}

PlacementCandidates::PlacementCandidates(const SyncProgram &program,
                                         ArrayRef<SyncHazard> hazards,
                                         Existing existing,
                                         function_ref<bool(SyncPoint)> isUseful)
    : program(program), ranks(program.sequences.size()) {
  for (auto [sequence, ranksOfPoints] : zip_equal(program.sequences, ranks))
    ranksOfPoints.assign(sequence.items.size() + 1, kNone);
  bool hasNew = existing != Existing::Choose;
  for (const SyncHazard &hazard : hazards)
    if (hasNew)
      addEnd(hazard.to);
  for (const SyncNode &node : program.nodes) {
    if (node.kind == SyncNode::Loop && hasNew)
      addTest(node);
    if (isReplaceable(node) && existing != Existing::Keep)
      ranks[node.sequence][node.index + 1] = kExisting;
  }
  if (isUseful)
    addUseful(isUseful);
  collect(0);
}

void PlacementCandidates::addEnd(unsigned node) {
  auto add = [&](const SyncNode &item) {
    unsigned index = item.index;
    while (isInCall({item.sequence, index}))
      --index;
    ranks[item.sequence][index] = kEnd;
  };
  add(program.nodes[node]);
  for (unsigned parent : getSyncParents(program, node))
    add(program.nodes[parent]);
}

void PlacementCandidates::addTest(const SyncNode &loop) {
  unsigned body = loop.parts.front(), end = ranks[body].size() - 1;
  SyncPoint point{body, loop.exit == 0 ? end : loop.exit};
  unsigned &rank = ranks[point.sequence][point.index];
  rank = std::max<unsigned>(rank, kTest);
}

void PlacementCandidates::addUseful(function_ref<bool(SyncPoint)> isUseful) {
  for (auto [sequence, ranksOfPoints] : enumerate(ranks)) {
    for (auto [index, rank] : enumerate(ranksOfPoints)) {
      SyncPoint point{static_cast<unsigned>(sequence),
                      static_cast<unsigned>(index)};
      if (rank == kNone && !isInCall(point) && isUseful(point))
        rank = kEnd;
    }
  }
}

/// True if both what stands before `point` and what stands behind it are of the
/// same call.
bool PlacementCandidates::isInCall(SyncPoint point) const {
  ArrayRef<unsigned> items = program.sequences[point.sequence].items;
  if (point.index == 0 || point.index == items.size())
    return false;
  std::optional<unsigned> call = program.nodes[items[point.index]].call;
  return call && program.nodes[items[point.index - 1]].call == call;
}

void PlacementCandidates::collect(unsigned sequence) {
  ArrayRef<unsigned> items = program.sequences[sequence].items;
  for (unsigned place = 0; place <= items.size(); ++place) {
    if (ranks[sequence][place] != kNone)
      points.push_back({sequence, place});
    if (place != items.size() && !program.nodes[items[place]].call)
      for (unsigned part : program.nodes[items[place]].parts)
        collect(part);
  }
}

} // namespace mlir::workgroup
