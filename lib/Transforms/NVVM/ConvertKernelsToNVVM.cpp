//===- ConvertKernelsToNVVM.cpp - Convert kernels, parameters and all -----===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's conversion keeps some attributes of a kernel's arguments and drops
// others, among them the one that makes a pointer a parameter passed by value.
// No attribute may say that a parameter is constant for the grid before the
// conversion: NVVM's verifier wants that on LLVM functions only. Conversions
// of what few kernels have run on those that have it: each looks at all
// operations.
//
//===----------------------------------------------------------------------===//

#include "ConstantOffsets.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "workgroup/Transforms/NVVM.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_CONVERTKERNELSTONVVMPASS
#include "workgroup/Transforms/NVVM.h.inc"

namespace {

/// A parameter that is passed by value in memory.
struct ValueParameter {
  StringAttr kernel;
  unsigned index;
  Attribute type;
};

} // namespace

static SmallVector<ValueParameter> collectParameters(gpu::GPUModuleOp module) {
  SmallVector<ValueParameter> parameters;
  StringRef byValue = LLVM::LLVMDialect::getByValAttrName();
  for (auto kernel : module.getOps<gpu::GPUFuncOp>())
    for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i)
      if (Attribute type = kernel.getArgAttr(i, byValue))
        parameters.push_back({SymbolTable::getSymbolName(kernel), i, type});
  return parameters;
}

static void restore(gpu::GPUModuleOp module, const ValueParameter &parameter) {
  auto kernel = module.lookupSymbol<LLVM::LLVMFuncOp>(parameter.kernel);
  unsigned index = parameter.index;
  kernel.setArgAttr(index, LLVM::LLVMDialect::getByValAttrName(),
                    parameter.type);
  bool isKernel = kernel->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
  if (isKernel &&
      kernel.getArgAttr(index, LLVM::LLVMDialect::getReadonlyAttrName()))
    kernel.setArgAttr(index, NVVM::NVVMDialect::getGridConstantAttrName(),
                      UnitAttr::get(module.getContext()));
}

/// Removes attributes that upstream adds once more, from the sizes that a
/// kernel is known to have. These keep within the others, see `verifyLaunches`.
static void removeRepeated(gpu::GPUModuleOp module) {
  for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
    if (kernel.isKernel() && kernel.getKnownBlockSizeAttr())
      kernel->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName());
    if (kernel.isKernel() && kernel.getKnownClusterSizeAttr())
      kernel->removeAttr(NVVM::NVVMDialect::getClusterDimAttrName());
  }
}

/// Keeps ptxas from spilling in small blocks: unless told how many of them are
/// to share a processor at least, it saves registers for ten blocks of two
/// warps, or four of four.
static void allowRegisters(gpu::GPUModuleOp module) {
  constexpr int64_t kSmallBlock = 128;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto sizes = function->getAttrOfType<DenseI32ArrayAttr>(
        NVVM::NVVMDialect::getMaxntidAttrName());
    StringRef least = NVVM::NVVMDialect::getMinctasmAttrName();
    if (!sizes || function->hasAttr(least))
      continue;
    int64_t threads = 1;
    for (int32_t size : sizes.asArrayRef())
      threads *= size;
    if (threads <= kSmallBlock)
      function->setAttr(
          least,
          IntegerAttr::get(IntegerType::get(module.getContext(), 32), 1));
  }
}

/// Repeats a number that upstream makes a vector of without saying so, which is
/// no constant of LLVM: the NaN in a maximum of matrices of f16.
static void spreadConstants(gpu::GPUModuleOp module) {
  module.walk([](LLVM::ConstantOp constant) {
    auto type = dyn_cast<VectorType>(constant.getType());
    if (type && isa<FloatAttr>(constant.getValue()))
      constant.setValueAttr(
          DenseElementsAttr::get(type, Attribute(constant.getValue())));
  });
}

/// Gives parameters of kernels sizes that PTX has: of 4 bits, it has none.
static void widenParameters(LLVM::LLVMFuncOp kernel) {
  LLVM::LLVMFunctionType type = kernel.getFunctionType();
  SmallVector<Type> types = llvm::to_vector(type.getParams());
  auto builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  for (BlockArgument argument : kernel.getArguments()) {
    auto narrow = dyn_cast<IntegerType>(argument.getType());
    if (!narrow || narrow.getWidth() == 1 || narrow.getWidth() > 64)
      continue;
    unsigned width =
        std::max<unsigned>(llvm::PowerOf2Ceil(narrow.getWidth()), 8);
    if (width == narrow.getWidth())
      continue;
    argument.setType(builder.getIntegerType(width));
    types[argument.getArgNumber()] = argument.getType();
    auto value =
        LLVM::TruncOp::create(builder, kernel.getLoc(), narrow, argument);
    argument.replaceAllUsesExcept(value, value);
  }
  kernel.setFunctionType(LLVM::LLVMFunctionType::get(type.getReturnType(),
                                                     types, type.isVarArg()));
}

static void widenParameters(gpu::GPUModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) &&
        !function.isExternal())
      widenParameters(function);
}

//===----------------------------------------------------------------------===//
// Upstream's conversions
//===----------------------------------------------------------------------===//

static OpPassManager makePipeline(std::unique_ptr<Pass> pass) {
  OpPassManager pipeline(gpu::GPUModuleOp::getOperationName());
  pipeline.addPass(std::move(pass));
  return pipeline;
}

static OpPassManager makeConversion() {
  ConvertGpuOpsToNVVMOpsOptions options;
  options.useBarePtrCallConv = true;
  return makePipeline(createConvertGpuOpsToNVVMOps(options));
}

/// That of instructions to assembly, if LLVM has no intrinsics for them.
static OpPassManager makeAssemblyConversion() {
  return makePipeline(createConvertNVVMToLLVMPass());
}

static OpPassManager makeMathConversion() {
  return makePipeline(createConvertMathToLLVMPass());
}

static bool becomesAssembly(Operation *op) {
  if (!isa_and_nonnull<NVVM::NVVMDialect>(op->getDialect()))
    return false;
  auto instruction = dyn_cast<NVVM::BasicPtxBuilderInterface>(op);
  return instruction && !instruction.hasIntrinsic();
}

static bool isMath(Operation *op) {
  return isa_and_nonnull<math::MathDialect>(op->getDialect());
}

static bool hasAny(gpu::GPUModuleOp module, bool (*isMeant)(Operation *)) {
  return module
      .walk([&](Operation *op) {
        return isMeant(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult convertKernelsToNVVM(
    gpu::GPUModuleOp module,
    function_ref<LogicalResult(OpPassManager &, Operation *)> run) {
  auto runOn = [&](OpPassManager pipeline) { return run(pipeline, module); };
  if (hasAny(module, becomesAssembly) &&
      failed(runOn(makeAssemblyConversion())))
    return failure();
  SmallVector<ValueParameter> parameters = collectParameters(module);
  removeRepeated(module);
  if (failed(runOn(makeConversion())) ||
      (hasAny(module, isMath) && failed(runOn(makeMathConversion()))))
    return failure();
  for (const ValueParameter &parameter : parameters)
    restore(module, parameter);
  spreadConstants(module);
  widenParameters(module);
  addConstantsLast(module);
  allowRegisters(module);
  return success();
}

namespace {
struct ConvertKernelsToNVVMPass final
    : impl::ConvertKernelsToNVVMPassBase<ConvertKernelsToNVVMPass> {
  using ConvertKernelsToNVVMPassBase::ConvertKernelsToNVVMPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    for (const OpPassManager &pipeline :
         {makeAssemblyConversion(), makeConversion(), makeMathConversion()})
      pipeline.getDependentDialects(registry);
  }

  void runOnOperation() override {
    auto run = [&](OpPassManager &passes, Operation *op) {
      return runPipeline(passes, op);
    };
    if (failed(convertKernelsToNVVM(getOperation(), run)))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
