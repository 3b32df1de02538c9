//===- LoopReach.h - Which threads get to a parallel loop -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that does not get to a loop executes none of its iterations, so
// that they are lost; and a barrier that it does not get to waits for ever.
// What is looked for is control that follows from ids of threads, or from
// induction variables of loops that are about to become ids. What is loaded
// from memory is taken to be the same for all.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LOOPS_LOOPREACH_H
#define WORKGROUP_LIB_TRANSFORMS_LOOPS_LOOPREACH_H

#include "ParallelLoops.h"

namespace mlir::workgroup {

/// The functions inside of `root` that only the host executes, as those tell
/// that launch kernels: they are called there, and by no kernel.
DenseSet<Operation *> findHostFunctions(Operation *root);

/// Follows values to the ids that they are made of.
class LoopReach {
public:
  explicit LoopReach(const DistributeLoopsOptions &options)
      : options(options) {}

  /// The operation between `op` and `scope` that sends processors of the level
  /// different ways; null for none. Lanes have to agree in each warp only.
  Operation *findParting(Operation *op, Operation *scope,
                         ProcessorLevel level) const;
  /// True if `value` follows from ids of what is at that level.
  bool isOfProcessor(Value value, ProcessorLevel level) const;

  /// True for a loop over lanes that every warp would execute alike: nothing
  /// around it or in it tells warps apart.
  bool isOfNoWarp(const ParallelLoop &loop) const;

private:
  bool isOfProcessor(Value value, ProcessorLevel level,
                     DenseSet<Value> &visited) const;
  bool isIdOfLoop(BlockArgument argument, ProcessorLevel level) const;

  const DistributeLoopsOptions &options;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LOOPS_LOOPREACH_H
