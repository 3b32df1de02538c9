//===- DynamicWindow.cpp - The symbol of dynamic memory -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DynamicWindow.h"
#include "KernelBuffers.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

memref::GlobalOp getDynamicSymbol(gpu::GPUModuleOp module, int64_t alignment) {
  OpBuilder builder(module.getContext()); // the table inserts it, renamed
  for (auto global : module.getOps<memref::GlobalOp>())
    if (isDynamicSymbol(global) &&
        global.getType().getElementType().isInteger(8)) {
      if (int64_t(global.getAlignment().value_or(1)) < alignment)
        global.setAlignment(alignment);
      return global;
    }
  auto type =
      MemRefType::get({0}, builder.getI8Type(), MemRefLayoutAttrInterface(),
                      getWorkgroupSpace(module.getContext()));
  auto symbol = memref::GlobalOp::create(
      builder, module.getLoc(), "dynamic_workgroup_memory",
      /*sym_visibility=*/StringAttr(), type, /*initial_value=*/Attribute(),
      /*constant=*/false, builder.getI64IntegerAttr(alignment));
  SymbolTable(module).insert(symbol, module.getBody()->begin());
  return symbol;
}

} // namespace mlir::workgroup
