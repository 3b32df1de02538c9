//===- AccessWhole.cpp - Operations on whole memrefs ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `memref.copy`, `workgroup.copy` and linalg operations access whole memrefs.
// If all threads of the block reach the operation together, with the same
// operands, the access is the block's: the operation is to be spread over the
// threads, each doing a part of it. Otherwise each thread does all of it by
// itself.
//
//===----------------------------------------------------------------------===//

#include "AccessCollector.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/RegionUtils.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// True if what `op` computes in its regions may be different for each thread.
bool AccessCollector::isDivergentInside(Operation *op) const {
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
bool AccessCollector::isCollective(Operation *op) const {
  return !getBlockShape(scope).isSingleThread() &&
         uniformity.isUniformPoint(op) && !isDivergentInside(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return uniformity.isUniform(operand);
         });
}

bool AccessCollector::visitWhole(Operation *op) {
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    ThreadAccess read = make(op, AccessKind::Read);
    ThreadAccess write = make(op, AccessKind::Write);
    if (isCollective(op))
      read.accessScope = write.accessScope = AccessScope::Block;
    addAll(read, copy.getSourceMutable());
    addAll(write, copy.getTargetMutable());
    return true;
  }
  if (auto copy = dyn_cast<CopyOp>(op)) {
    ThreadAccess read = make(op, AccessKind::Read);
    ThreadAccess write = make(op, AccessKind::Write);
    if (!getBlockShape(scope).isSingleThread())
      read.accessScope = write.accessScope = AccessScope::Block;
    read.isAsync = write.isAsync = true; // until the slot is got
    addAll(read, copy.getSourceMutable());
    addAll(write, copy.getTileMutable());
    return true;
  }
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    visitLinalg(structured);
    return true;
  }
  return false;
}

/// The accesses of `op`. It is the block's only if it reads nothing of the
/// memory that it writes and that threads share: spread over threads, it would
/// read what others have written.
void AccessCollector::visitLinalg(linalg::LinalgOp op) {
  size_t first = result.accesses.size();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    if (op.payloadUsesValueFromOperand(&operand))
      addAll(make(op, AccessKind::Read), operand);
    if (op.isDpsInit(&operand))
      addAll(make(op, AccessKind::Write), operand);
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
  if (!isInPlace && isCollective(op))
    for (ThreadAccess &access : own)
      access.accessScope = AccessScope::Block;
}

} // namespace mlir::workgroup
