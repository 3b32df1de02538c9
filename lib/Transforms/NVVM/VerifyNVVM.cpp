//===- VerifyNVVM.cpp - Check the result of the conversion to NVVM --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After the conversion each operation of a kernel has to be of the LLVM or NVVM
// dialect. The first one that is not is reported, and for a cast between types
// the operation that it was left for. Operands that an instruction holds itself
// (immediates) have to be constants in their range, which LLVM checks without
// saying which operand it was.
//
//===----------------------------------------------------------------------===//

#include "Target/OperationNeeds.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "workgroup/Transforms/NVVM.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_VERIFYNVVMPASS
#include "workgroup/Transforms/NVVM.h.inc"

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

/// True if `op` computes with floats of more than 64 bits, rather than move
/// them.
static bool computesInWideFloats(Operation *op) {
  if (isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::ConstantOp, LLVM::UndefOp,
          LLVM::PoisonOp, LLVM::BitcastOp, LLVM::SelectOp, LLVM::ExtractValueOp,
          LLVM::InsertValueOp, LLVM::CallOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return false;
  auto isWide = [](Type type) {
    if (auto vector = dyn_cast<VectorType>(type))
      type = vector.getElementType();
    return isa<Float80Type, Float128Type, LLVM::LLVMPPCFP128Type>(type);
  };
  return llvm::any_of(op->getOperandTypes(), isWide) ||
         llvm::any_of(op->getResultTypes(), isWide);
}

static LogicalResult verify(gpu::GPUModuleOp module) {
  // From the outside in: an operation is to blame for what it holds.
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (computesInWideFloats(op)) {
      op->emitOpError("computes in floats of more than 64 bits, of which GPUs "
                      "have no numbers; compute in f64");
      return WalkResult::interrupt();
    }
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

/// Fails after an error if `value`, the `name` of `op`, which the instruction
/// holds itself, is not a constant from `least` to `most`.
static LogicalResult verifyImmediate(Operation *op, StringRef name, Value value,
                                     uint64_t least, uint64_t most) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.uge(least) &&
      constant.ule(most))
    return success();
  InFlightDiagnostic error = op->emitOpError("has a ")
                             << name << " that is not a constant";
  if (least == most)
    return error << " of " << least;
  return error << " from " << least << " to " << most;
}

/// LLVM's verifier says of such operands no more than that they are wrong.
static LogicalResult verifyImmediates(gpu::GPUModuleOp module) {
  constexpr uint64_t kTensorMapBytes = 128, kLastSelector = 3;
  bool hasFailed = false;
  module.walk([&](Operation *op) {
    LogicalResult outcome = success();
    if (auto fence = dyn_cast<NVVM::FenceProxyAcquireOp>(op))
      outcome = verifyImmediate(op, "size", fence.getSize(), kTensorMapBytes,
                                kTensorMapBytes);
    else if (auto product = dyn_cast<NVVM::MmaSpOp>(op))
      outcome =
          verifyImmediate(op, "sparsity selector",
                          product.getSparsitySelector(), 0, kLastSelector);
    hasFailed |= failed(outcome);
  });
  return failure(hasFailed);
}

LogicalResult verifyNVVM(Operation *root) {
  WalkResult result = root->walk([](gpu::GPUModuleOp module) {
    bool isRight = succeeded(verify(module)) &&
                   succeeded(verifyOperations(module)) &&
                   succeeded(verifyImmediates(module));
    return isRight ? WalkResult::skip() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyNVVMPass final : impl::VerifyNVVMPassBase<VerifyNVVMPass> {
  using VerifyNVVMPassBase::VerifyNVVMPassBase;

  void runOnOperation() override {
    if (failed(verifyNVVM(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace mlir::workgroup
