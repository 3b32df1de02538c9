//===- RingCounter.cpp - Values that never start again --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RingCounter.h"
#include "Transforms/Utils/CarriedValues.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// What is around `loop` in its kernel, outermost first; nothing if values
/// cannot be handed through it.
static std::optional<SmallVector<Operation *>> findAround(Operation *loop) {
  SmallVector<Operation *> around;
  Operation *scope = getExecutionScope(loop);
  if (!isKernel(scope)) // each call would start again
    return std::nullopt;
  Operation *op = loop;
  // Warps that do something else than others have counters of their own.
  auto isStart = [&](Operation *parent) {
    return parent == scope || isa<SpecializeOp>(parent);
  };
  for (; !isStart(op->getParentOp()); op = op->getParentOp()) {
    if (!isa<scf::ForOp, scf::IfOp>(op->getParentOp()))
      return std::nullopt;
    around.insert(around.begin(), op->getParentOp());
  }
  if (!op->getParentRegion()->hasOneBlock() ||
      (op->getParentOp() != scope && op->getParentOp()->getParentOp() != scope))
    return std::nullopt;
  return around;
}

bool RingCounter::canReach(Operation *loop) {
  return findAround(loop).has_value();
}

RingCounter::RingCounter(RewriterBase &rewriter, Operation *loop,
                         ValueRange initial)
    : rewriter(rewriter), around(*findAround(loop)),
      values(initial.begin(), initial.end()) {
  for (Operation *&op : around) {
    if (auto outer = dyn_cast<scf::ForOp>(op)) {
      auto extended = addCarriedValues(rewriter, outer, values);
      values.clear();
      llvm::append_range(
          values, extended.getRegionIterArgs().take_back(initial.size()));
      op = extended;
    } else {
      op = addResults(rewriter, cast<scf::IfOp>(op), values);
    }
  }
}

SmallVector<Value> RingCounter::carryInto(scf::ForOp &loop) {
  loop = addCarriedValues(rewriter, loop, values);
  return SmallVector<Value>(loop.getRegionIterArgs().take_back(values.size()));
}

void RingCounter::stepTo(ValueRange next, scf::ForOp loop) {
  yieldLast(rewriter, loop, next);
  handOn(loop, loop.getResults().take_back(next.size()));
}

void RingCounter::handOn(Operation *inner, ValueRange results) {
  for (Operation *op : llvm::reverse(around)) {
    Operation *yield = inner->getBlock()->getTerminator();
    rewriter.modifyOpInPlace(yield, [&] {
      yield->setOperands(yield->getNumOperands() - results.size(),
                         results.size(), results);
    });
    results = op->getResults().take_back(results.size());
    inner = op;
  }
}

} // namespace mlir::workgroup
