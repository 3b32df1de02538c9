//===- ConvertNVGPU.cpp - Operations of nvgpu as those of NVVM ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products, loads of their factors, and asynchronous copies have no types of
// their own but tokens. All other operations, of mbarriers, descriptors and
// warp groups, are left to upstream's pass.
//
//===----------------------------------------------------------------------===//

#include "ConvertNVGPU.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

static bool isNVGPUType(Type type) {
  return isa<nvgpu::NVGPUDialect>(type.getDialect());
}

/// True if `op`, which is not of nvgpu, has to do with values of its types.
static bool hasValuesOfNVGPU(Operation *op) {
  auto hasArguments = [](Region &region) {
    return llvm::any_of(region, [](Block &block) {
      return llvm::any_of(block.getArgumentTypes(), isNVGPUType);
    });
  };
  return llvm::any_of(op->getOperandTypes(), isNVGPUType) ||
         llvm::any_of(op->getResultTypes(), isNVGPUType) ||
         llvm::any_of(op->getRegions(), hasArguments);
}

/// True if `op`, of nvgpu, has no type of that dialect but tokens of copies.
static bool isPlain(Operation *op) {
  return isa<nvgpu::DeviceAsyncCopyOp, nvgpu::DeviceAsyncCreateGroupOp,
             nvgpu::DeviceAsyncWaitOp, nvgpu::LdMatrixOp, nvgpu::MmaSyncOp,
             nvgpu::MmaSparseSyncOp>(op);
}

static LogicalResult convert(ArrayRef<Operation *> ops) {
  MLIRContext *context = ops.front()->getContext();
  LowerToLLVMOptions options(context);
  LLVMTypeConverter converter(context, options);
  nvgpu::populateCommonGPUTypeAndAttributeConversions(converter);
  converter.addConversion([](nvgpu::DeviceAsyncTokenType type) -> Type {
    return IntegerType::get(type.getContext(), 32);
  });
  RewritePatternSet patterns(context);
  populateNVGPUToNVVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect, arith::ArithDialect,
                         memref::MemRefDialect, NVVM::NVVMDialect>();
  return applyPartialConversion(ops, target, std::move(patterns));
}

LogicalResult
convertNVGPUOps(Operation *root,
                function_ref<LogicalResult(OpPassManager &, Operation *)> run) {
  for (Operation *scope : collectDeviceScopes(root)) {
    if (!scope->hasTrait<OpTrait::IsIsolatedFromAbove>())
      continue;
    SmallVector<Operation *> ops;
    bool areAllPlain = true;
    scope->walk([&](Operation *op) {
      bool isMeant = isa_and_nonnull<nvgpu::NVGPUDialect>(op->getDialect());
      if (isMeant)
        ops.push_back(op);
      areAllPlain &= isMeant ? isPlain(op) : !hasValuesOfNVGPU(op);
    });
    if (areAllPlain) {
      if (!ops.empty() && failed(convert(ops)))
        return failure();
      continue;
    }
    // It puts variables beside functions.
    Operation *module = scope->getParentOfType<gpu::GPUModuleOp>();
    Operation *whole = module && root->isAncestor(module) ? module : scope;
    OpPassManager conversion(whole->getName());
    conversion.addPass(createConvertNVGPUToNVVMPass());
    if (failed(run(conversion, whole)))
      return failure();
  }
  return success();
}

} // namespace mlir::workgroup
