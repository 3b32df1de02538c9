//===- ThreadWaits.h - Where threads wait for others ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where threads of a kernel may wait for what other threads of the block do,
// other than at a barrier of all: they spin on memory, as for a lock, or meet
// at a barrier of some. A new barrier behind that can keep those others from
// ever doing it, and so hang a kernel that did not.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_SYNC_THREADWAITS_H
#define WORKGROUP_LIB_TRANSFORMS_SYNC_THREADWAITS_H

#include "Analysis/Program/KernelLoops.h"
#include "Analysis/Program/ProgramOrder.h"
#include "workgroup/Analysis/Uniformity.h"

namespace mlir::workgroup {

class ThreadWaits {
public:
  /// `isMet`: whether all threads that a barrier is for are known to come.
  ThreadWaits(Operation *scope, const UniformityAnalysis &block,
              const KernelLoops &loops,
              llvm::function_ref<bool(Operation *)> isMet);

  /// True if there is none.
  bool empty() const { return !first; }
  /// A wait after which control may get to right before `point`; null if there
  /// is none.
  Operation *findBefore(Operation *point) const {
    return first && order.getRange(point).first > start ? first : nullptr;
  }

private:
  unsigned getStart(Operation *wait, const KernelLoops &loops) const;

  ProgramOrder order;
  /// The wait that is first left, and the last position that nothing of it
  /// comes before.
  Operation *first = nullptr;
  unsigned start = 0;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_SYNC_THREADWAITS_H
