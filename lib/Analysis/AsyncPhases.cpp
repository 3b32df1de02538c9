//===- AsyncPhases.cpp - When copies by TMA are done ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncPhases.h"
#include "MissedPhase.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

AsyncPhases::AsyncPhases(Operation *scope, const SyncScope &sync,
                         const DenseMap<Operation *, unsigned> &steps,
                         const DenseMap<Operation *, unsigned> &loopNodes)
    : scope(scope), sync(sync), steps(steps), loopNodes(loopNodes) {
  // What a function that is called again finds mbarriers in is not known.
  if (steps.empty() || !isKernel(scope))
    return;
  scope->walk([&](nvgpu::MBarrierCreateOp create) {
    std::optional<Group> group = collect(create.getBarriers());
    if (group && !follow(*group))
      findMissed(*group);
  });
}

std::optional<AsyncCompletion>
AsyncPhases::findCompletion(Operation *op) const {
  auto it = completions.find(op);
  return it == completions.end() ? std::nullopt : std::optional(it->second);
}

//===----------------------------------------------------------------------===//
// What uses mbarriers
//===----------------------------------------------------------------------===//

/// True if each phase ends with one announcement, from the first one on: the
/// fence tells TMA of it.
bool AsyncPhases::isReady(nvgpu::MBarrierInitOp init) const {
  bool isFenced = false;
  for (Operation *next = init->getNextNode(); next && !isFenced;
       next = next->getNextNode())
    isFenced = isa<NVVM::FenceMbarrierInitOp>(next) ||
               isProxyFence(next, MemorySpace::Workgroup);
  if (!isFenced)
    return false;
  return !sync.loops.getLoop(init) && !init.getPredicate() &&
         getConstantIntValue(init.getCount()) == 1;
}

/// All that uses `barriers`; nothing if there is something else, or some of
/// them are not ready for it.
std::optional<AsyncPhases::Group>
AsyncPhases::collect(TypedValue<nvgpu::MBarrierGroupType> barriers) const {
  Group group;
  DenseSet<int64_t> ready;
  for (Operation *user : barriers.getUsers()) {
    bool isKnown =
        llvm::TypeSwitch<Operation *, bool>(user)
            .Case([&](nvgpu::MBarrierInitOp init) {
              std::optional<int64_t> index =
                  getConstantIntValue(init.getMbarId());
              return index && ready.insert(*index).second && isReady(init);
            })
            .Case([&](nvgpu::MBarrierTryWaitParityOp wait) {
              group.waits.push_back(wait);
              return steps.contains(wait) && sync.block.isUniformPoint(wait);
            })
            .Case([&](nvgpu::MBarrierArriveExpectTxOp arrival) {
              group.arrivals.push_back(arrival);
              return !arrival.getPredicate();
            })
            .Case([&](nvgpu::TmaAsyncLoadOp load) {
              group.loads.push_back(load);
              return !load.getPredicate() && !load.getMulticastMask();
            })
            .Default([](Operation *) { return false; });
    if (!isKnown)
      return std::nullopt;
  }
  if (ready.size() != barriers.getType().getNumBarriers())
    return std::nullopt;
  return group;
}

static int64_t getNumBytes(nvgpu::TmaAsyncLoadOp load) {
  MemRefType tile = load.getTensorMapDescriptor().getType().getTensor();
  return tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
}

/// The copies that `arrival` announces: in its block, behind it, and of as many
/// bytes.
static std::optional<SmallVector<nvgpu::TmaAsyncLoadOp>>
getAnnounced(nvgpu::MBarrierArriveExpectTxOp arrival,
             ArrayRef<nvgpu::TmaAsyncLoadOp> loads) {
  SmallVector<nvgpu::TmaAsyncLoadOp> announced;
  int64_t bytes = 0;
  for (nvgpu::TmaAsyncLoadOp load : loads) {
    if (load->getBlock() != arrival->getBlock() ||
        !arrival->isBeforeInBlock(load) ||
        !isEqualConstantIntOrValue(getAsOpFoldResult(load.getMbarId()),
                                   getAsOpFoldResult(arrival.getMbarId())))
      continue;
    announced.push_back(load);
    bytes += getNumBytes(load);
  }
  return getConstantIntValue(arrival.getTxcount()) == bytes
             ? std::optional(announced)
             : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Pairs of announcements and waits
//===----------------------------------------------------------------------===//

/// Where `arrival` has been waited for at `wait`.
std::optional<AsyncCompletion>
AsyncPhases::findWait(nvgpu::MBarrierArriveExpectTxOp arrival,
                      nvgpu::MBarrierTryWaitParityOp wait,
                      const PhaseCounter &counter) const {
  AsyncCompletion done;
  done.isForAll = true;
  unsigned step = steps.lookup(wait);
  scf::ForOp loop = counter.getLoop();
  if (Operation *at = wait->getBlock()->findAncestorOpInBlock(*arrival)) {
    std::optional<int64_t> turns =
        counter.getDistance(arrival.getMbarId(), /*isInTurn=*/true);
    if (!turns || sync.loops.getLoop(arrival) != sync.loops.getLoop(wait))
      return std::nullopt;
    bool isBefore = at->isBeforeInBlock(wait);
    if (*turns == 0 && isBefore) {
      done.last = step;
      return done;
    }
    if (!loop || !loopNodes.contains(loop))
      return std::nullopt;
    // This turn's wait for the mbarrier is over.
    if (*turns == 0)
      turns = counter.getSize();
    done.inLoop = {step, loopNodes.lookup(loop), *turns, /*isAround=*/true,
                   std::nullopt};
    return done;
  }
  if (!loop || !loopNodes.contains(loop))
    return std::nullopt;
  Operation *at = loop->getBlock()->findAncestorOpInBlock(*arrival);
  std::optional<int64_t> turn =
      counter.getDistance(arrival.getMbarId(), /*isInTurn=*/false);
  if (!turn || !at || !at->isBeforeInBlock(loop) ||
      sync.loops.getLoop(arrival) != sync.loops.getLoop(loop))
    return std::nullopt;
  done.inLoop = {step, loopNodes.lookup(loop), *turn, /*isAround=*/false,
                 std::nullopt};
  return done;
}

/// Finds where the copies of `group` are done; false if that is not known of
/// all of them.
bool AsyncPhases::follow(const Group &group) {
  SmallVector<std::pair<nvgpu::MBarrierTryWaitParityOp, PhaseCounter>> waits;
  DenseSet<int64_t> indices;
  for (nvgpu::MBarrierTryWaitParityOp wait : group.waits) {
    std::optional<PhaseCounter> counter =
        PhaseCounter::match(wait, scope, sync.block, sync.loops);
    std::optional<int64_t> index = getConstantIntValue(wait.getMbarId());
    // Several waits are of mbarriers of their own.
    if (!counter || (!index && group.waits.size() > 1) ||
        (index && !indices.insert(*index).second))
      return false;
    waits.emplace_back(wait, *counter);
  }
  DenseMap<Operation *, AsyncCompletion> found;
  for (nvgpu::MBarrierArriveExpectTxOp arrival : group.arrivals) {
    auto announced = getAnnounced(arrival, group.loads);
    std::optional<AsyncCompletion> done;
    for (auto &[wait, counter] : waits)
      if (!done)
        done = findWait(arrival, wait, counter);
    if (!announced || !done)
      return false;
    found.try_emplace(arrival, *done);
    for (nvgpu::TmaAsyncLoadOp load : *announced)
      if (!found.try_emplace(load, *done).second)
        return false; // announced twice
  }
  bool isComplete = llvm::all_of(
      group.loads, [&](Operation *load) { return found.contains(load); });
  if (isComplete)
    for (auto &[op, done] : found)
      completions.try_emplace(op, done);
  return isComplete;
}

/// Finds copies of `group` that the only wait for them misses.
void AsyncPhases::findMissed(const Group &group) {
  if (group.waits.size() != 1)
    return;
  nvgpu::MBarrierTryWaitParityOp wait = group.waits.front();
  if (!sync.block.isUniform(wait.getMbarId()) ||
      !sync.block.isUniform(wait.getPhaseParity()))
    return;
  for (nvgpu::TmaAsyncLoadOp load : group.loads) {
    if (!sync.block.isUniform(load.getMbarId()))
      continue;
    std::optional<MissedPhase> found =
        findMissedPhase(wait, load, scope, sync.loops);
    Operation *loop = wait->getParentOp();
    if (!found || !loopNodes.contains(loop))
      continue;
    found->step = steps.lookup(wait);
    found->loop = loopNodes.lookup(loop);
    missed[load] = *found;
  }
}

} // namespace mlir::workgroup
