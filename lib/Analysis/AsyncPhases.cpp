//===- AsyncPhases.cpp - When copies by TMA are done ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncPhases.h"
#include "MissedPhase.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
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

namespace {
/// The numbers that a loop counts through one by one.
struct CountedLoop {
  LoopLikeOpInterface op;
  int64_t first = 0, last = 0;
};
} // namespace

/// The loop around `op` if `counter` is what it counts; nothing if it is not.
static std::optional<CountedLoop> getCountedLoop(Operation *op, Value counter) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op->getParentOp());
  if (!isa<scf::ForOp, affine::AffineForOp>(op->getParentOp()) ||
      loop.getSingleInductionVar() != counter)
    return std::nullopt;
  auto getNumber = [](std::optional<OpFoldResult> bound) {
    return bound ? getConstantIntValue(*bound) : std::nullopt;
  };
  std::optional<int64_t> first = getNumber(loop.getSingleLowerBound());
  std::optional<int64_t> end = getNumber(loop.getSingleUpperBound());
  if (!first || !end || *first < 0 || *end <= *first ||
      getNumber(loop.getSingleStep()) != 1)
    return std::nullopt;
  return CountedLoop{loop, *first, *end - 1};
}

static bool isFencedBehind(Operation *op) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
    if (isa<NVVM::FenceMbarrierInitOp>(next) ||
        isProxyFence(next, MemorySpace::Workgroup))
      return true;
  return false;
}

/// Adds the mbarriers of which `init` has each phase end with one announcement,
/// from the first one on: the fence tells TMA of it. False if that is not so.
bool AsyncPhases::addReady(nvgpu::MBarrierInitOp init,
                           DenseSet<int64_t> &ready) const {
  Operation *last = init;
  std::optional<int64_t> first = getConstantIntValue(init.getMbarId());
  std::optional<int64_t> end = first;
  bool isFenced = isFencedBehind(init);
  if (auto loop = getCountedLoop(init, init.getMbarId())) {
    last = loop->op;
    first = loop->first;
    end = loop->last;
    isFenced |= isFencedBehind(last);
  }
  if (!first || !isFenced || sync.loops.getLoop(last) || init.getPredicate() ||
      getConstantIntValue(init.getCount()) != 1 ||
      *end >= int64_t(init.getBarriers().getType().getNumBarriers()))
    return false;
  for (int64_t index = *first; index <= *end; ++index)
    if (!ready.insert(index).second)
      return false;
  return true;
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
              return addReady(init, ready);
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

/// What of the body of `loop` has `op` in it.
static Operation *getTop(Operation *op, Operation *loop) {
  while (op->getParentOp() != loop && op->getParentOp())
    op = op->getParentOp();
  return op;
}

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
  if (!at || !at->isBeforeInBlock(loop))
    return std::nullopt;
  std::optional<int64_t> turn;
  std::optional<unsigned> before;
  const KernelLoop *own = sync.loops.getLoop(arrival);
  if (own == sync.loops.getLoop(loop)) {
    turn = counter.getDistance(arrival.getMbarId(), /*isInTurn=*/false);
  } else if (auto counted =
                 getCountedLoop(getTop(arrival, at), arrival.getMbarId())) {
    // For each turn that it comes behind the first, it is done one later.
    if (own->op != at || counted->op != at || !loopNodes.contains(at))
      return std::nullopt;
    turn = counter.getDistanceFromStart(counted->first);
    before = loopNodes.lookup(at);
  }
  if (!turn)
    return std::nullopt;
  done.inLoop = {step, loopNodes.lookup(loop), *turn, /*isAround=*/false,
                 before};
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
