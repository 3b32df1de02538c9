//===- MissedPhase.cpp - Waits for phases that are over -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MissedPhase.h"
#include "Analysis/Index/IterationValues.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

std::optional<MissedPhase> findMissedPhase(nvgpu::MBarrierTryWaitParityOp wait,
                                           nvgpu::TmaAsyncLoadOp load,
                                           bool isBefore, Operation *scope,
                                           const KernelLoops &loops) {
  constexpr int64_t kMaxBarriers = 64;
  const KernelLoop *loop = loops.getLoop(wait);
  int64_t size = wait.getBarriers().getType().getNumBarriers();
  bool isFollowed = loop && (!loop->op || isa<scf::ForOp>(loop->op));
  if (!isFollowed || loop->parent || !loops.isInEachIteration(loop, wait) ||
      size > kMaxBarriers || !getBlockShape(scope).getNumThreads())
    return std::nullopt;
  IterationValues iterations(loop, loops, scope);
  // Of each mbarrier: phases that were waited for, and in which iteration last.
  SmallVector<int64_t> phases(size, 0), last(size, -1);
  for (int64_t iteration = 0; iteration <= 2 * size; ++iteration) {
    std::optional<int64_t> number =
        iterations.evaluate(wait.getMbarId(), iteration);
    std::optional<int64_t> parity =
        iterations.evaluate(wait.getPhaseParity(), iteration);
    if (!number || !parity || *number < 0 || *number >= size)
      return std::nullopt;
    if ((*parity & 1) == phases[*number] % 2) {
      ++phases[*number];
      last[*number] = iteration;
      continue;
    }
    // What was started since the last wait is not waited for.
    for (int64_t start = iteration - !isBefore;
         start >= std::max<int64_t>(0, last[*number] + isBefore); --start)
      if (iterations.evaluate(load.getMbarId(), start) == *number)
        return MissedPhase{wait, 0, 0, iteration, iteration - start};
    return std::nullopt;
  }
  return std::nullopt;
}

} // namespace mlir::workgroup
