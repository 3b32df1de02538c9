//===- MBarriers.h - Barriers that count bytes ------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An mbarrier runs through phases, each of which ends when all that it waits
// for has arrived: threads and, for TMA, bytes. Who waits has to know the
// parity of the phase. It is carried along with control: every loop and branch
// around the wait hands it on, so that it is right however often, and from
// wherever, control gets there.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_MBARRIERS_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_MBARRIERS_H

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// An mbarrier in its group.
struct MBarrier {
  Value group;
  Value index;
};

/// Creates `count` mbarriers where `kernel` begins, each of which waits for
/// `numArrivals` threads. They are ready for use by every thread, and by TMA,
/// behind a barrier; `addBarrier` says whether to put it there.
Value createMBarriers(RewriterBase &rewriter, Location loc, Operation *kernel,
                      int64_t count, bool addBarrier, int64_t numArrivals = 1);

/// Goes to where one thread of the block executes what follows, the same one
/// each time. Null if the block has but one.
scf::IfOp enterElectedThread(RewriterBase &rewriter, Location loc);

/// Orders what the thread has done to workgroup memory before what TMA does
/// there, once a barrier has passed that on.
void createProxyFence(RewriterBase &rewriter, Location loc);

/// Makes every thread wait for the end of the phase of `barrier` whose parity
/// is `parity`; if that is null, of the one that begins where the kernel does,
/// and `advancePhase` is to follow.
nvgpu::MBarrierTryWaitParityOp emitWait(RewriterBase &rewriter, Location loc,
                                        MBarrier barrier, Value parity = {});

/// Makes `wait`, the only one for its mbarrier, wait for the next phase each
/// time it is executed. There must be no obstacle to that.
void advancePhase(RewriterBase &rewriter, nvgpu::MBarrierTryWaitParityOp wait);

/// Why the phase of an mbarrier cannot be carried to `op`; empty if it can.
StringRef getPhaseObstacle(Operation *op);

/// Orders what threads do before `op` to workgroup memory before what TMA does
/// there from `op` on. The barrier that this takes is the one that stands
/// before `op`, with nothing but address arithmetic between; if there is none,
/// one is put there where `op` may be executed again, as the mbarrier must not
/// be used anew while somebody still waits for it. Returns true if a barrier
/// stands there now.
bool orderBeforeTensorCopy(RewriterBase &rewriter, Operation *op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_MBARRIERS_H
