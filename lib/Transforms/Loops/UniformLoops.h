//===- UniformLoops.h - Barriers in loops that threads share ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop with a barrier in its body may be distributed only if all threads of
// the block go through the same iterations. That holds if its bounds and step
// are uniform, and so is what its body uses. Uniformity is computed when the
// first loop with a barrier asks.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LOOPS_UNIFORMLOOPS_H
#define WORKGROUP_LIB_TRANSFORMS_LOOPS_UNIFORMLOOPS_H

#include "LoopDistribution.h"
#include "workgroup/Analysis/Uniformity.h"

namespace mlir::workgroup {

/// Tells of loops whether threads meet in them, and whether they can.
class UniformLoops {
public:
  explicit UniformLoops(Operation *root) : root(root) {}

  /// The operation inside of `loop` at which all threads of the block have to
  /// meet: a barrier, or a call of a function with one. Null for none.
  static Operation *findMeeting(Operation *loop);

  /// True if the bounds and the step are the same for all threads of the block.
  bool areUniform(const LoopRange &range);
  /// True if what the body of `loop` uses of outside is.
  bool isUniformIn(Operation *loop);

private:
  bool isUniform(Value value);

  Operation *root;
  std::optional<UniformityAnalysis> analysis;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LOOPS_UNIFORMLOOPS_H
