//===- AsyncCopies.cpp - When asynchronous copies are done ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncCopies.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

static bool isCommit(Operation *op) {
  return isa<nvgpu::DeviceAsyncCreateGroupOp, NVVM::CpAsyncCommitGroupOp>(op);
}

/// How many groups may still be under way behind `op`; nothing if it is no
/// wait.
static std::optional<int64_t> getNumLeft(Operation *op) {
  if (auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op))
    return wait.getN();
  if (auto wait = dyn_cast<nvgpu::DeviceAsyncWaitOp>(op))
    return wait.getNumGroups().value_or(0);
  return std::nullopt;
}

bool isGroupOp(Operation *op) { return isCommit(op) || getNumLeft(op); }

AsyncGroups::AsyncGroups(
    const SyncProgram &program, const DenseMap<Operation *, unsigned> &steps,
    const DenseSet<unsigned> &hiding,
    llvm::function_ref<std::optional<int64_t>(unsigned)> getNumTurns)
    : program(program), steps(steps), hiding(hiding), getNumTurns(getNumTurns) {
  auto hide = [&](unsigned node) {
    for (std::optional<unsigned> parent;
         (parent = program.sequences[program.nodes[node].sequence].parent);
         node = *parent)
      if (!this->hiding.insert(*parent).second)
        break;
  };
  for (auto [op, node] : steps) {
    opOf[node] = op;
    hide(node);
  }
  for (unsigned node : hiding)
    hide(node);
}

/// The operation that commits the group of `copy` at the latest, on all ways
/// from it through regions of one block; null if there may be none.
static Operation *findCommitInRegions(Operation *copy, Operation *scope) {
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

/// Behind what commits the group of `copy`, which is part of `step`, at the
/// latest.
std::optional<AsyncGroups::Position>
AsyncGroups::findCommit(Operation *copy, unsigned step,
                        Operation *scope) const {
  auto behind = [&](unsigned node) {
    return Position{program.nodes[node].sequence,
                    program.nodes[node].index + 1};
  };
  if (Operation *commit = findCommitInRegions(copy, scope)) {
    // One that only some threads get to is part of the copy's own step.
    auto own = steps.find(commit);
    return behind(own == steps.end() ? step : own->second);
  }
  for (std::optional<unsigned> at = step; at;
       at = program.sequences[program.nodes[*at].sequence].parent) {
    Position next = behind(*at);
    for (unsigned node : ArrayRef(program.sequences[next.sequence].items)
                             .drop_front(next.index))
      if (Operation *op = opOf.lookup(node); op && isCommit(op))
        return behind(node);
  }
  return std::nullopt;
}

/// Goes past `node`. Returns it if the copy is done there.
std::optional<unsigned> AsyncGroups::visitItem(unsigned node) {
  Operation *op = opOf.lookup(node);
  if (!op) {
    completion.isExact &= !hiding.contains(node);
    return std::nullopt;
  }
  younger += isCommit(op);
  std::optional<int64_t> left = getNumLeft(op);
  return left && younger >= *left ? std::optional(node) : std::nullopt;
}

/// How many groups each turn of `loop` commits, at least.
int64_t AsyncGroups::countCommits(unsigned loop) const {
  int64_t count = 0;
  for (unsigned node : getBody(loop))
    if (Operation *op = opOf.lookup(node))
      count += isCommit(op);
  return count;
}

/// Finds the turn of `loop`, which comes behind the copy, in which it is done.
void AsyncGroups::enterLoop(unsigned loop) {
  int64_t commits = countCommits(loop), before = younger;
  // From the copy of the first turn on, each is done one turn later.
  bool isInStep = left && left->commits == commits;
  if (isInStep)
    before += left->commits * (left->turns - 1);
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
    int64_t turn =
        *under <= before ? 0 : llvm::divideCeilSigned(*under - before, commits);
    if (least && *least <= turn)
      continue;
    least = turn;
    completion.inLoop = {node, loop, turn, /*isAround=*/false, std::nullopt};
    if (isInStep)
      completion.inLoop->before = left->loop;
  }
  if (program.nodes[loop].hasTurn)
    younger += commits;
}

/// Finds how many turns later the copy, which is in `loop`, is done.
void AsyncGroups::turnLoop(unsigned loop) {
  constexpr int64_t kMaxTurns = 64;
  int64_t atEnd = younger;
  for (int64_t turns = 1; turns <= kMaxTurns; ++turns) {
    int64_t before = younger;
    for (unsigned node : getBody(loop)) {
      if (!visitItem(node))
        continue;
      completion.inLoop = {node, loop, turns, /*isAround=*/true, std::nullopt};
      younger = atEnd; // where the loop is left right behind the copy
      return;
    }
    if (younger == before)
      break;
  }
  younger = atEnd;
}

/// Follows the copy out of `loop`, in which nothing waits for it. False if that
/// may be in a later turn than the next wait.
bool AsyncGroups::leaveLoop(unsigned loop) {
  bool isWaiting = llvm::any_of(getBody(loop), [&](unsigned node) {
    Operation *op = opOf.lookup(node);
    return op ? getNumLeft(op).has_value() : hiding.contains(node);
  });
  std::optional<int64_t> turns = getNumTurns(loop);
  int64_t commits = countCommits(loop);
  if (isWaiting || left || !turns || commits == 0)
    return false;
  left = {loop, *turns, commits};
  return true;
}

/// Goes on from `at` until the copy is done.
std::optional<unsigned> AsyncGroups::follow(Position at) {
  while (true) {
    const SyncSequence &sequence = program.sequences[at.sequence];
    for (unsigned node : ArrayRef(sequence.items).drop_front(at.index)) {
      if (program.nodes[node].kind == SyncNode::Loop && !completion.inLoop)
        enterLoop(node);
      else if (std::optional<unsigned> wait = visitItem(node))
        return wait;
    }
    if (!sequence.parent)
      return std::nullopt;
    const SyncNode &parent = program.nodes[*sequence.parent];
    if (parent.kind == SyncNode::Loop) {
      // What a turn may leave to the next one is followed in one loop only.
      if (completion.inLoop)
        return std::nullopt;
      turnLoop(*sequence.parent);
      if (!completion.inLoop && !leaveLoop(*sequence.parent))
        return std::nullopt;
    }
    at = {parent.sequence, parent.index + 1};
  }
}

std::optional<AsyncCompletion>
AsyncGroups::findCompletion(Operation *copy, unsigned step, Operation *scope) {
  if (!isa<nvgpu::DeviceAsyncCopyOp, NVVM::CpAsyncOp>(copy))
    return std::nullopt;
  std::optional<Position> committed = findCommit(copy, step, scope);
  if (!committed)
    return std::nullopt;
  younger = 0;
  left.reset();
  completion = {};
  completion.last = follow(*committed);
  if (!completion.last && !completion.inLoop)
    return std::nullopt;
  return completion;
}

} // namespace mlir::workgroup
