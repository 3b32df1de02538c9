//===- PhaseCounter.h - Which phase of an mbarrier is waited for *- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wait for the parity of a phase says nothing by itself: the mbarrier may be
// in a phase before, of the same parity. It does if the wait is executed for
// mbarrier 0, 1, ..., n - 1, 0, 1, ... in turn, for all of them with parity 0,
// then with parity 1, and so on: wait number s is for mbarrier s mod n and for
// phase s / n of it. That is so if the values it waits with start as 0, go on
// with each wait, and are handed on through all loops and branches around; or
// if they are s mod n and s / n mod 2 of the number s of the iteration.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_TREE_PHASECOUNTER_H
#define WORKGROUP_LIB_ANALYSIS_TREE_PHASECOUNTER_H

#include "Analysis/Index/PeriodicValues.h"
#include "Analysis/Index/ThreadEvaluator.h"
#include "Analysis/Program/KernelLoops.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "workgroup/Analysis/Uniformity.h"

namespace mlir::workgroup {

class PhaseCounter {
public:
  /// The counter that `wait`, the only one for its mbarriers in `scope`, goes
  /// by; nothing if it does not wait for them in turn.
  static std::optional<PhaseCounter> match(nvgpu::MBarrierTryWaitParityOp wait,
                                           Operation *scope,
                                           const UniformityAnalysis &block,
                                           const KernelLoops &loops);

  /// The number of waits from here to the wait for mbarrier `index`, if that is
  /// always the same: seen from the iteration of the wait, or from before its
  /// loop.
  std::optional<int64_t> getDistance(Value index, bool isInIteration) const;

  /// The same of mbarrier number `index`, from before the loop, if that is the
  /// first to wait.
  std::optional<int64_t> getDistanceFromStart(int64_t index) const;

  /// The number of mbarriers.
  int64_t getSize() const { return size; }
  /// The loop that waits once in each iteration; null if the wait is in none,
  /// or in a branch of it.
  const KernelLoop *getLoop() const { return loop; }

private:
  /// The values that stand for the counter at some point: the index, unless
  /// there is but one, and the parity.
  using State = SmallVector<Value, 2>;

  PhaseCounter(Operation *scope, const UniformityAnalysis &block,
               const KernelLoops &loops)
      : scope(scope), block(&block), loops(&loops) {}

  bool matchStart(nvgpu::MBarrierTryWaitParityOp wait);
  bool matchCarried(nvgpu::MBarrierTryWaitParityOp wait);
  bool matchIterations();
  bool isNext(ValueRange values) const;
  ThreadValues getPart(unsigned part, int64_t ahead) const;
  ThreadEvaluator makeEvaluator(ThreadEvaluator::Environment others = {},
                                ArrayRef<Value> of = {}) const;
  std::optional<ThreadValues> evaluateCarried(BlockArgument argument) const;
  std::optional<int64_t> getDistance(const ThreadValues *values,
                                     int64_t numStates) const;
  std::optional<int64_t> getDistanceBefore(Value value) const;
  bool isFirst() const;

  Operation *scope;
  const UniformityAnalysis *block;
  const KernelLoops *loops;
  int64_t size = 1;
  /// The index of the mbarrier, if there is but one.
  std::optional<int64_t> only;
  const KernelLoop *loop = nullptr;
  /// If the counter is the number of the iteration of `loop`.
  std::shared_ptr<PeriodicValues> iterations;
  /// In the iteration of the wait, and before `loop`.
  State inIteration, entering;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_TREE_PHASECOUNTER_H
