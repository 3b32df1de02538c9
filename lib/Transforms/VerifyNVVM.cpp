//===- VerifyNVVM.cpp - Check the result of the conversion to NVVM --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "workgroup/Passes.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_VERIFYNVVMPASS
#include "workgroup/Passes.h.inc"

/// The operation that a cast between types left behind stands for.
static Operation *getCulprit(Operation *op) {
  if (!isa<UnrealizedConversionCastOp>(op))
    return op;
  for (Operation *user : op->getUsers())
    if (!isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(user->getDialect()))
      return user;
  for (Value operand : op->getOperands())
    if (Operation *definition = operand.getDefiningOp())
      return definition;
  return op;
}

static LogicalResult verify(gpu::GPUModuleOp module) {
  // From the outside in: an operation is to blame for what it holds.
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == module ||
        isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      return WalkResult::advance();
    getCulprit(op)->emitOpError(
        "cannot be lowered to NVVM; rewrite it by operations of the arith, "
        "math, memref, scf, vector, gpu, nvgpu or nvvm dialects that NVIDIA "
        "GPUs have an instruction for");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyNVVMPass final : impl::VerifyNVVMPassBase<VerifyNVVMPass> {
  using VerifyNVVMPassBase::VerifyNVVMPassBase;

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](gpu::GPUModuleOp module) {
      return failed(verify(module)) ? WalkResult::interrupt()
                                    : WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace mlir::workgroup
