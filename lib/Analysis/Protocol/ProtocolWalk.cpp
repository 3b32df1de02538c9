//===- ProtocolWalk.cpp - What some threads do, in order ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProtocolWalk.h"
#include "Analysis/Program/OpEffects.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

namespace mlir::workgroup {

/// Threads that do more are not followed.
static constexpr size_t kMaxEvents = 1 << 15;

ProtocolWalk::ProtocolWalk(Operation *scope, const ProtocolTargets &targets,
                           ArrayRef<int64_t> threads, int64_t numTurns,
                           int64_t elected, bool goesOn)
    : scope(scope), targets(targets), numTurns(numTurns), elected(elected),
      goesOn(goesOn) {
  stream.threads.assign(threads.begin(), threads.end());
  stream.iterations.emplace_back();
  for (auto &engine : groups)
    engine.emplace_back();
  for (auto [extent, known] :
       llvm::zip_equal(shape, getBlockShape(scope).sizes))
    extent = *known;
  refresh();
}

bool ProtocolWalk::walk() {
  Region *body = getBody(scope);
  return body && body->hasOneBlock() && walkBlock(body->front());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Begins to compute anew: what loops hand on has changed.
void ProtocolWalk::refresh() {
  evaluator = std::make_unique<ThreadEvaluator>(
      scope, shape, stream.threads, [this](Value value, ThreadEvaluator &own) {
        return getBound(value, own);
      });
}

/// What no arithmetic gives: what loops and branches hand on, and which lane is
/// elected.
std::optional<ThreadValues> ProtocolWalk::getBound(Value value,
                                                   ThreadEvaluator &own) {
  if (auto it = bound.find(value); it != bound.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<NVVM::ElectSyncOp>(op)) {
    ThreadValues elects;
    for (int64_t thread : stream.threads)
      elects.push_back(thread % kWarpSize == elected ? -1 : 0);
    return elects;
  }
  auto branch = dyn_cast_or_null<scf::IfOp>(op);
  const ThreadValues *condition =
      branch ? own.evaluate(branch.getCondition()) : nullptr;
  if (!condition || branch.getElseRegion().empty())
    return std::nullopt;
  unsigned number = cast<OpResult>(value).getResultNumber();
  const ThreadValues *yes = own.evaluate(branch.thenYield().getOperand(number));
  const ThreadValues *no = own.evaluate(branch.elseYield().getOperand(number));
  if (!yes || !no)
    return std::nullopt;
  ThreadValues chosen;
  for (auto [taken, lhs, rhs] : llvm::zip_equal(*condition, *yes, *no))
    chosen.push_back(taken ? lhs : rhs);
  return chosen;
}

const ThreadValues *ProtocolWalk::evaluate(Value value) {
  const ThreadValues *values = evaluator->evaluate(value);
  if (numEndless && values)
    asked.insert(value);
  return values;
}

/// What `value` is for all threads; nothing, and a split, if it differs.
std::optional<int64_t> ProtocolWalk::evaluateOne(Value value, Operation *op) {
  const ThreadValues *values = evaluate(value);
  if (!values) {
    fail(op);
    return std::nullopt;
  }
  if (llvm::all_equal(*values))
    return values->front();
  split.assign(values->begin(), values->end());
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

bool ProtocolWalk::walkBlock(Block &block) {
  for (Operation &op : block) {
    if (isStopped)
      leaveBehind(op);
    else if (targets.isRelevant(&op) && !visit(op))
      return false;
  }
  return true;
}

/// Passes what is in `op` and only orders: to leave it out proves no more.
void ProtocolWalk::leaveOut(Operation *op) { stream.isExact = false; }

/// Passes what comes behind a loop that goes on: nobody says when.
void ProtocolWalk::leaveBehind(Operation &op) {
  if (targets.isNeeded(&op))
    op.walk([&](Operation *inner) {
      if (!targets.getAccesses(inner).empty() || isMBarrierOp(inner) ||
          isa<nvgpu::TmaAsyncLoadOp>(inner))
        stream.behind.push_back(inner);
    });
}

bool ProtocolWalk::visit(Operation &op) {
  if (stream.events.size() > kMaxEvents)
    return fail(&op);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitIf(branch);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop);
  if (isa<scf::ExecuteRegionOp, memref::AllocaScopeOp>(op) &&
      op.getRegion(0).hasOneBlock())
    return walkBlock(op.getRegion(0).front());
  if (op.getNumRegions() == 0)
    return visitLeaf(op);
  if (targets.isNeeded(&op))
    return fail(&op);
  leaveOut(&op);
  return true;
}

bool ProtocolWalk::visitIf(scf::IfOp branch) {
  const ThreadValues *taken = evaluate(branch.getCondition());
  if (taken && !llvm::all_equal(*taken)) {
    split.assign(taken->begin(), taken->end());
    return false;
  }
  auto walkRegion = [&](Region &region) {
    return region.empty() || walkBlock(region.front());
  };
  if (taken)
    return walkRegion(branch->getRegion(taken->front() ? 0 : 1));
  if (!targets.isNeeded(branch)) {
    leaveOut(branch);
    return true;
  }
  if (targets.hasSync(branch))
    return fail(branch);
  // What may be done is as good as done.
  stream.isExact = false;
  return walkRegion(branch.getThenRegion()) &&
         walkRegion(branch.getElseRegion());
}

/// True if a loop in `loop` goes on for an unknown or large number of
/// iterations.
bool ProtocolWalk::holdsEndless(scf::ForOp loop) {
  return loop.getBody()
      ->walk([&](scf::ForOp inner) {
        if (!targets.isNeeded(inner) || !targets.hasSync(inner))
          return WalkResult::advance();
        std::optional<int64_t> count = getBounds(inner).count;
        bool isFollowed = count && *count <= (goesOn ? 1 : numTurns);
        return isFollowed ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// A loop in which nothing is waited for: it makes no difference in which
/// iteration something is accessed.
bool ProtocolWalk::visitRepeated(scf::ForOp loop) {
  ranges.erase(loop.getInductionVar());
  const ThreadValues *first = evaluate(loop.getLowerBound());
  const ThreadValues *end = evaluate(loop.getUpperBound());
  bool isUp = getConstantIntValue(loop.getStep()).value_or(0) > 0;
  if (first && end && isUp) {
    int64_t least = *llvm::min_element(*first);
    int64_t most = *llvm::max_element(*end) - 1;
    if (most < least)
      return true;
    ranges[loop.getInductionVar()] = {least, most};
  }
  return walkBlock(*loop.getBody());
}

bool ProtocolWalk::visitFor(scf::ForOp loop) {
  if (!targets.isNeeded(loop)) {
    leaveOut(loop);
    return true;
  }
  bool isRepeated = !targets.hasSync(loop);
  if (isRepeated && !targets.hasAsync(loop))
    return visitRepeated(loop);
  Bounds bounds = getBounds(loop);
  if (!split.empty())
    return false;
  // What goes on by itself may meet what it does an iteration later.
  constexpr int64_t kMaxRepeated = 64;
  if (isRepeated && !(bounds.count && *bounds.count <= kMaxRepeated))
    return fail(loop);
  if (bounds.step && *bounds.step < 1)
    return fail(loop);
  bool isFew = bounds.count && *bounds.count <= numTurns;
  if (isRepeated || (isFew && (!isOfEndless || *bounds.count <= 1)))
    return visitTurns(loop, bounds.count, bounds);
  if (holdsEndless(loop)) {
    // The one in it goes on from iteration to iteration of this one.
    size_t numBefore = stream.events.size();
    bounds.first = std::nullopt;
    llvm::SaveAndRestore isAround(isOfEndless, goesOn);
    return visitTurns(loop, 1, bounds) &&
           (isStopped || stream.events.size() == numBefore || fail(loop));
  }
  stream.isExact &= !isFew; // it has not that many iterations
  if (stream.endless || numEndless || !targets.isHandedOn(loop, scope))
    return fail(loop);
  isCountable &= around.empty();
  // In another loop it begins anew, which is to be as if it went on.
  if (!around.empty())
    bounds.first = std::nullopt;
  return visitTurns(loop, std::nullopt, bounds);
}

/// The bounds of `loop`; what differs between threads is a split.
ProtocolWalk::Bounds ProtocolWalk::getBounds(scf::ForOp loop) {
  auto find = [&](Value value) -> std::optional<int64_t> {
    const ThreadValues *values = evaluate(value);
    if (!values)
      return std::nullopt;
    if (!llvm::all_equal(*values))
      split.assign(values->begin(), values->end());
    return values->front();
  };
  Bounds bounds;
  bounds.first = find(loop.getLowerBound());
  bounds.step = find(loop.getStep());
  std::optional<int64_t> end = find(loop.getUpperBound());
  if (bounds.first && end && bounds.step && *bounds.step > 0)
    bounds.count = *end <= *bounds.first
                       ? 0
                       : llvm::divideCeil(*end - *bounds.first, *bounds.step);
  return bounds;
}

/// Goes through `count` iterations; through as many as are asked for if that is
/// not given, and stops then.
bool ProtocolWalk::visitTurns(scf::ForOp loop, std::optional<int64_t> count,
                              const Bounds &bounds) {
  bool isEndless = !count;
  bool isNested = isEndless && !around.empty();
  DenseMap<Value, ThreadValues> next;
  for (auto [argument, initial] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs())) {
    // In an iteration of the loop around it is to go on, not to begin again.
    auto outer = dyn_cast<BlockArgument>(initial);
    bool goesOn = !isNested || (outer && outer.getOwner()->getParentOp() ==
                                             around.back().loop);
    if (const ThreadValues *values = goesOn ? evaluate(initial) : nullptr)
      next[argument] = *values;
  }
  numEndless += isEndless;
  if (isEndless)
    stream.endless = loop;
  int64_t turns = count.value_or(numTurns);
  for (int64_t turn = 0; turn < turns && !isStopped; ++turn) {
    for (Value argument : loop.getRegionIterArgs()) {
      bound.erase(argument);
      if (auto it = next.find(argument); it != next.end())
        bound[argument] = it->second;
    }
    bound.erase(loop.getInductionVar());
    if (bounds.first && bounds.step)
      bound[loop.getInductionVar()] =
          evaluator->splat(*bounds.first + turn * *bounds.step);
    refresh();
    if (isEndless) {
      stream.turns.push_back(stream.events.size());
      carried.push_back(bound);
    }
    around.push_back({loop, turn});
    stream.iterations.push_back(around);
    if (!walkBlock(*loop.getBody()))
      return false;
    around.pop_back();
    stream.iterations.push_back(around);
    next.clear();
    for (auto [argument, yielded] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
      if (const ThreadValues *values = evaluator->evaluate(yielded))
        next[argument] = *values;
  }
  isStopped |= isEndless;
  if (isStopped)
    return true;
  for (auto [argument, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
    if (auto it = next.find(argument); it != next.end())
      bound[result] = it->second;
  refresh();
  return true;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

ProtocolEvent &ProtocolWalk::add(ProtocolEvent::Kind kind, Operation *op) {
  ProtocolEvent event;
  event.kind = kind;
  event.op = op;
  event.iterations = stream.iterations.size() - 1;
  stream.events.push_back(event);
  return stream.events.back();
}

bool ProtocolWalk::visitLeaf(Operation &op) {
  if (isMBarrierOp(&op))
    return visitMBarrier(op);
  if (auto load = dyn_cast<nvgpu::TmaAsyncLoadOp>(op))
    return visitCopy(load);
  switch (getOpKind(&op)) {
  case OpKind::Barrier:
    return visitBarrier(op);
  case OpKind::WarpBarrier:
    if (isWarpBarrier(&op))
      add(ProtocolEvent::WarpMeeting, &op);
    else
      leaveOut(&op);
    return true;
  case OpKind::ProxyFence:
    if (isProxyFence(&op, MemorySpace::Workgroup))
      add(ProtocolEvent::Fence, &op);
    return true;
  case OpKind::GroupAccess:
  case OpKind::GroupCommit:
  case OpKind::GroupWait:
    visitGroup(op);
    return true;
  default:
    break;
  }
  if (isa<NVVM::FenceMbarrierInitOp>(op))
    add(ProtocolEvent::Fence, &op).isOfInits = true;
  auto store = dyn_cast<nvgpu::TmaAsyncStoreOp>(op);
  std::optional<bool> isDone =
      isPredicated(store ? store.getPredicate() : Value(), &op);
  if (isDone.value_or(false))
    addAccesses(&op, {});
  return isDone.has_value();
}

std::optional<bool> ProtocolWalk::isPredicated(Value predicate, Operation *op) {
  if (!predicate)
    return true;
  std::optional<int64_t> value = evaluateOne(predicate, op);
  return value ? std::optional(*value != 0) : std::nullopt;
}

bool ProtocolWalk::setBarrier(ProtocolEvent &event, Value group, Value index) {
  std::optional<int64_t> number = evaluateOne(index, event.op);
  if (!number)
    return false;
  std::optional<unsigned> barrier = targets.getBarrier(group, *number);
  if (!barrier)
    return fail(event.op);
  event.barrier = *barrier;
  return true;
}

bool ProtocolWalk::visitMBarrier(Operation &op) {
  ProtocolEvent event;
  event.op = &op;
  event.count = 1;
  auto read = [&](Value value, int64_t &number) {
    std::optional<int64_t> found = evaluateOne(value, &op);
    number = found.value_or(0);
    return found.has_value();
  };
  Value predicate;
  bool isKnown =
      llvm::TypeSwitch<Operation *, bool>(&op)
          .Case([&](nvgpu::MBarrierInitOp init) {
            event.kind = ProtocolEvent::Init;
            predicate = init.getPredicate();
            return setBarrier(event, init.getBarriers(), init.getMbarId()) &&
                   read(init.getCount(), event.count);
          })
          .Case([&](nvgpu::MBarrierTryWaitParityOp wait) {
            event.kind = ProtocolEvent::Wait;
            int64_t parity = 0;
            bool isFound =
                setBarrier(event, wait.getBarriers(), wait.getMbarId()) &&
                read(wait.getPhaseParity(), parity);
            event.parity = parity & 1;
            return isFound;
          })
          .Case([&](nvgpu::MBarrierArriveOp arrival) {
            event.kind = ProtocolEvent::Arrive;
            return setBarrier(event, arrival.getBarriers(),
                              arrival.getMbarId());
          })
          .Case([&](nvgpu::MBarrierArriveExpectTxOp arrival) {
            event.kind = ProtocolEvent::Arrive;
            predicate = arrival.getPredicate();
            return setBarrier(event, arrival.getBarriers(),
                              arrival.getMbarId()) &&
                   read(arrival.getTxcount(), event.bytes);
          })
          .Default([](Operation *) { return false; });
  if (!isKnown)
    return split.empty() ? fail(&op) : false;
  std::optional<bool> isDone = isPredicated(predicate, &op);
  if (isDone.value_or(false)) {
    event.iterations = stream.iterations.size() - 1;
    stream.events.push_back(event);
  }
  return isDone.has_value();
}

bool ProtocolWalk::visitBarrier(Operation &op) {
  auto named = dyn_cast<NVVM::BarrierOp>(op);
  ProtocolEvent event;
  event.kind = ProtocolEvent::Meeting;
  event.op = &op;
  event.iterations = stream.iterations.size() - 1;
  if (named && named.getBarrierId()) {
    std::optional<int64_t> id = evaluateOne(named.getBarrierId(), &op);
    if (!id)
      return false;
    event.barrier = *id;
  }
  if (named && named.getNumberOfThreads()) {
    std::optional<int64_t> count = evaluateOne(named.getNumberOfThreads(), &op);
    if (!count)
      return false;
    event.count = *count;
  }
  stream.events.push_back(event);
  return true;
}

/// Adds the accesses of `op` that are followed, each as `like`.
void ProtocolWalk::addAccesses(Operation *op, const ProtocolEvent &like) {
  auto evaluateTerm = [&](Value value) { return evaluate(value); };
  for (unsigned number : targets.getAccesses(op)) {
    const ThreadAccess &access = targets.getAccess(number);
    ProtocolEvent event = like;
    event.isAsync =
        like.product || (access.isAsync && like.kind == ProtocolEvent::Access);
    OpKind kind = getOpKind(op);
    if (event.isAsync && kind == OpKind::AsyncCopy)
      groups[AsyncGroup::Copies].back().push_back(stream.events.size());
    if (event.isAsync && kind == OpKind::BulkStore)
      groups[AsyncGroup::Stores].back().push_back(stream.events.size());
    event.op = op;
    event.access = number;
    event.place = stream.places.size();
    event.iterations = stream.iterations.size() - 1;
    stream.places.push_back(
        getProtocolPlace(access, stream.threads.size(), evaluateTerm, ranges));
    stream.events.push_back(event);
  }
}

bool ProtocolWalk::visitCopy(nvgpu::TmaAsyncLoadOp load) {
  std::optional<bool> isDone = isPredicated(load.getPredicate(), load);
  if (!isDone.value_or(false))
    return isDone.has_value();
  ProtocolEvent event;
  event.kind = ProtocolEvent::Copy;
  event.op = load;
  if (!setBarrier(event, load.getBarriers(), load.getMbarId()))
    return false;
  MemRefType tile = load.getTensorMapDescriptor().getType().getTensor();
  if (!tile.hasStaticShape() || targets.getAccesses(load).size() != 1)
    return fail(load);
  event.bytes = tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
  addAccesses(load, event);
  return true;
}

} // namespace mlir::workgroup
