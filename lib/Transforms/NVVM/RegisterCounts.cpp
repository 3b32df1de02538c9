//===- RegisterCounts.cpp - How many registers threads begin with ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegisterCounts.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::workgroup {

void stateRegisterCounts(ArrayRef<Operation *> scopes, RewriterBase &rewriter) {
  StringRef name = NVVM::NVVMDialect::getMinctasmAttrName();
  for (Operation *scope : scopes) {
    auto kernel = dyn_cast<gpu::GPUFuncOp>(scope);
    if (!kernel || !kernel.isKernel() || kernel->hasAttr(name))
      continue;
    bool changes = kernel
                       ->walk([](NVVM::SetMaxRegisterOp) {
                         return WalkResult::interrupt();
                       })
                       .wasInterrupted();
    if (changes)
      rewriter.modifyOpInPlace(kernel, [&] {
        kernel->setAttr(name, rewriter.getI32IntegerAttr(1));
      });
  }
}

} // namespace mlir::workgroup
