//===- AsyncCopies.cpp - When asynchronous copies are done ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncCopies.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

namespace mlir::workgroup {

static bool isCommit(Operation *op) {
  return isa<nvgpu::DeviceAsyncCreateGroupOp, NVVM::CpAsyncCommitGroupOp>(op);
}

/// True if `op` waits until no group is under way.
static bool isFullWait(Operation *op) {
  if (auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op))
    return wait.getN() == 0;
  auto wait = dyn_cast<nvgpu::DeviceAsyncWaitOp>(op);
  return wait && wait.getNumGroups().value_or(0) == 0;
}

Operation *findCompletion(Operation *copy, Operation *scope) {
  if (!isa<nvgpu::DeviceAsyncCopyOp, NVVM::CpAsyncOp>(copy))
    return nullptr;
  bool isCommitted = false;
  for (Operation *at = copy; at != scope; at = at->getParentOp()) {
    for (Operation *next = at->getNextNode(); next;
         next = next->getNextNode()) {
      isCommitted |= isCommit(next);
      if (isCommitted && isFullWait(next))
        return next;
    }
    // A branch out of the block may go past what is behind the operation.
    if (at->getBlock()->getNumSuccessors() != 0 ||
        !at->getParentRegion()->hasOneBlock())
      return nullptr;
  }
  return nullptr;
}

} // namespace mlir::workgroup
