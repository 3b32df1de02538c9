//===- ProtocolPeriods.cpp - What goes on as it has begun -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProtocolPeriods.h"
#include "Analysis/Index/PeriodicValues.h"
#include "Analysis/Program/OpEffects.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

namespace mlir::workgroup {

namespace {
/// What values depend on: arguments of a loop's body, and what only a thread
/// knows.
class LoopDependence {
public:
  explicit LoopDependence(scf::ForOp loop) : loop(loop) {}

  /// Follows `value` back to where it comes from.
  void add(Value value);
  /// Adds what loops hand on to the arguments found so far.
  void close();

  llvm::SetVector<Value> arguments;
  bool isOfThread = false;
  /// The first iteration from which on comparisons of the loop's number that
  /// are not followed back have the same results.
  int64_t firstSettled = 0;

private:
  bool settle(arith::CmpIOp compare);
  void addArgument(BlockArgument argument);

  scf::ForOp loop;
  DenseSet<Value> seen;
};
} // namespace

void LoopDependence::addArgument(BlockArgument argument) {
  Operation *owner = argument.getOwner()->getParentOp();
  auto inner = dyn_cast<scf::ForOp>(owner);
  if (inner == loop) {
    arguments.insert(argument);
  } else if (inner && loop->isProperAncestor(inner)) {
    for (Value operand : inner->getOperands())
      add(operand);
    for (Value yielded : inner.getYieldedValues())
      add(yielded);
  } else if (!isa<FunctionOpInterface>(owner)) {
    isOfThread = true; // ids, as a launch has them
  }
}

/// True if `compare` has the same result from some iteration on.
bool LoopDependence::settle(arith::CmpIOp compare) {
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  std::optional<int64_t> than = getConstantIntValue(compare.getRhs());
  if (compare.getLhs() != loop.getInductionVar() || !first || !step || !than ||
      *first < 0 || *step < 1 || *than < 0 || loop.getUnsignedCmp())
    return false;
  int64_t iteration = *than < *first ? 0 : (*than - *first) / *step + 1;
  firstSettled = std::max(firstSettled, iteration);
  return true;
}

void LoopDependence::add(Value value) {
  if (!seen.insert(value).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return addArgument(argument);
  Operation *op = value.getDefiningOp();
  if (auto compare = dyn_cast<arith::CmpIOp>(op); compare && settle(compare))
    return;
  isOfThread |=
      op->getNumOperands() == 0 && !op->hasTrait<OpTrait::ConstantLike>();
  isOfThread |= !isMemoryEffectFree(op);
  for (Value operand : op->getOperands())
    add(operand);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Value yielded : block.getTerminator()->getOperands())
        add(yielded);
}

void LoopDependence::close() {
  for (unsigned next = 0; next < arguments.size(); ++next) {
    auto argument = cast<BlockArgument>(arguments[next]);
    if (argument.getArgNumber() > 0)
      add(loop.getYieldedValues()[argument.getArgNumber() - 1]);
  }
}

/// True if all that was asked for is a function of the number of the iteration
/// that repeats.
static bool isPeriodic(ProtocolWalk &walk, scf::ForOp loop,
                       const KernelLoops &loops, Operation *scope,
                       int64_t period) {
  const KernelLoop *own = loops.getLoopOf(loop);
  if (!walk.isCounted() || !own)
    return false;
  PeriodicValues periodic(own, loops, scope, period);
  return llvm::all_of(walk.getAsked(), [&](Value value) {
    LoopDependence dependence(loop);
    dependence.add(value);
    if (dependence.arguments.empty())
      return true;
    dependence.close();
    std::optional<PeriodicValue> found =
        dependence.isOfThread ? std::nullopt : periodic.evaluate(value);
    return found && found->isPeriodic();
  });
}

bool findPeriod(ProtocolWalk &walk, const KernelLoops &loops, Operation *scope,
                int64_t period) {
  ProtocolStream &stream = walk.getStream();
  if (!stream.endless)
    return true;
  auto loop = cast<scf::ForOp>(stream.endless);
  LoopDependence dependence(loop);
  for (Value value : walk.getAsked())
    dependence.add(value);
  dependence.close();
  stream.firstRepeated = dependence.firstSettled;
  if (dependence.arguments.contains(loop.getInductionVar())) {
    stream.period = period;
    return isPeriodic(walk, loop, loops, scope, period);
  }
  ArrayRef<DenseMap<Value, ThreadValues>> carried = walk.getCarried();
  auto isSame = [&](size_t lhs, size_t rhs) {
    return llvm::all_of(dependence.arguments, [&](Value argument) {
      return carried[lhs].lookup(argument) == carried[rhs].lookup(argument);
    });
  };
  for (size_t first = dependence.firstSettled; first < carried.size(); ++first)
    for (size_t next = first + 1; next < carried.size(); ++next)
      if (isSame(first, next)) {
        stream.firstRepeated = first;
        stream.period = next - first;
        return true;
      }
  return false;
}

//===----------------------------------------------------------------------===//
// What threads know
//===----------------------------------------------------------------------===//

/// True if, in `period` iterations, what is known of `stream` goes on by as
/// many of its iterations, from `before` events on to `behind`; of a stream
/// that is not in its loop, by none.
static bool goesOnLike(const ProtocolStream &stream, int64_t before,
                       int64_t behind, size_t period) {
  bool isBeforeLoop = !stream.endless || behind <= int64_t(stream.turns[0]);
  size_t last = stream.turns.size() - 1;
  return behind - before ==
         (isBeforeLoop
              ? 0
              : int64_t(stream.turns[last] - stream.turns[last - period]));
}

/// True if, from `turn` to `period` iterations later, what `agent` knows goes
/// on by as many iterations of those that it knows of.
static bool isShifted(ArrayRef<ProtocolStream> streams, const ProtocolRun &run,
                      unsigned agent, size_t turn, size_t period) {
  ArrayRef<ProtocolAgent> agents = run.getAgents();
  const ProtocolStream &own = streams[agents[agent].stream];
  const ProtocolClock &before = run.getClock(agent, own.turns[turn]);
  const ProtocolClock &behind = run.getClock(agent, own.turns[turn + period]);
  for (unsigned barrier = 0; barrier < before.getNumBarriers(); ++barrier)
    if ((behind.getEnded(barrier) - before.getEnded(barrier)) % 2 != 0)
      return false;
  for (unsigned other = 0; other < agents.size(); ++other) {
    const ProtocolStream &stream = streams[agents[other].stream];
    if (other != agent && (!goesOnLike(stream, before.getDone(other),
                                       behind.getDone(other), period) ||
                           !goesOnLike(stream, before.getPassed(other),
                                       behind.getPassed(other), period)))
      return false;
  }
  return true;
}

bool isSettled(ArrayRef<ProtocolStream> streams, const ProtocolRun &run) {
  int64_t period = 1, first = 0;
  size_t numTurns = 0;
  for (const ProtocolStream &stream : streams) {
    if (!stream.endless)
      continue;
    period = std::lcm(period, stream.period);
    first = std::max(first, stream.firstRepeated);
    numTurns = stream.turns.size();
  }
  if (numTurns == 0)
    return true;
  if (int64_t(numTurns) < first + 5 * period)
    return false;
  for (unsigned agent = 0; agent < run.getAgents().size(); ++agent) {
    if (!streams[run.getAgents()[agent].stream].endless)
      continue;
    for (size_t turn = numTurns - 3 * period; turn + period < numTurns; ++turn)
      if (!isShifted(streams, run, agent, turn, period))
        return false;
  }
  return true;
}

/// True if, whenever `agent` leaves its loop, it knows that nobody in his loop
/// waits any more for an mbarrier of `group`.
static bool hasNoWaitLeft(ArrayRef<ProtocolStream> streams,
                          const ProtocolRun &run, unsigned agent, Value group) {
  ArrayRef<ProtocolAgent> agents = run.getAgents();
  const ProtocolStream &own = streams[agents[agent].stream];
  auto getEnd = [](const ProtocolStream &stream, size_t turn) {
    return stream.endless && turn < stream.turns.size() ? stream.turns[turn]
                                                        : stream.events.size();
  };
  for (size_t turn = 0; turn <= own.turns.size(); ++turn) {
    const ProtocolClock &clock = run.getClock(agent, getEnd(own, turn));
    for (unsigned other = 0; other < agents.size(); ++other) {
      const ProtocolStream &stream = streams[agents[other].stream];
      size_t last = getEnd(stream, turn);
      while (last > 0) {
        auto wait = dyn_cast<nvgpu::MBarrierTryWaitParityOp>(
            stream.events[last - 1].op);
        if (wait && wait.getBarriers() == group)
          break;
        --last;
      }
      if (other != agent && clock.getPassed(other) < int32_t(last))
        return false;
    }
  }
  return true;
}

bool areBehindHarmless(ArrayRef<ProtocolStream> streams,
                       const ProtocolRun &run) {
  auto isHarmless = [&](unsigned agent, Operation *op) {
    if (auto arrival = dyn_cast<nvgpu::MBarrierArriveOp>(op))
      return hasNoWaitLeft(streams, run, agent, arrival.getBarriers());
    return !isMBarrierOp(op) && !isa<nvgpu::TmaAsyncLoadOp>(op);
  };
  for (auto [number, agent] : llvm::enumerate(run.getAgents()))
    for (Operation *op : streams[agent.stream].behind)
      if (!isHarmless(number, op))
        return false;
  return true;
}

bool isInStep(ArrayRef<ProtocolStream> streams, const ProtocolRun &run) {
  ArrayRef<ProtocolAgent> agents = run.getAgents();
  for (unsigned agent = 0; agent < agents.size(); ++agent) {
    const ProtocolStream &own = streams[agents[agent].stream];
    if (!own.endless)
      continue;
    for (size_t turn = 1; turn < own.turns.size(); ++turn) {
      const ProtocolClock &clock = run.getClock(agent, own.turns[turn]);
      for (unsigned other = 0; other < agents.size(); ++other) {
        const ProtocolStream &stream = streams[agents[other].stream];
        if (other != agent && stream.endless &&
            clock.getDone(other) > int64_t(stream.turns[turn]))
          return false;
      }
    }
  }
  return true;
}

} // namespace mlir::workgroup
