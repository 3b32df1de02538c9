//===- MissedPhase.h - Waits for phases that are over -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whoever waits for the parity of the phase that he has waited for last gets on
// at once (PTX ISA, mbarrier.test_wait), and reads what TMA is still writing.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_TREE_MISSEDPHASE_H
#define WORKGROUP_LIB_ANALYSIS_TREE_MISSEDPHASE_H

#include "Analysis/Program/KernelLoops.h"
#include "AsyncCompletion.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

namespace mlir::workgroup {

/// Follows `wait`, the only one for mbarriers that have one announcement a
/// phase, through the iterations of the outermost loop that it is in the body
/// of, as far as constants tell. Returns the first iteration in which it misses
/// a copy by `load`, which comes before it in the iteration of the copy or not
/// (`isBefore`); nothing if none is found.
std::optional<MissedPhase> findMissedPhase(nvgpu::MBarrierTryWaitParityOp wait,
                                           nvgpu::TmaAsyncLoadOp load,
                                           bool isBefore, Operation *scope,
                                           const KernelLoops &loops);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_TREE_MISSEDPHASE_H
