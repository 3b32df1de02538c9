//===- IterationValues.cpp - What one iteration after the other has -------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterationValues.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

IterationValues::IterationValues(const KernelLoop *loop,
                                 const KernelLoops &loops, Operation *scope)
    : loop(loop), loops(loops), scope(scope) {
  for (auto [extent, known] :
       llvm::zip_equal(shape, getBlockShape(scope).sizes))
    extent = *known;
}

std::optional<ThreadValues> IterationValues::getArgument(BlockArgument argument,
                                                         int64_t iteration,
                                                         ThreadEvaluator &own) {
  auto counted = dyn_cast_or_null<scf::ForOp>(loop->op);
  if (counted && argument == counted.getInductionVar()) {
    std::optional<int64_t> first = getConstantIntValue(counted.getLowerBound());
    std::optional<int64_t> step = getConstantIntValue(counted.getStep());
    if (!first || !step)
      return std::nullopt;
    return own.splat(*first + iteration * *step);
  }
  std::optional<CarriedValue> carried = loops.getCarried(argument);
  if (!carried || carried->loop != loop)
    return std::nullopt;
  if (iteration > 0) {
    std::optional<int64_t> before = evaluate(carried->next, iteration - 1);
    return before ? std::optional(own.splat(*before)) : std::nullopt;
  }
  const ThreadValues *initial = own.evaluate(carried->initial);
  return initial ? std::optional(*initial) : std::nullopt;
}

std::optional<int64_t> IterationValues::evaluate(Value value,
                                                 int64_t iteration) {
  while (evaluators.size() <= size_t(iteration))
    evaluators.push_back(std::make_unique<ThreadEvaluator>(
        scope, shape, SmallVector<int64_t>{0},
        [this, number = int64_t(evaluators.size())](
            Value of, ThreadEvaluator &own) -> std::optional<ThreadValues> {
          auto argument = dyn_cast<BlockArgument>(of);
          if (!argument || argument.getOwner() != loop->header)
            return std::nullopt;
          return getArgument(argument, number, own);
        }));
  const ThreadValues *values = evaluators[iteration]->evaluate(value);
  return values ? std::optional(values->front()) : std::nullopt;
}

} // namespace mlir::workgroup
