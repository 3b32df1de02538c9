//===- LowerDynamicMemory.cpp - Lower dynamic workgroup memory ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX has one window of dynamic shared memory, which begins where the static
// variables end; every `.extern .shared` symbol names its start. LLVM emits
// such a symbol for an external variable of size zero, and places an internal
// one of size zero as if it had one byte, in the midst of the others.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Transforms.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_LOWERDYNAMICMEMORYPASS
#include "workgroup/Passes.h.inc"

/// Alignment in bytes of the window: what a 128-byte-swizzled TMA tile needs.
static constexpr int64_t kDynamicAlignment = 1024;

static memref::GlobalOp createSymbol(RewriterBase &rewriter,
                                     gpu::GPUModuleOp module) {
  auto type =
      MemRefType::get({0}, rewriter.getI8Type(), MemRefLayoutAttrInterface(),
                      getWorkgroupSpace(module.getContext()));
  rewriter.setInsertionPointToStart(module.getBody());
  auto symbol = memref::GlobalOp::create(
      rewriter, module.getLoc(), "dynamic_workgroup_memory",
      /*sym_visibility=*/StringAttr(), type, /*initial_value=*/Attribute(),
      /*constant=*/false, rewriter.getI64IntegerAttr(kDynamicAlignment));
  SymbolTable(module).insert(symbol);
  return symbol;
}

static void lowerDynamicMemory(gpu::GPUModuleOp module) {
  SmallVector<gpu::DynamicSharedMemoryOp> ops;
  module.walk([&](gpu::DynamicSharedMemoryOp op) { ops.push_back(op); });
  if (ops.empty())
    return;
  IRRewriter rewriter(module.getContext());
  memref::GlobalOp symbol = createSymbol(rewriter, module);
  for (gpu::DynamicSharedMemoryOp op : ops) {
    rewriter.setInsertionPoint(op);
    Value start = memref::GetGlobalOp::create(
        rewriter, op.getLoc(), symbol.getType(), symbol.getSymName());
    rewriter.replaceOpWithNewOp<memref::CastOp>(op, op.getType(), start);
  }
}

void lowerDynamicMemory(Operation *root) {
  root->walk([](gpu::GPUModuleOp module) { lowerDynamicMemory(module); });
}

namespace {
struct LowerDynamicMemoryPass final
    : impl::LowerDynamicMemoryPassBase<LowerDynamicMemoryPass> {
  using LowerDynamicMemoryPassBase::LowerDynamicMemoryPassBase;

  void runOnOperation() override { lowerDynamicMemory(getOperation()); }
};
} // namespace

} // namespace mlir::workgroup
