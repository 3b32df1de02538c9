//===- OpEffects.cpp - What operations do to memory -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpEffects.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "workgroup/IR/Workgroup.h"

namespace mlir::workgroup {

bool isFreeOfAccesses(Operation *op) {
  return isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp,
             NVVM::FenceProxyOp, RingOp>(op) ||
         isMemoryEffectFree(op);
}

} // namespace mlir::workgroup
