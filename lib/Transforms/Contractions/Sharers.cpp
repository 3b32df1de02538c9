//===- Sharers.cpp - Who shares out a contraction -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sharers.h"
#include "Transforms/Loops/ParallelLoops.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

OpFoldResult Sharers::makeId(IndexBuilder &index, Operation *scope) const {
  if (unit == Unit::Thread)
    return index.builder.getIndexAttr(0);
  OpFoldResult id = index.threadId(getBlockShape(scope));
  return unit == Unit::Block
             ? id
             : index.rem(id, index.builder.getIndexAttr(numThreads));
}

/// True if all threads of the unit have the same `operand`: the slot of a ring
/// that they get together, or what is the accumulator of each.
static bool isUniform(Value operand, const UniformityAnalysis &uniformity) {
  if (uniformity.isUniform(operand))
    return true;
  Operation *op = operand.getDefiningOp();
  if (auto view = dyn_cast_or_null<memref::SubViewOp>(op))
    return isUniform(view.getSource(), uniformity) &&
           llvm::all_of(
               llvm::drop_begin(view->getOperands()),
               [&](Value value) { return uniformity.isUniform(value); });
  if (isa_and_nonnull<GetOp>(op))
    return uniformity.isUniformPoint(op);
  return isa_and_nonnull<memref::AllocaOp>(op);
}

std::string SharerAnalysis::getBlockDivergence(ArrayRef<Operation *> ops) {
  for (Operation *op : ops) {
    StringRef name = op->getName().getStringRef();
    if (!ofBlock.isUniformPoint(op))
      return llvm::formatv("not all threads of the block execute its {0} "
                           "together",
                           name)
          .str();
    for (Value operand : op->getOperands())
      if (!isUniform(operand, ofBlock))
        return llvm::formatv("operands of its {0} differ between threads", name)
            .str();
  }
  return "";
}

bool SharerAnalysis::areOfWarp(ArrayRef<Operation *> ops) {
  std::optional<int64_t> numThreads =
      getBlockShape(getExecutionScope(ops.front())).getNumThreads();
  if (!numThreads || *numThreads % kWarpSize != 0)
    return false;
  if (!ofWarp)
    ofWarp = std::make_unique<UniformityAnalysis>(root, UniformityUnit::Warp);
  return llvm::all_of(ops, [&](Operation *op) {
    return ofWarp->isUniformPoint(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return isUniform(operand, *ofWarp);
           });
  });
}

bool isInLoopOverThreads(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp()) {
    std::optional<ParallelLoop> loop = ParallelLoop::getMapped(parent);
    if (loop && (loop->goesTo(ProcessorLevel::Threads) ||
                 loop->goesTo(ProcessorLevel::Warps) ||
                 loop->goesTo(ProcessorLevel::Lanes)))
      return true;
  }
  return false;
}

} // namespace mlir::workgroup
