//===- LoopDistribution.h - Iterations of loops for processors --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The iterations of one loop for one of several processors. With 10 iterations,
// processor 1 of 4, and chunks of 2, it executes
//
//   cyclic        1, 5, 9   (id, id + count, ...)
//   block         3, 4, 5   (consecutive ones, as many for each processor)
//   block-cyclic  2, 3      (chunks in turn; the next one would be 10, 11)
//
// Where there are as many processors as iterations, or more, each executes one:
// under the condition that it has one (guarded), or without a condition
// (exact).
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LOOPS_LOOPDISTRIBUTION_H
#define WORKGROUP_LIB_TRANSFORMS_LOOPS_LOOPDISTRIBUTION_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Transforms/Loops.h"

namespace mlir::workgroup {

/// Signed index arithmetic that folds constants and is taken not to overflow.
struct SignedIndexBuilder {
  OpBuilder &builder;
  Location loc;

  Value value(OpFoldResult index);
  OpFoldResult add(OpFoldResult lhs, OpFoldResult rhs);
  OpFoldResult subtract(OpFoldResult lhs, OpFoldResult rhs);
  OpFoldResult multiply(OpFoldResult lhs, OpFoldResult rhs);
  /// Division of a number that is not negative by a positive one.
  OpFoldResult divide(OpFoldResult lhs, OpFoldResult rhs);
  OpFoldResult remainder(OpFoldResult lhs, OpFoldResult rhs);
  OpFoldResult divideUp(OpFoldResult lhs, OpFoldResult rhs);
  OpFoldResult minimum(OpFoldResult lhs, OpFoldResult rhs);
  OpFoldResult maximum(OpFoldResult lhs, OpFoldResult rhs);
};

/// `lower`, `lower + step`, ..., less than `upper`.
struct LoopRange {
  OpFoldResult lower, upper, step;
};

/// One of `count` processors.
struct Processor {
  OpFoldResult id, count;
};

/// The number of iterations, if that is a constant.
std::optional<int64_t> getNumIterations(const LoopRange &range);

/// Some number that they are not more than; nothing if none is known.
std::optional<int64_t> getMostIterations(const LoopRange &range);

/// The strategy that `strategy` comes to for so many processors: a loop that is
/// known to end behind its first iteration is none.
DistributionStrategy simplify(DistributionStrategy strategy,
                              const LoopRange &range,
                              std::optional<int64_t> numProcessors);

/// Makes what `processor` executes of `range`, and returns the induction
/// variable; `builder` then stands where its body goes.
OpFoldResult distribute(OpBuilder &builder, Location loc,
                        const LoopRange &range, const Processor &processor,
                        DistributionStrategy strategy, int64_t chunk);

/// Makes a condition that the processor is the first one; `builder` then stands
/// in it.
void guardFirst(OpBuilder &builder, Location loc, OpFoldResult id);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LOOPS_LOOPDISTRIBUTION_H
