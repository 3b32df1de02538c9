//===- PhaseCounter.cpp - Which phase of an mbarrier is waited for --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PhaseCounter.h"
#include "PhaseInduction.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// Values are computed for each state of a counter, of which there are twice as
/// many as mbarriers.
static constexpr int64_t kMaxSize = 64;

std::optional<PhaseCounter>
PhaseCounter::match(nvgpu::MBarrierTryWaitParityOp wait, Operation *scope,
                    const UniformityAnalysis &block, const KernelLoops &loops) {
  PhaseCounter carried(scope, block, loops), counted(scope, block, loops);
  if (carried.matchStart(wait) && carried.matchCarried(wait))
    return carried;
  if (counted.matchStart(wait) && counted.matchIterations())
    return counted;
  return std::nullopt;
}

bool PhaseCounter::matchStart(nvgpu::MBarrierTryWaitParityOp wait) {
  if (std::optional<int64_t> index = getConstantIntValue(wait.getMbarId())) {
    only = *index;
  } else {
    size = wait.getBarriers().getType().getNumBarriers();
    inIteration.push_back(wait.getMbarId());
  }
  inIteration.push_back(wait.getPhaseParity());
  const KernelLoop *around = loops->getLoop(wait);
  bool isFollowed = around && (!around->op || isa<scf::ForOp>(around->op));
  if (isFollowed && loops->isInEachIteration(around, wait))
    loop = around;
  return size <= kMaxSize && getBlockShape(scope).getNumThreads() &&
         llvm::all_of(inIteration,
                      [&](Value value) { return block->isUniform(value); });
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Part number `part` of each state, `ahead` waits later.
ThreadValues PhaseCounter::getPart(unsigned part, int64_t ahead) const {
  ThreadValues values;
  bool isIndex = part == 0 && size > 1;
  for (int64_t state = 0; state < 2 * size; ++state) {
    int64_t number = state + ahead;
    // Booleans are extended by their sign.
    values.push_back(isIndex ? number % size : -(number / size % 2));
  }
  return values;
}

/// Evaluates what follows from the values `of` of the counter: for each state,
/// instead of each thread, of which nothing may depend.
ThreadEvaluator PhaseCounter::makeEvaluator(ThreadEvaluator::Environment others,
                                            ArrayRef<Value> of) const {
  std::array<int64_t, 3> shape;
  for (auto [extent, known] :
       llvm::zip_equal(shape, getBlockShape(scope).sizes))
    extent = *known;
  SmallVector<int64_t> threads(2 * size, 0);
  State state(of);
  return ThreadEvaluator(
      scope, shape, threads,
      [this, state, others](
          Value value, ThreadEvaluator &own) -> std::optional<ThreadValues> {
        for (auto [part, known] : llvm::enumerate(state))
          if (known == value)
            return getPart(part, 0);
        return others ? others(value, own) : std::nullopt;
      });
}

/// True if `values` are what comes next after the state of the wait.
bool PhaseCounter::isNext(ValueRange values) const {
  ThreadEvaluator evaluator = makeEvaluator({}, inIteration);
  return llvm::all_of(llvm::enumerate(values), [&](auto item) {
    const ThreadValues *found = evaluator.evaluate(item.value());
    return found && *found == getPart(item.index(), 1);
  });
}

//===----------------------------------------------------------------------===//
// Around the wait
//===----------------------------------------------------------------------===//

/// True if values count the waits that are handed on to each of them.
bool PhaseCounter::matchCarried(nvgpu::MBarrierTryWaitParityOp wait) {
  auto isNextState = [&](ValueRange values) { return isNext(values); };
  if (!PhaseInduction(wait, scope, isNextState).holds(inIteration))
    return false;
  for (Value value : inIteration) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto carried = argument ? loops->getCarried(argument) : std::nullopt;
    if (carried && carried->loop == loop)
      entering.push_back(carried->initial);
    else
      loop = nullptr;
  }
  return true;
}

/// True if the counter is the number of the iteration of the loop around.
bool PhaseCounter::matchIterations() {
  if (!loop || loop->parent)
    return false;
  iterations = std::make_shared<PeriodicValues>(loop, *loops, scope, 2 * size);
  return llvm::all_of(llvm::enumerate(inIteration), [&](auto item) {
    std::optional<PeriodicValue> found = iterations->evaluate(item.value());
    bool isIndex = item.index() == 0 && size > 1;
    return found && found->isPeriodic() &&
           llvm::all_of(llvm::enumerate(found->at), [&](auto iteration) {
             int64_t number = iteration.index();
             return iteration.value() ==
                    (isIndex ? number % size : number / size);
           });
  });
}

//===----------------------------------------------------------------------===//
// Other indices
//===----------------------------------------------------------------------===//

/// The distance by which `values` are ahead of the counter, in the first
/// `numStates` states.
std::optional<int64_t> PhaseCounter::getDistance(const ThreadValues *values,
                                                 int64_t numStates) const {
  if (!values)
    return std::nullopt;
  int64_t ahead = values->front();
  bool isFollowing = ahead >= 0 && ahead < size;
  for (int64_t state = 0; state < numStates; ++state)
    isFollowing &= (*values)[state] == (state + ahead) % size;
  return isFollowing ? std::optional(ahead) : std::nullopt;
}

/// True if nothing waits before the loop does.
bool PhaseCounter::isFirst() const {
  return llvm::all_of(entering, [](Value part) {
    return getConstantIntValue(part).has_value();
  });
}

/// The same of `value`, which is computed before the loop.
std::optional<int64_t> PhaseCounter::getDistanceBefore(Value value) const {
  return getDistance(makeEvaluator({}, entering).evaluate(value),
                     isFirst() ? 1 : 2 * size);
}

std::optional<int64_t> PhaseCounter::getDistanceFromStart(int64_t index) const {
  bool isKnown = !only && isFirst() && index < size;
  return isKnown ? std::optional(index) : std::nullopt;
}

/// Another value that `loop` carries, and that stays as far ahead.
std::optional<ThreadValues>
PhaseCounter::evaluateCarried(BlockArgument argument) const {
  std::optional<CarriedValue> carried = loops->getCarried(argument);
  if (!loop || !carried || carried->loop != loop)
    return std::nullopt;
  std::optional<int64_t> ahead = getDistanceBefore(carried->initial);
  if (!ahead)
    return std::nullopt;
  auto shifted = [&](int64_t by) {
    ThreadValues values;
    for (int64_t state = 0; state < 2 * size; ++state)
      values.push_back((state + *ahead + by) % size);
    return values;
  };
  auto assumed = [&](Value value, ThreadEvaluator &) {
    return value == argument ? std::optional(shifted(0)) : std::nullopt;
  };
  ThreadEvaluator evaluator = makeEvaluator(assumed, inIteration);
  const ThreadValues *next = evaluator.evaluate(carried->next);
  return next && *next == shifted(1) ? std::optional(shifted(0)) : std::nullopt;
}

std::optional<int64_t> PhaseCounter::getDistance(Value index,
                                                 bool isInIteration) const {
  if (only)
    return getConstantIntValue(index) == only ? std::optional<int64_t>(0)
                                              : std::nullopt;
  if (!block->isUniform(index))
    return std::nullopt;
  if (!isInIteration)
    return getDistanceBefore(index);
  if (iterations) {
    std::optional<PeriodicValue> found = iterations->evaluate(index);
    if (!found || !found->isPeriodic())
      return std::nullopt;
    ThreadValues values(found->at.begin(), found->at.end());
    return getDistance(&values, 2 * size);
  }
  auto carried = [&](Value value, ThreadEvaluator &) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? evaluateCarried(argument) : std::nullopt;
  };
  return getDistance(makeEvaluator(carried, inIteration).evaluate(index),
                     2 * size);
}

} // namespace mlir::workgroup
