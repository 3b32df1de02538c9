//===- BufferAlignment.cpp - Raising the alignment of buffers -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAlignment.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "workgroup/Analysis/Alignment.h"

namespace mlir::workgroup {

void raiseAlignment(Value buffer, int64_t alignment) {
  // What is stated replaces the natural alignment.
  Operation *scope = buffer.getParentRegion()->getParentOp();
  alignment =
      std::max(alignment,
               getNaturalAlignment(cast<MemRefType>(buffer.getType()), scope));
  if (getStatedAlignment(buffer) >= alignment)
    return;
  gpu::GPUFuncOp function;
  if (std::optional<unsigned> index = getAttributionIndex(buffer, function)) {
    Builder builder(buffer.getContext());
    function.setWorkgroupAttributionAttr(*index,
                                         LLVM::LLVMDialect::getAlignAttrName(),
                                         builder.getI64IntegerAttr(alignment));
    return;
  }
  Operation *op = buffer.getDefiningOp();
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    alloc.setAlignment(alignment);
  else if (auto alloca = dyn_cast<memref::AllocaOp>(op))
    alloca.setAlignment(alignment);
  else if (memref::GlobalOp global = getGlobal(buffer))
    global.setAlignment(alignment);
}

} // namespace mlir::workgroup
