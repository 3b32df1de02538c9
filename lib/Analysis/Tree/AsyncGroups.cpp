//===- AsyncGroups.cpp - When asynchronous copies are done ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncGroups.h"
#include "Analysis/Program/OpEffects.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

bool isGroupOp(Operation *op) {
  std::optional<AsyncGroup> group = getAsyncGroup(op);
  return group && group->engine != AsyncGroup::Products;
}

/// The effect of `op` on the groups that `kind` is about; nothing if it has
/// none.
static std::optional<AsyncGroup> getGroup(Operation *op, GroupKind kind) {
  AsyncGroup::Engine engine = kind == GroupKind::Copies ? AsyncGroup::Copies
                              : kind == GroupKind::Products
                                  ? AsyncGroup::TileProducts
                                  : AsyncGroup::Stores;
  std::optional<AsyncGroup> group = getAsyncGroup(op);
  return group && group->engine == engine ? group : std::nullopt;
}

/// The kind of operations that are waited for.
static OpKind getAsyncKind(GroupKind kind) {
  switch (kind) {
  case GroupKind::Copies:
    return OpKind::AsyncCopy;
  case GroupKind::Products:
    return OpKind::GroupAccess;
  case GroupKind::Stores:
  case GroupKind::StoreReads:
    return OpKind::BulkStore;
  }
  llvm_unreachable("all kinds are listed");
}

bool AsyncGroups::isCommit(Operation *op) const {
  std::optional<AsyncGroup> group = getGroup(op, kind);
  return group && group->isCommit;
}

/// The number of groups that may still be under way behind `op`; nothing if it
/// is no wait.
std::optional<int64_t> AsyncGroups::getNumLeft(Operation *op) const {
  std::optional<AsyncGroup> group = getGroup(op, kind);
  if (!group || (group->isCommit && !group->isWhole) ||
      (group->isOfReads && kind == GroupKind::Stores))
    return std::nullopt;
  return group->numPending;
}

AsyncGroups::AsyncGroups(
    GroupKind kind, const SyncProgram &program,
    const DenseMap<Operation *, unsigned> &steps,
    const DenseSet<unsigned> &hiding,
    llvm::function_ref<std::optional<int64_t>(unsigned)> getNumIterations)
    : kind(kind), program(program), steps(steps), hiding(hiding),
      getNumIterations(getNumIterations) {
  auto hide = [&](unsigned node) {
    for (std::optional<unsigned> parent;
         (parent = program.sequences[program.nodes[node].sequence].parent);
         node = *parent)
      if (!this->hiding.insert(*parent).second)
        break;
  };
  for (auto [op, node] : steps) {
    if (!isCommit(op) && !getNumLeft(op))
      continue;
    opOf[node] = op;
    hide(node);
  }
  for (unsigned node : hiding)
    hide(node);
}

/// The operation that commits the group of `copy` at the latest, on all paths
/// from it through regions of one block; null if there may be none.
Operation *AsyncGroups::findCommitInRegions(Operation *copy,
                                            Operation *scope) const {
  for (Operation *at = copy; at != scope; at = at->getParentOp()) {
    for (Operation *next = at->getNextNode(); next; next = next->getNextNode())
      if (isCommit(next))
        return next;
    // A branch out of the block may go past what is behind the operation.
    if (at->getBlock()->getNumSuccessors() != 0 ||
        !at->getParentRegion()->hasOneBlock())
      return nullptr;
  }
  return nullptr;
}

/// The wait for the group that `commit` commits that follows in its block; null
/// for none.
Operation *AsyncGroups::findWait(Operation *commit) const {
  int64_t behind = 0;
  for (Operation *next = commit->getNextNode(); next;
       next = next->getNextNode()) {
    behind += isCommit(next);
    std::optional<int64_t> under = getNumLeft(next);
    if (under && *under <= behind)
      return next;
  }
  return nullptr;
}

/// Behind what commits a group of `step` at the latest: `commit`, if that is
/// given.
std::optional<AsyncGroups::Position>
AsyncGroups::findCommit(Operation *commit, unsigned step) const {
  auto behind = [&](unsigned node) {
    return Position{program.nodes[node].sequence,
                    program.nodes[node].index + 1};
  };
  if (commit) {
    // One that only some threads get to is part of the copy's own step.
    auto own = steps.find(commit);
    return behind(own == steps.end() ? step : own->second);
  }
  for (std::optional<unsigned> at = step; at;
       at = program.sequences[program.nodes[*at].sequence].parent) {
    for (unsigned node : getFollowing(behind(*at)))
      if (Operation *op = opOf.lookup(node); op && isCommit(op))
        return behind(node);
    if (isBeforeTest(behind(*at)))
      return std::nullopt;
  }
  return std::nullopt;
}

/// True if the loop around may be left between `at` and the end of its body, so
/// that something there is left out.
bool AsyncGroups::isBeforeTest(Position at) const {
  const SyncSequence &body = program.sequences[at.sequence];
  if (!body.parent || program.nodes[*body.parent].kind != SyncNode::Loop)
    return false;
  unsigned exit = program.nodes[*body.parent].exit;
  return at.index <= exit && exit < body.items.size();
}

/// What follows for certain in the sequence.
ArrayRef<unsigned> AsyncGroups::getFollowing(Position at) const {
  const SyncSequence &sequence = program.sequences[at.sequence];
  ArrayRef<unsigned> items = sequence.items;
  if (isBeforeTest(at))
    items = items.take_front(program.nodes[*sequence.parent].exit);
  return items.drop_front(at.index);
}

/// Goes past `node`. Returns it if the copy is done there.
std::optional<unsigned> AsyncGroups::visitItem(unsigned node) {
  Operation *op = opOf.lookup(node);
  if (!op) {
    completion.isExact &= !hiding.contains(node);
    return std::nullopt;
  }
  younger += isCommit(op);
  std::optional<int64_t> under = getNumLeft(op);
  if (!under)
    return std::nullopt;
  if (younger >= *under)
    return node;
  // Of what a loop left, the copies of its first iterations are done sooner.
  if (left && younger + left->commits * (left->iterations - 1) >= *under)
    completion.isExact = false;
  return std::nullopt;
}

/// The least number of groups that each iteration of `loop` commits.
int64_t AsyncGroups::countCommits(unsigned loop) const {
  int64_t count = 0;
  for (unsigned node : getBody(loop))
    if (Operation *op = opOf.lookup(node))
      count += isCommit(op);
  return count;
}

/// Finds the iteration of `loop`, which comes behind the copy, in which it is
/// done.
void AsyncGroups::enterLoop(unsigned loop) {
  int64_t commits = countCommits(loop), before = younger;
  // From the copy of the first iteration on, each is done one iteration later,
  // or sooner if there are more groups in an iteration than there were.
  bool isInStep = left && left->commits <= commits;
  if (isInStep)
    before += left->commits * (left->iterations - 1);
  std::optional<int64_t> least;
  for (unsigned node : getBody(loop)) {
    Operation *op = opOf.lookup(node);
    if (!op) {
      completion.isExact &= !hiding.contains(node);
      continue;
    }
    before += isCommit(op);
    std::optional<int64_t> under = getNumLeft(op);
    if (!under || (commits == 0 && *under > before))
      continue;
    int64_t iteration =
        *under <= before ? 0 : llvm::divideCeilSigned(*under - before, commits);
    if (least && *least <= iteration)
      continue;
    least = iteration;
    completion.inLoop = {node, loop, iteration, /*isAround=*/false,
                         std::nullopt};
    if (isInStep)
      completion.inLoop->before = left->loop;
    if (left && left->commits != commits)
      completion.isExact = false;
  }
  if (program.nodes[loop].hasIteration)
    younger += commits;
}

/// Finds how many iterations later the copy, which is in `loop`, is done.
void AsyncGroups::advance(unsigned loop) {
  constexpr int64_t kMaxIterations = 64;
  int64_t atEnd = younger;
  for (int64_t iterations = 1; iterations <= kMaxIterations; ++iterations) {
    int64_t before = younger;
    for (unsigned node : getBody(loop)) {
      if (!visitItem(node))
        continue;
      completion.inLoop = {node, loop, iterations, /*isAround=*/true,
                           std::nullopt};
      younger = atEnd; // where the loop is left right behind the copy
      return;
    }
    if (younger == before)
      break;
  }
  younger = atEnd;
}

/// Follows the copy out of `loop`, in which nothing waits for it. False if that
/// may be in a later iteration than the next wait.
bool AsyncGroups::leaveLoop(unsigned loop) {
  bool isWaiting = llvm::any_of(getBody(loop), [&](unsigned node) {
    Operation *op = opOf.lookup(node);
    return op ? getNumLeft(op).has_value() : hiding.contains(node);
  });
  std::optional<int64_t> iterations = getNumIterations(loop);
  int64_t commits = countCommits(loop);
  if (isWaiting || left || !iterations || commits == 0)
    return false;
  left = {loop, *iterations, commits};
  return true;
}

/// Goes on from `at` until the copy is done.
std::optional<unsigned> AsyncGroups::follow(Position at) {
  while (true) {
    const SyncSequence &sequence = program.sequences[at.sequence];
    for (unsigned node : getFollowing(at)) {
      if (program.nodes[node].kind == SyncNode::Loop && !completion.inLoop)
        enterLoop(node);
      else if (std::optional<unsigned> wait = visitItem(node))
        return wait;
    }
    // Where the loop is left at its test, what stands behind that is missing.
    if (!sequence.parent || isBeforeTest(at))
      return std::nullopt;
    const SyncNode &parent = program.nodes[*sequence.parent];
    if (parent.kind == SyncNode::Loop) {
      // What an iteration may leave to the next one is followed in one loop
      // only.
      if (completion.inLoop)
        return std::nullopt;
      advance(*sequence.parent);
      if (!completion.inLoop && !leaveLoop(*sequence.parent))
        return std::nullopt;
    }
    at = {parent.sequence, parent.index + 1};
  }
}

/// True if a copy of `step` that is found to be done nowhere is not, for
/// certain: nothing commits groups, or waits for them, or all that does is
/// counted, one after the other.
bool AsyncGroups::isNeverDone(unsigned step, Operation *scope) const {
  bool hasCommits = false, hasWaits = false, isCounted = hiding.empty();
  auto isOutermost = [&](unsigned node) {
    return program.nodes[node].sequence == 0;
  };
  scope->walk([&](Operation *op) {
    bool isOfCommit = isCommit(op), isOfWait = getNumLeft(op).has_value();
    hasCommits |= isOfCommit;
    hasWaits |= isOfWait;
    auto known = steps.find(op);
    if (isOfCommit || isOfWait)
      isCounted &= known != steps.end() && isOutermost(known->second);
  });
  return !hasCommits || !hasWaits || (isCounted && isOutermost(step));
}

std::optional<AsyncCompletion>
AsyncGroups::findCompletion(Operation *copy, unsigned step, Operation *scope) {
  neverDone = false;
  if (getOpKind(copy) != getAsyncKind(kind))
    return std::nullopt;
  // A product is a group by itself.
  std::optional<AsyncGroup> own = getGroup(copy, kind);
  Operation *commit =
      own && own->isWhole ? copy : findCommitInRegions(copy, scope);
  std::optional<Position> committed = findCommit(commit, step);
  if (!committed) {
    neverDone = isNeverDone(step, scope);
    return std::nullopt;
  }
  younger = 0;
  left.reset();
  completion = {};
  if (Operation *wait =
          commit && !steps.contains(commit) ? findWait(commit) : nullptr) {
    // What the thread does in the step behind that is in order.
    completion.last = step;
    completion.inStep = wait;
    completion.isExact = false;
    return completion;
  }
  completion.last = follow(*committed);
  if (completion.last || completion.inLoop)
    return completion;
  neverDone = isNeverDone(step, scope);
  return std::nullopt;
}

} // namespace mlir::workgroup
