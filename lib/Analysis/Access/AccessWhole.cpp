//===- AccessWhole.cpp - Operations on whole memrefs ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessWhole.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/RegionUtils.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// True if what `op` computes in its regions may be different for each thread.
static bool isDivergentInside(Operation *op,
                              const UniformityAnalysis &uniformity) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  auto isOfThread = [&](Operation *inner) {
    auto results = inner->getResults();
    bool isId = inner->getNumOperands() == 0 && !results.empty() &&
                !inner->hasTrait<OpTrait::ConstantLike>() &&
                !isa<linalg::IndexOp>(inner) &&
                !uniformity.isUniform(results.front());
    return isThreadOp(inner) || isId || isa<CallOpInterface>(inner)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  auto isUniform = [&](Value value) { return uniformity.isUniform(value); };
  return !llvm::all_of(used, isUniform) ||
         llvm::any_of(op->getRegions(), [&](Region &region) {
           return region.walk(isOfThread).wasInterrupted();
         });
}

/// True if the block, of more than one thread, executes `op` together, on the
/// same memory.
static bool isCollective(Operation *op, const AccessRecorder &recorder) {
  const UniformityAnalysis &uniformity = recorder.getUniformity();
  return !getBlockShape(recorder.getScope()).isSingleThread() &&
         uniformity.isUniformPoint(op) && !isDivergentInside(op, uniformity) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return uniformity.isUniform(operand);
         });
}

/// The accesses of `op`. It is the block's only if it reads nothing of the
/// memory that it writes and that threads share: spread over threads, it would
/// read what others have written.
static void visitLinalg(linalg::LinalgOp op, AccessRecorder &recorder) {
  AccessRecorder::Result &result = recorder.getResult();
  size_t first = result.accesses.size();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    if (op.payloadUsesValueFromOperand(&operand))
      recorder.addAll(AccessRecorder::make(op, AccessKind::Read), operand);
    if (op.isDpsInit(&operand))
      recorder.addAll(AccessRecorder::make(op, AccessKind::Write), operand);
  }
  auto own = MutableArrayRef(result.accesses).drop_front(first);
  auto mayMeet = [&](const ThreadAccess &read, const ThreadAccess &write) {
    bool isOneBuffer = read.roots.size() == 1 && read.roots == write.roots &&
                       read.footprint && write.footprint;
    return result.mayAlias(read, write) &&
           !(isOneBuffer && areApart(*read.footprint, *write.footprint));
  };
  bool isInPlace = llvm::any_of(own, [&](const ThreadAccess &write) {
    return write.isWrite() && llvm::any_of(own, [&](const ThreadAccess &read) {
             return !read.isWrite() && mayMeet(read, write);
           });
  });
  if (!isInPlace && isCollective(op, recorder))
    for (ThreadAccess &access : own)
      access.accessScope = AccessScope::Block;
}

/// Records what `op` copies from `source` to `tile`; of a ring, all of the
/// block until the slot that holds the tile is got.
static void visitFill(Operation *op, OpOperand &source, OpOperand &tile,
                      AccessRecorder &recorder) {
  ThreadAccess read = AccessRecorder::make(op, AccessKind::Read);
  ThreadAccess write = AccessRecorder::make(op, AccessKind::Write);
  bool isOfRing = isa_and_nonnull<PutOp>(tile.get().getDefiningOp());
  if (isOfRing ? !getBlockShape(recorder.getScope()).isSingleThread()
               : isCollective(op, recorder))
    read.accessScope = write.accessScope = AccessScope::Block;
  read.isAsync = write.isAsync = isOfRing;
  recorder.addAll(read, source);
  recorder.addAll(write, tile);
}

bool visitWhole(Operation *op, AccessRecorder &recorder) {
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    ThreadAccess read = AccessRecorder::make(op, AccessKind::Read);
    ThreadAccess write = AccessRecorder::make(op, AccessKind::Write);
    if (isCollective(op, recorder))
      read.accessScope = write.accessScope = AccessScope::Block;
    recorder.addAll(read, copy.getSourceMutable());
    recorder.addAll(write, copy.getTargetMutable());
    return true;
  }
  if (auto copy = dyn_cast<CopyOp>(op)) {
    visitFill(op, copy.getSourceMutable(), copy.getTileMutable(), recorder);
    return true;
  }
  if (auto gather = dyn_cast<GatherOp>(op)) {
    visitFill(op, gather.getSourceMutable(), gather.getTileMutable(), recorder);
    return true;
  }
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    visitLinalg(structured, recorder);
    return true;
  }
  return false;
}

} // namespace mlir::workgroup
