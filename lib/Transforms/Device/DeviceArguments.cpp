//===- DeviceArguments.cpp - Arguments in memory of the device ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceArguments.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

DeviceArguments::DeviceArguments(ModuleOp module) {
  SymbolTableCollection symbols;
  SmallVector<std::pair<CallOpInterface, FunctionOpInterface>> calls;
  module.walk([&](CallOpInterface call) {
    if (call->getParentOfType<gpu::GPUModuleOp>())
      return;
    auto callee = dyn_cast_or_null<FunctionOpInterface>(
        call.resolveCallableInTable(&symbols));
    if (callee && !callee.isExternal())
      calls.push_back({call, callee});
  });
  auto isOfDevice = [&](Value value) {
    if (!isa<BaseMemRefType>(value.getType()))
      return false;
    Value root = getRootBuffer(value);
    auto alloc = root.getDefiningOp<gpu::AllocOp>();
    return (alloc && !alloc.getHostShared()) || arguments.contains(root);
  };
  bool hasChanged = true;
  while (hasChanged) {
    hasChanged = false;
    for (auto [call, callee] : calls)
      for (auto [operand, argument] :
           llvm::zip(call.getArgOperands(), callee.getArguments()))
        if (isOfDevice(operand))
          hasChanged |= arguments.insert(argument).second;
  }
}

} // namespace mlir::workgroup
