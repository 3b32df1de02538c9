//===- LowerDynamicMemory.cpp - Lower dynamic workgroup memory ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gpu.dynamic_shared_memory` becomes a reference to one external array of size
// zero in space 3, as CUDA's `extern __shared__` is. Its size is read from the
// register `%dynamic_smem_size` (PTX ISA, special registers). All windows of a
// module share the symbol.
//
//===----------------------------------------------------------------------===//

#include "Support/Remarks.h"
#include "Transforms/Utils/DynamicWindow.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "UnifyDynamicMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Transforms/Memory.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_LOWERDYNAMICMEMORYPASS
#include "workgroup/Transforms/Memory.h.inc"

/// The memory behind `symbol`, as large as the launch makes it: the symbol's
/// type says that it is empty, and folding would believe it.
static Value createWindow(RewriterBase &rewriter, Location loc,
                          memref::GlobalOp symbol) {
  Value start = memref::GetGlobalOp::create(rewriter, loc, symbol.getType(),
                                            symbol.getSymName());
  Value bytes =
      NVVM::DynamicSmemSize::create(rewriter, loc, rewriter.getI32Type());
  Value size = arith::IndexCastUIOp::create(rewriter, loc,
                                            rewriter.getIndexType(), bytes);
  return memref::ReinterpretCastOp::create(
      rewriter, loc, start, /*offset=*/rewriter.getIndexAttr(0),
      /*sizes=*/ArrayRef<OpFoldResult>(size),
      /*strides=*/ArrayRef<OpFoldResult>(rewriter.getIndexAttr(1)));
}

static void lowerDynamicMemory(gpu::GPUModuleOp module) {
  SmallVector<gpu::DynamicSharedMemoryOp> ops;
  module.walk([&](gpu::DynamicSharedMemoryOp op) { ops.push_back(op); });
  if (ops.empty())
    return;
  IRRewriter rewriter(module.getContext());
  memref::GlobalOp symbol = getDynamicSymbol(module, kWindowAlignment);
  for (gpu::DynamicSharedMemoryOp op : ops) {
    rewriter.setInsertionPoint(op);
    Value window = createWindow(rewriter, op.getLoc(), symbol);
    rewriter.replaceOpWithNewOp<memref::CastOp>(op, op.getType(), window);
  }
}

void lowerDynamicMemory(Operation *root) {
  unifyDynamicMemory(root);
  root->walk([&](gpu::DynamicSharedMemoryOp op) {
    auto module = op->getParentOfType<gpu::GPUModuleOp>();
    bool isMissed = module && !root->isAncestor(module);
    if (isMissed)
      recordRemark(RemarkId::LowerDynamicMemory_NotLowered, op)
          << remark::reason("its module is outside of the operation that the "
                            "pass runs on");
  });
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
