//===- AsyncPhases.h - When copies by TMA are done --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TMA tells an mbarrier of the bytes that have arrived. A phase of it ends when
// a thread has announced them, and all are there: then every thread that waits
// for the phase sees what was copied (PTX ISA, mbarrier). The announcements for
// one mbarrier and the waits for it are paired in their order: that there is a
// wait between any two announcements is for the search for hazards to say, to
// which an announcement is under way until its wait.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_TREE_ASYNCPHASES_H
#define WORKGROUP_LIB_ANALYSIS_TREE_ASYNCPHASES_H

#include "Analysis/Placement/SyncProgram.h"
#include "AsyncCompletion.h"
#include "PhaseCounter.h"
#include "SyncScope.h"

namespace mlir::workgroup {

/// The nodes of operations and loops in the tree of a kernel.
struct PhaseNodes {
  const SyncProgram &program;
  /// The steps of waits that all threads of the block get to together.
  const DenseMap<Operation *, unsigned> &waits;
  DenseMap<const KernelLoop *, unsigned> loops;
  /// The step that the accesses of an operation are part of; none for none.
  llvm::function_ref<std::optional<unsigned>(Operation *)> getStep;
};

class AsyncPhases {
public:
  AsyncPhases(Operation *scope, const SyncScope &sync, const PhaseNodes &nodes);

  /// The completion of `op`, a copy by TMA or what announces it; nothing if
  /// that is not known.
  std::optional<AsyncCompletion> findCompletion(Operation *op) const;

  /// The wait that misses the copies of `load`; null if none is known.
  const MissedPhase *findMissed(Operation *load) const {
    auto it = missed.find(load);
    return it == missed.end() ? nullptr : &it->second;
  }

private:
  /// All uses of the mbarriers that one operation creates.
  struct Group {
    int64_t size = 0;
    SmallVector<nvgpu::MBarrierInitOp> inits;
    SmallVector<nvgpu::MBarrierTryWaitParityOp> waits;
    SmallVector<nvgpu::MBarrierArriveExpectTxOp> arrivals;
    SmallVector<nvgpu::TmaAsyncLoadOp> loads;
  };
  std::optional<Group>
  collect(TypedValue<nvgpu::MBarrierGroupType> barriers) const;
  bool areReady(const Group &group) const;
  bool isBeforeUses(nvgpu::MBarrierInitOp init, const Group &group) const;
  bool isFenced(Operation *init, const DenseSet<Operation *> &users) const;
  std::optional<bool> isBefore(Operation *op,
                               nvgpu::MBarrierTryWaitParityOp wait) const;
  bool follow(const Group &group);
  void findMissed(const Group &group);
  std::optional<AsyncCompletion>
  findWait(nvgpu::MBarrierArriveExpectTxOp arrival,
           nvgpu::MBarrierTryWaitParityOp wait,
           const PhaseCounter &counter) const;
  std::optional<AsyncCompletion>
  findWaitInLoop(nvgpu::MBarrierArriveExpectTxOp arrival,
                 const PhaseCounter &counter,
                 AsyncCompletion::InLoop wait) const;

  Operation *scope;
  const SyncScope &sync;
  const PhaseNodes &nodes;
  DenseMap<Operation *, AsyncCompletion> completions;
  DenseMap<Operation *, MissedPhase> missed;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_TREE_ASYNCPHASES_H
