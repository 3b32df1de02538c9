//===- IterationValues.h - What one iteration after the other has -*- C++
//-*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value that a loop carries follows from its initial value by constants in
// many loops, as a slot or a parity does. It is computed iteration by
// iteration: the arguments of the loop in iteration n are what the body has
// handed on in iteration n - 1. One evaluator for each iteration keeps what was
// computed.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_TURNVALUES_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_TURNVALUES_H

#include "Analysis/Program/KernelLoops.h"
#include "ThreadEvaluator.h"
#include <memory>

namespace mlir::workgroup {

/// Computes what one thread has in the first iterations of a loop.
class IterationValues {
public:
  /// `loop`, an `scf.for` or a natural loop, is in `scope`, of which the shape
  /// of the block is known.
  IterationValues(const KernelLoop *loop, const KernelLoops &loops,
                  Operation *scope);

  /// `value` in iteration number `iteration`; nothing if constants do not tell.
  /// Time and depth of the stack grow with the number of iterations, except
  /// those asked for before.
  std::optional<int64_t> evaluate(Value value, int64_t iteration);

private:
  std::optional<ThreadValues>
  getArgument(BlockArgument argument, int64_t iteration, ThreadEvaluator &own);

  const KernelLoop *loop;
  const KernelLoops &loops;
  Operation *scope;
  std::array<int64_t, 3> shape;
  std::vector<std::unique_ptr<ThreadEvaluator>> evaluators;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_TURNVALUES_H
