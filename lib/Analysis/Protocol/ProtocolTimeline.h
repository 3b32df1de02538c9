//===- ProtocolTimeline.h - Who uses which mbarrier when --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a reader wants to know of mbarriers: which threads arrive, wait and copy
// at which of them, in which iteration, and for which phase.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLTIMELINE_H
#define WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLTIMELINE_H

#include "Analysis/Program/KernelLoops.h"
#include "workgroup/Analysis/ThreadAccesses.h"

namespace mlir::workgroup {

/// One execution of an operation on an mbarrier.
struct ProtocolStep {
  /// Of the loops around it, outermost first.
  SmallVector<int64_t, 2> iterations;
  /// The index of the mbarrier in its group.
  int64_t slot = 0;
  /// The phase that is waited for, arrived in or copied in, counted from 0; -1
  /// for a wait that passes because no phase has ended. Nothing if the order of
  /// threads decides.
  std::optional<int64_t> phase;
  /// Of a wait.
  bool parity = false;
  /// That an arrival announces, or a copy brings.
  int64_t bytes = 0;

  bool operator==(const ProtocolStep &other) const {
    return iterations == other.iterations && slot == other.slot &&
           phase == other.phase && parity == other.parity &&
           bytes == other.bytes;
  }
};

/// What the same threads do by an operation on a group of mbarriers, at first.
struct ProtocolUse {
  Operation *op = nullptr;
  /// By linear ids, in order.
  SmallVector<int64_t, 0> threads;
  std::vector<ProtocolStep> steps;
};

/// The uses of the mbarriers of `scope`, but for those that make them ready;
/// nothing if the threads are not followed. If any lane of a warp may be the
/// elected one, it is the first.
std::optional<std::vector<ProtocolUse>>
findProtocolUses(Operation *scope, const ThreadAccesses &accesses,
                 const KernelLoops &loops);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLTIMELINE_H
