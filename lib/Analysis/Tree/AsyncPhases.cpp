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
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

AsyncPhases::AsyncPhases(Operation *scope, const SyncScope &sync,
                         const PhaseNodes &nodes)
    : scope(scope), sync(sync), nodes(nodes) {
  // What a function that is called again finds mbarriers in is not known.
  if (nodes.waits.empty() || !isKernel(scope))
    return;
  scope->walk([&](nvgpu::MBarrierCreateOp create) {
    std::optional<Group> group = collect(create.getBarriers());
    if (group && areReady(*group) && !follow(*group))
      findMissed(*group);
  });
}

std::optional<AsyncCompletion>
AsyncPhases::findCompletion(Operation *op) const {
  auto it = completions.find(op);
  return it == completions.end() ? std::nullopt : std::optional(it->second);
}

/// The node of `sequence` that `node` is, or is in; none if there is none.
static std::optional<unsigned> findInSequence(const SyncProgram &program,
                                              unsigned sequence,
                                              std::optional<unsigned> node) {
  while (node && program.nodes[*node].sequence != sequence)
    node = program.sequences[program.nodes[*node].sequence].parent;
  return node;
}

//===----------------------------------------------------------------------===//
// What uses mbarriers
//===----------------------------------------------------------------------===//

/// All that uses `barriers`; nothing if there is something else.
std::optional<AsyncPhases::Group>
AsyncPhases::collect(TypedValue<nvgpu::MBarrierGroupType> barriers) const {
  Group group;
  group.size = barriers.getType().getNumBarriers();
  for (Operation *user : barriers.getUsers()) {
    bool isKnown =
        llvm::TypeSwitch<Operation *, bool>(user)
            .Case([&](nvgpu::MBarrierInitOp init) {
              group.inits.push_back(init);
              return !init.getPredicate() &&
                     getConstantIntValue(init.getCount()) == 1;
            })
            .Case([&](nvgpu::MBarrierTryWaitParityOp wait) {
              group.waits.push_back(wait);
              return nodes.waits.contains(wait) &&
                     sync.block.isUniformPoint(wait);
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
  return group;
}

namespace {
/// The numbers that a loop counts through one by one.
struct CountedRange {
  int64_t first = 0, last = 0;
};
} // namespace

static std::optional<CountedRange> makeRange(std::optional<int64_t> first,
                                             std::optional<int64_t> end) {
  if (!first || !end || *first < 0 || *end <= *first)
    return std::nullopt;
  return CountedRange{*first, *end - 1};
}

/// The numbers that `counter`, an argument of the header of a natural loop,
/// counts through behind the test of the loop.
static std::optional<CountedRange> getNaturalRange(const KernelLoop *loop,
                                                   BlockArgument counter,
                                                   const KernelLoops &loops) {
  using Predicate = arith::CmpIPredicate;
  std::optional<CarriedValue> carried = loops.getCarried(counter);
  std::optional<LoopTest> test = loops.getTest(loop);
  if (!carried || carried->loop != loop || !test || !test->goesOnIf ||
      test->compare.getLhs() != counter ||
      !llvm::is_contained({Predicate::slt, Predicate::ult},
                          test->compare.getPredicate()))
    return std::nullopt;
  auto next = carried->next.getDefiningOp<arith::AddIOp>();
  if (!next || next.getLhs() != counter ||
      getConstantIntValue(next.getRhs()) != 1)
    return std::nullopt;
  return makeRange(getConstantIntValue(carried->initial),
                   getConstantIntValue(test->compare.getRhs()));
}

/// The numbers that `counter` counts through in the iterations of `loop`;
/// nothing if constants do not tell.
static std::optional<CountedRange> getCountedRange(const KernelLoop *loop,
                                                   Value counter,
                                                   const KernelLoops &loops) {
  if (!loop->op) {
    auto argument = dyn_cast<BlockArgument>(counter);
    return argument ? getNaturalRange(loop, argument, loops) : std::nullopt;
  }
  auto op = dyn_cast<LoopLikeOpInterface>(loop->op);
  if (!isa<scf::ForOp, affine::AffineForOp>(loop->op) ||
      op.getSingleInductionVar() != counter)
    return std::nullopt;
  auto getNumber = [](std::optional<OpFoldResult> bound) {
    return bound ? getConstantIntValue(*bound) : std::nullopt;
  };
  if (getNumber(op.getSingleStep()) != 1)
    return std::nullopt;
  return makeRange(getNumber(op.getSingleLowerBound()),
                   getNumber(op.getSingleUpperBound()));
}

/// The mbarriers that `init` makes ready, if they are known and it is done
/// once.
static std::optional<CountedRange> getRange(nvgpu::MBarrierInitOp init,
                                            const KernelLoops &loops) {
  const KernelLoop *loop = loops.getLoop(init);
  if (!loop) {
    std::optional<int64_t> only = getConstantIntValue(init.getMbarId());
    return only ? std::optional(CountedRange{*only, *only}) : std::nullopt;
  }
  bool isDone = !loop->parent && loops.isInEachIteration(loop, init) &&
                (loop->op || loops.isBehindTest(loop, init));
  return isDone ? getCountedRange(loop, init.getMbarId(), loops) : std::nullopt;
}

/// True if each phase of each mbarrier ends with one announcement, from the
/// first one on: each is made ready before it is used, and a fence tells TMA.
bool AsyncPhases::areReady(const Group &group) const {
  DenseSet<int64_t> ready;
  DenseSet<Operation *> users;
  auto add = [&](Operation *op) {
    for (; op != scope && users.insert(op).second;)
      op = op->getParentOp();
  };
  for (Operation *load : group.loads)
    add(load);
  // Others may use the mbarrier behind them, and have not seen the fence.
  scope->walk([&](Operation *op) {
    OpKind kind = getOpKind(op);
    if (kind == OpKind::Barrier || kind == OpKind::WarpBarrier)
      add(op);
  });
  for (nvgpu::MBarrierInitOp init : group.inits) {
    std::optional<CountedRange> range = getRange(init, sync.loops);
    if (!range || range->last >= group.size || !isFenced(init, users) ||
        !isBeforeUses(init, group))
      return false;
    for (int64_t index = range->first; index <= range->last; ++index)
      if (!ready.insert(index).second)
        return false;
  }
  return int64_t(ready.size()) == group.size;
}

/// True if some thread executes `init`, whatever the kernel is given, and that
/// is before all that uses the mbarriers.
bool AsyncPhases::isBeforeUses(nvgpu::MBarrierInitOp init,
                               const Group &group) const {
  const SyncProgram &program = nodes.program;
  std::optional<unsigned> step = nodes.getStep(init);
  if (!step || !sync.isReachedBySome(init))
    return false;
  const KernelLoop *loop = sync.loops.getLoop(init);
  auto own = nodes.loops.find(loop);
  unsigned at = own == nodes.loops.end() ? *step : own->second;
  bool isInOrder =
      program.nodes[at].sequence == 0 && findInSequence(program, 0, step) == at;
  auto isBehind = [&](Operation *use) {
    std::optional<unsigned> node = nodes.getStep(use);
    if (auto it = nodes.waits.find(use); it != nodes.waits.end())
      node = it->second;
    node = findInSequence(program, 0, node);
    if (node == at && own == nodes.loops.end()) // of threads on their own
      return loop ? sync.loops.isBehind(loop, use)
                  : sync.loops.isPassedBefore(init, use);
    return node && program.nodes[*node].index > program.nodes[at].index;
  };
  return isInOrder && llvm::all_of(group.waits, isBehind) &&
         llvm::all_of(group.arrivals, isBehind) &&
         llvm::all_of(group.loads, isBehind);
}

/// True if on all paths from `init` a fence comes before any of `users`, or of
/// what they are in.
bool AsyncPhases::isFenced(Operation *init,
                           const DenseSet<Operation *> &users) const {
  SmallVector<Operation *> starts{init->getNextNode()};
  DenseSet<Operation *> visited;
  auto add = [&](Operation *start) {
    if (visited.insert(start).second)
      starts.push_back(start);
  };
  while (!starts.empty()) {
    for (Operation *op = starts.pop_back_val(); op; op = op->getNextNode()) {
      if (isa<NVVM::FenceMbarrierInitOp>(op) ||
          isProxyFence(op, MemorySpace::Workgroup))
        break;
      if (users.contains(op))
        return false;
      if (op->getNextNode())
        continue;
      for (Block *next : op->getSuccessors())
        add(&next->front());
      if (op->getNumSuccessors() != 0)
        break;
      Operation *around = op->getParentOp();
      if (around == scope)
        return false; // there is none
      if (sync.loops.getLoopOf(around))
        add(&op->getParentRegion()->front().front());
      add(around->getNextNode());
    }
  }
  return true;
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

/// Whether `op` comes before `wait` in the iteration of the loop that both are
/// in; nothing if it may be in one of several paths only, or a test comes
/// between.
std::optional<bool>
AsyncPhases::isBefore(Operation *op,
                      nvgpu::MBarrierTryWaitParityOp wait) const {
  const SyncProgram &program = nodes.program;
  const SyncNode &step = program.nodes[nodes.waits.lookup(wait)];
  std::optional<unsigned> at =
      findInSequence(program, step.sequence, nodes.getStep(op));
  if (!at || sync.loops.getLoop(op) != sync.loops.getLoop(wait))
    return std::nullopt;
  unsigned index = program.nodes[*at].index;
  std::optional<unsigned> around = program.sequences[step.sequence].parent;
  unsigned exit = around ? program.nodes[*around].exit : 0;
  if ((index < exit) != (step.index < exit))
    return std::nullopt;
  return index < step.index;
}

/// The completion of `arrival` if it is waited for at `wait`.
std::optional<AsyncCompletion>
AsyncPhases::findWait(nvgpu::MBarrierArriveExpectTxOp arrival,
                      nvgpu::MBarrierTryWaitParityOp wait,
                      const PhaseCounter &counter) const {
  AsyncCompletion done;
  done.isForAll = true;
  unsigned step = nodes.waits.lookup(wait);
  auto loop = nodes.loops.find(counter.getLoop());
  if (std::optional<bool> isFirst = isBefore(arrival, wait)) {
    std::optional<int64_t> iterations =
        counter.getDistance(arrival.getMbarId(), /*isInIteration=*/true);
    if (iterations == 0 && *isFirst) {
      done.last = step;
      return done;
    }
    if (!iterations || loop == nodes.loops.end())
      return std::nullopt;
    // This iteration's wait for the mbarrier is over.
    if (*iterations == 0)
      iterations = counter.getSize();
    done.inLoop = {step, loop->second, *iterations, /*isAround=*/true,
                   std::nullopt};
    return done;
  }
  if (loop == nodes.loops.end())
    return std::nullopt;
  return findWaitInLoop(arrival, counter, {step, loop->second});
}

/// The same of an announcement that comes before the loop of the wait: that is
/// `wait`, but for the iteration.
std::optional<AsyncCompletion>
AsyncPhases::findWaitInLoop(nvgpu::MBarrierArriveExpectTxOp arrival,
                            const PhaseCounter &counter,
                            AsyncCompletion::InLoop wait) const {
  const SyncNode &loop = nodes.program.nodes[wait.loop];
  std::optional<unsigned> at =
      findInSequence(nodes.program, loop.sequence, nodes.getStep(arrival));
  if (!at || nodes.program.nodes[*at].index >= loop.index)
    return std::nullopt;
  std::optional<int64_t> iteration;
  const KernelLoop *own = sync.loops.getLoop(arrival);
  if (own == counter.getLoop()->parent) {
    iteration =
        counter.getDistance(arrival.getMbarId(), /*isInIteration=*/false);
  } else if (nodes.loops.contains(own) && nodes.loops.lookup(own) == *at) {
    // For each iteration that it comes behind the first, it is done one later.
    if (auto range = getCountedRange(own, arrival.getMbarId(), sync.loops))
      iteration = counter.getDistanceFromStart(range->first);
    wait.before = *at;
  }
  if (!iteration)
    return std::nullopt;
  wait.iterations = *iteration;
  AsyncCompletion done;
  done.isForAll = true;
  done.inLoop = wait;
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
  auto loop = nodes.loops.find(sync.loops.getLoop(wait));
  if (loop == nodes.loops.end() || !sync.block.isUniform(wait.getMbarId()) ||
      !sync.block.isUniform(wait.getPhaseParity()))
    return;
  for (nvgpu::TmaAsyncLoadOp load : group.loads) {
    std::optional<bool> isFirst = isBefore(load, wait);
    if (!isFirst || !sync.block.isUniform(load.getMbarId()))
      continue;
    std::optional<MissedPhase> found =
        findMissedPhase(wait, load, *isFirst, scope, sync.loops);
    if (!found)
      continue;
    found->step = nodes.waits.lookup(wait);
    found->loop = loop->second;
    missed[load] = *found;
  }
}

} // namespace mlir::workgroup
