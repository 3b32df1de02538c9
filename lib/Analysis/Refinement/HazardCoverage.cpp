//===- HazardCoverage.cpp - What barriers order, iteration by iteration ---===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A hazard that some path without a barrier connects is still ordered if no
// threads take that path: its relation, narrowed to what those paths have in
// common, is asked for again. Of a loop with a barrier in each iteration, only
// the last iteration gets out without one.
//
//===----------------------------------------------------------------------===//

#include "HazardCoverage.h"
#include "Analysis/Placement/GivenBarriers.h"
#include "Analysis/Placement/HazardPaths.h"
#include "PathRefinement.h"

namespace mlir::workgroup {

namespace {
/// A loop of which each iteration meets a barrier from `at` to `at`: what
/// stands in its body itself, so that each iteration gets there.
struct Meeting {
  unsigned loop, at;
};
} // namespace

/// The loops around `step`, but not around `other` in the same iteration, of
/// which each iteration meets a barrier.
static SmallVector<Meeting> findMeeting(const SyncTree &tree, unsigned step,
                                        unsigned other,
                                        const SyncHazard &hazard,
                                        ArrayRef<SyncPoint> points) {
  const SyncProgram &program = tree.getProgram();
  SmallVector<Meeting> meeting;
  for (unsigned loop : getLoopsApart(tree, step, other, hazard)) {
    unsigned at = step;
    while (program.sequences[program.nodes[at].sequence].parent != loop)
      at = *program.sequences[program.nodes[at].sequence].parent;
    if (isCovered(program, {at, at, loop, false}, points))
      meeting.push_back({loop, at});
  }
  return meeting;
}

/// Loops that every path without a barrier skips, and that always have as many
/// iterations.
static SmallVector<unsigned> findSkipped(const SyncTree &tree,
                                         SymbolicIndex &index,
                                         const SyncHazard &hazard,
                                         ArrayRef<SyncPoint> points) {
  constexpr unsigned kMaxLoops = 16;
  SmallVector<unsigned> skipped;
  SyncProgram program = tree.getProgram();
  unsigned count = 0;
  for (auto [number, node] : llvm::enumerate(program.nodes)) {
    if (node.kind != SyncNode::Loop || node.hasIteration ||
        ++count > kMaxLoops ||
        !index.getLoopForms().isSteady(tree.getLoop(number)))
      continue;
    node.hasIteration = true;
    if (isCovered(program, hazard, points))
      skipped.push_back(number);
    node.hasIteration = false;
  }
  return skipped;
}

/// True if something comes between the accesses.
static bool hasPath(const SyncHazard &order) {
  return order.loop || order.from != order.to;
}

//===----------------------------------------------------------------------===//
// Paths with a barrier, and paths without
//===----------------------------------------------------------------------===//

namespace {

static Hazard getPlain(Hazard hazard) {
  hazard.order.wholeIterations.clear();
  hazard.order.numWhole = 1;
  hazard.order.taken.clear();
  return hazard;
}

/// What is known of the paths from the one access of a hazard to the other that
/// meet no barrier.
class OpenPaths {
public:
  OpenPaths(const SyncTree &tree, ThreadConflicts &conflicts,
            const Hazard &hazard, ArrayRef<SyncPoint> points)
      : tree(tree), program(tree.getProgram()), conflicts(conflicts),
        hazard(getPlain(hazard)), points(points), relation(hazard.relation) {}

  /// True if no threads go one of them, as far as can be told. Else what is
  /// known of those that do becomes the conflict of the hazard.
  bool isExcluded(Hazard &result);

  /// The blocks of the barriers that some paths meet and others do not.
  DenseSet<Block *> findInvolved();

private:
  void addIterations();
  void addSkipped();
  void addWholeIteration();
  void addBranches();
  bool hasBarriers(unsigned node) const { return !getBarriers(node).empty(); }
  SmallVector<Block *> getBarriers(unsigned node) const;
  SmallVector<const KernelLoop *>
  getCommonLoops(unsigned branch, bool isSecond,
                 std::optional<unsigned> whole) const;
  void addRegions(unsigned branch, bool isSecond,
                  std::optional<unsigned> whole = std::nullopt);
  SmallVector<unsigned> getOpenLoops() const;

  const SyncTree &tree;
  const SyncProgram &program;
  ThreadConflicts &conflicts;
  /// With nothing known of its paths but what is found here.
  Hazard hazard;
  ArrayRef<SyncPoint> points;
  PairRelation relation;
  /// The loops of which what is known of iterations is in `relation`.
  DenseSet<unsigned> settled;
  /// What is passed on every path and may have barriers.
  SmallVector<unsigned> branches;
  /// Some paths have barriers of which it is not known when they are met.
  bool isOther = false;
};

} // namespace

void OpenPaths::addIterations() {
  const SyncHazard &order = hazard.order;
  for (Meeting meeting : findMeeting(tree, order.from, order.to, order, points))
    if (std::optional<LoopEnd> end =
            getLastIteration(tree, hazard, meeting.loop)) {
      relation.ends.push_back(*end);
      settled.insert(meeting.loop);
    }
  for (Meeting meeting :
       findMeeting(tree, order.to, order.from, order, points)) {
    relation.iterations.push_back({tree.getLoop(meeting.loop), 0, 0});
    settled.insert(meeting.loop);
  }
}

void OpenPaths::addSkipped() {
  for (unsigned loop :
       findSkipped(tree, conflicts.getIndex(), hazard.order, points)) {
    relation.ends.push_back(getNoIteration(tree.getLoop(loop)));
    settled.insert(loop);
  }
}

/// The loops that `branch` is in the same iteration of as one of the accesses:
/// those around both; but for `whole`, of which it is in another iteration, and
/// what is in that.
SmallVector<const KernelLoop *>
OpenPaths::getCommonLoops(unsigned branch, bool isSecond,
                          std::optional<unsigned> whole) const {
  unsigned step = isSecond ? hazard.order.to : hazard.order.from;
  SmallVector<const KernelLoop *> common;
  // A copy may be done in another iteration than it is started in.
  if (step != tree.getStep(isSecond ? hazard.second : hazard.first))
    return common;
  for (auto [lhs, rhs] :
       llvm::zip(tree.getLoopsAround(branch), tree.getLoopsAround(step))) {
    if (lhs != rhs || lhs == whole)
      break;
    common.push_back(tree.getLoop(lhs));
  }
  return common;
}

/// Adds that the branch regions of `branch` with barriers are not taken, if
/// what decides about that is known of one of the accesses. Branch regions with
/// loops or branches that have some are another matter.
void OpenPaths::addRegions(unsigned branch, bool isSecond,
                           std::optional<unsigned> whole) {
  SmallVector<const KernelLoop *> loops =
      getCommonLoops(branch, isSecond, whole);
  for (auto [number, region] : llvm::enumerate(program.nodes[branch].parts)) {
    ArrayRef<unsigned> items = program.sequences[region].items;
    bool isInRegion = llvm::any_of(
        items, [&](unsigned item) { return tree.getBarrier(item) != nullptr; });
    if (!isInRegion) {
      isOther |=
          llvm::any_of(items, [&](unsigned item) { return hasBarriers(item); });
      continue;
    }
    Operation *op = tree.getBranch(branch);
    if (dependsOnly(conflicts, op, number, loops))
      relation.avoided.push_back({op, unsigned(number), isSecond});
    else
      isOther = true;
  }
}

/// Adds what whole iterations of the loop between the accesses pass: branch
/// regions that are taken in all iterations or in none.
void OpenPaths::addWholeIteration() {
  unsigned loop = *hazard.order.loop;
  auto ignore = [](SyncPoint) {};
  auto add = [&](unsigned node, const SyncIteration &) {
    branches.push_back(node);
    addRegions(node, /*isSecond=*/false, loop);
  };
  HazardPaths(program, {ignore, add})
      .walkRegion(program.nodes[loop].parts.front());
}

/// Adds what is passed on every path, in the iterations of the one thread or of
/// the other. What stands in front of the first access comes in the next
/// iteration.
void OpenPaths::addBranches() {
  auto ignore = [](SyncPoint) {};
  auto addFirst = [&](unsigned node, const SyncIteration &iteration) {
    branches.push_back(node);
    if (node > hazard.order.from && !iteration.whole && !iteration.isOther)
      addRegions(node, /*isSecond=*/false);
  };
  auto addSecond = [&](unsigned node, const SyncIteration &) {
    branches.push_back(node);
    if (node < hazard.order.to)
      addRegions(node, /*isSecond=*/true);
  };
  if (hazard.order.isFar)
    addWholeIteration();
  HazardPaths(program, {ignore, addFirst}).walkFrom(hazard.order);
  HazardPaths(program, {ignore, addSecond}).walkTo(hazard.order);
}

/// The blocks of the barriers in `node`.
SmallVector<Block *> OpenPaths::getBarriers(unsigned node) const {
  SmallVector<Block *> blocks;
  if (Operation *barrier = tree.getBarrier(node))
    blocks.push_back(barrier->getBlock());
  for (unsigned part : program.nodes[node].parts)
    for (unsigned item : program.sequences[part].items)
      llvm::append_range(blocks, getBarriers(item));
  return blocks;
}

/// The loops with barriers that some paths pass, and of which nothing is in the
/// relation.
SmallVector<unsigned> OpenPaths::getOpenLoops() const {
  const SyncHazard &order = hazard.order;
  SmallVector<unsigned> open;
  auto from = tree.getLoopsAround(order.from),
       to = tree.getLoopsAround(order.to);
  for (auto [number, node] : llvm::enumerate(program.nodes)) {
    unsigned loop = number;
    if (node.kind != SyncNode::Loop || settled.contains(loop) ||
        !hasBarriers(loop))
      continue;
    bool isFirst = llvm::is_contained(from, loop);
    bool isSecond = llvm::is_contained(to, loop);
    // Of what both are in the same iteration of, or the next one, this is
    // settled.
    bool isCommon = isFirst && isSecond &&
                    (llvm::is_contained(hazard.relation.sameIteration,
                                        tree.getLoop(loop)) ||
                     order.loop == loop);
    bool isInside =
        order.loop
            ? llvm::is_contained(getSyncParents(program, loop), *order.loop)
            : loop > order.from && loop < order.to;
    if (isFirst || isSecond ? !isCommon : isInside)
      open.push_back(loop);
  }
  return open;
}

bool OpenPaths::isExcluded(Hazard &result) {
  addIterations();
  addSkipped();
  addBranches();
  if (!(relation == hazard.relation))
    result.conflict = conflicts.find(hazard.first, hazard.second, relation);
  if (result.conflict.kind != Conflict::Certain)
    return !result.conflict;
  // Those at points in branches are not looked at.
  bool isKnown =
      !isOther && getOpenLoops().empty() &&
      llvm::none_of(points, [&](SyncPoint point) {
        auto parent = program.sequences[point.sequence].parent;
        return parent && program.nodes[*parent].kind == SyncNode::Branch;
      });
  if (isKnown)
    return false;
  result.conflict = Conflict();
  result.conflict.kind = Conflict::Possible;
  result.conflict.reason = "some paths between have a barrier, and whether one "
                           "without is taken is not known";
  return false;
}

DenseSet<Block *> OpenPaths::findInvolved() {
  addIterations();
  addBranches();
  DenseSet<Block *> blocks;
  for (unsigned branch : branches)
    blocks.insert_range(getBarriers(branch));
  for (unsigned loop : getOpenLoops())
    blocks.insert_range(getBarriers(loop));
  return blocks;
}

DenseSet<unsigned> findConditional(ArrayRef<Hazard> hazards,
                                   const SyncTree &tree,
                                   ThreadConflicts &conflicts) {
  DenseSet<Block *> blocks;
  BarrierCounts counts(tree.getProgram());
  for (const Hazard &hazard : hazards)
    if (hasPath(hazard.order) && !counts.isCovered(hazard.order))
      blocks.insert_range(
          OpenPaths(tree, conflicts, hazard, {}).findInvolved());
  DenseSet<unsigned> involved;
  for (unsigned node : tree.getBarriers())
    if (blocks.contains(tree.getBarrier(node)->getBlock()))
      involved.insert(node);
  return involved;
}

bool isOrdered(Hazard &hazard, const SyncTree &tree, ThreadConflicts &conflicts,
               ArrayRef<SyncPoint> points) {
  if (!hasPath(hazard.order))
    return false;
  Hazard before = hazard;
  return isCovered(tree.getProgram(), hazard.order, points) ||
         OpenPaths(tree, conflicts, before, points).isExcluded(hazard);
}

SmallVector<SyncHazard> getOrdered(ArrayRef<Hazard> hazards,
                                   const SyncTree &tree) {
  SmallVector<SyncHazard> ordered;
  BarrierCounts counts(tree.getProgram());
  for (const Hazard &hazard : hazards) {
    if (hazard.isImplied)
      continue;
    const SyncHazard &order = hazard.order;
    if (counts.isCovered(order)) {
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
