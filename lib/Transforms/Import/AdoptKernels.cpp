//===- AdoptKernels.cpp - Kernels of LLVM as kernels of this project ------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collect finds the kernels of LLVM, decide checks that each can be launched,
// apply moves modules of LLVM into a `gpu.module` and makes `gpu.func`s.
//
//===----------------------------------------------------------------------===//

#include "RaiseArithmetic.h"
#include "RaiseIntrinsics.h"
#include "RaiseLibdevice.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "workgroup/Transforms/Import.h"
#include "llvm/TargetParser/Triple.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_ADOPTKERNELSPASS
#include "workgroup/Transforms/Import.h.inc"

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

static bool isKernelOfLLVM(LLVM::LLVMFuncOp function) {
  return !function.isExternal() &&
         (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) ||
          function.getCConv() == LLVM::CConv::PTX_Kernel);
}

/// The kernels of LLVM that stand in `parent` itself.
static SmallVector<LLVM::LLVMFuncOp> collectKernels(Operation *parent) {
  SmallVector<LLVM::LLVMFuncOp> kernels;
  for (auto function : parent->getRegion(0).getOps<LLVM::LLVMFuncOp>())
    if (isKernelOfLLVM(function))
      kernels.push_back(function);
  return kernels;
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// Checks that `module`, which kernels of LLVM stand in, is for an NVIDIA GPU.
static LogicalResult checkMachine(ModuleOp module) {
  auto triple = module->getAttrOfType<StringAttr>(
      LLVM::LLVMDialect::getTargetTripleAttrName());
  if (!triple || triple.getValue().empty() ||
      llvm::Triple(triple.getValue()).getArch() == llvm::Triple::nvptx64)
    return success();
  return module.emitOpError("has kernels of LLVM for ")
         << triple.getValue()
         << "; those for nvptx64 are what is understood here";
}

static LogicalResult checkInterface(LLVM::LLVMFuncOp function) {
  if (function.isVarArg())
    return function.emitOpError("is a kernel with a variable number of "
                                "arguments, which no launch can pass");
  if (!isa<LLVM::LLVMVoidType>(function.getFunctionType().getReturnType()))
    return function.emitOpError("is a kernel that returns ")
           << function.getFunctionType().getReturnType()
           << "; let it write its result to memory";
  return success();
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

/// Puts what `module` has of LLVM into a new `gpu.module`.
static gpu::GPUModuleOp wrap(ModuleOp module, RewriterBase &rewriter) {
  rewriter.setInsertionPointToEnd(module.getBody());
  auto kernels = gpu::GPUModuleOp::create(rewriter, module.getLoc(), "kernels");
  SymbolTable(module).insert(kernels);
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (&op != kernels && isa<LLVM::LLVMDialect>(op.getDialect()))
      rewriter.moveOpBefore(&op, kernels.getBody(), kernels.getBody()->end());
  // They say how the machine lays out what is in memory, which is known of
  // GPUs.
  for (StringRef name :
       {LLVM::LLVMDialect::getTargetTripleAttrName(),
        LLVM::LLVMDialect::getDataLayoutAttrName(), StringRef("dlti.dl_spec")})
    module->removeAttr(name);
  return kernels;
}

/// The numbers that `value` lists, as in `64,1,1`; nothing if it lists
/// something else.
static std::optional<SmallVector<int32_t, 3>> readNumbers(StringRef value) {
  SmallVector<int32_t, 3> numbers;
  for (StringRef part : llvm::split(value, ','))
    if (part.trim().getAsInteger(10, numbers.emplace_back()))
      return std::nullopt;
  return numbers;
}

/// The attributes that upstream's import leaves as strings of LLVM, of the
/// kinds that launches have to do with, as NVVM has them.
static void readLaunchBounds(LLVM::LLVMFuncOp function) {
  ArrayAttr strings = function.getPassthroughAttr();
  MLIRContext *context = function.getContext();
  SmallVector<Attribute> left;
  for (Attribute attribute :
       strings ? strings.getValue() : ArrayRef<Attribute>()) {
    auto pair = dyn_cast<ArrayAttr>(attribute);
    auto name = pair ? dyn_cast<StringAttr>(pair[0]) : StringAttr();
    auto value = pair ? dyn_cast<StringAttr>(pair[1]) : StringAttr();
    std::optional<SmallVector<int32_t, 3>> numbers;
    if (name && value && name.getValue().starts_with("nvvm."))
      numbers = readNumbers(value.getValue());
    StringRef known = name ? name.getValue() : "";
    if (numbers && (known == NVVM::NVVMDialect::getReqntidAttrName() ||
                    known == NVVM::NVVMDialect::getMaxntidAttrName() ||
                    known == NVVM::NVVMDialect::getClusterDimAttrName()))
      function->setAttr(name, DenseI32ArrayAttr::get(context, *numbers));
    else if (numbers && numbers->size() == 1 &&
             (known == NVVM::NVVMDialect::getMinctasmAttrName() ||
              known == NVVM::NVVMDialect::getMaxnregAttrName()))
      function->setAttr(name,
                        Builder(context).getI32IntegerAttr((*numbers)[0]));
    else
      left.push_back(attribute);
  }
  if (strings && left.size() != strings.size())
    function.setPassthroughAttr(ArrayAttr::get(context, left));
}

/// The attributes of a kernel of LLVM that `gpu.func` has in its own way.
static void copyAttributes(LLVM::LLVMFuncOp function, gpu::GPUFuncOp kernel) {
  StringRef ofSizes = NVVM::NVVMDialect::getReqntidAttrName();
  for (NamedAttribute attribute : function->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (name == NVVM::NVVMDialect::getKernelFuncAttrName() ||
        name == gpu::GPUDialect::getKernelFuncAttrName() || name == ofSizes)
      continue;
    kernel->setDiscardableAttr(attribute.getName(), attribute.getValue());
  }
  auto sizes = function->getAttrOfType<DenseI32ArrayAttr>(ofSizes);
  if (!sizes)
    return;
  SmallVector<int32_t, 3> known(sizes.asArrayRef());
  known.resize(3, 1);
  kernel.setKnownBlockSizeAttr(
      DenseI32ArrayAttr::get(function.getContext(), known));
}

/// What is constant for the grid is only read: that says the same, and is what
/// the conversion to NVVM asks for.
static void copyArgumentAttributes(LLVM::LLVMFuncOp function,
                                   gpu::GPUFuncOp kernel) {
  StringRef readOnly = LLVM::LLVMDialect::getReadonlyAttrName();
  const StringRef kept[] = {LLVM::LLVMDialect::getNoAliasAttrName(),
                            LLVM::LLVMDialect::getAlignAttrName(),
                            LLVM::LLVMDialect::getByValAttrName(), readOnly};
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
    for (StringRef name : kept)
      if (Attribute value = function.getArgAttr(i, name))
        kernel.setArgAttr(i, name, value);
    if (function.getArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName()))
      kernel.setArgAttr(i, readOnly, UnitAttr::get(function.getContext()));
  }
}

/// Makes a `gpu.func` of `function`.
static void adopt(LLVM::LLVMFuncOp function, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(function);
  auto type = FunctionType::get(function.getContext(),
                                function.getArgumentTypes(), TypeRange());
  auto kernel = gpu::GPUFuncOp::create(rewriter, function.getLoc(),
                                       function.getName(), type);
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  rewriter.getUnitAttr());
  copyAttributes(function, kernel);
  copyArgumentAttributes(function, kernel);
  kernel.getBody().takeBody(function.getBody());
  SmallVector<LLVM::ReturnOp> returns(
      kernel.getBody().getOps<LLVM::ReturnOp>());
  for (LLVM::ReturnOp op : returns) {
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<gpu::ReturnOp>(op);
  }
  rewriter.eraseOp(function);
}

FailureOr<unsigned> adoptKernels(ModuleOp module) {
  SmallVector<Operation *> parents(module.getOps<gpu::GPUModuleOp>());
  SmallVector<LLVM::LLVMFuncOp> loose = collectKernels(module);
  SmallVector<LLVM::LLVMFuncOp> kernels = loose;
  for (Operation *parent : parents)
    llvm::append_range(kernels, collectKernels(parent));
  if (!loose.empty() && failed(checkMachine(module)))
    return failure();
  for (LLVM::LLVMFuncOp function : kernels)
    if (failed(checkInterface(function)))
      return failure();
  if (kernels.empty())
    return 0;
  MLIRContext *context = module.getContext();
  context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                       gpu::GPUDialect>();
  IRRewriter rewriter(context);
  if (!loose.empty())
    wrap(module, rewriter);
  for (LLVM::LLVMFuncOp function : kernels) {
    readLaunchBounds(function);
    raiseArithmetic(function.getBody(), rewriter);
    raiseIntrinsics(function.getBody(), rewriter);
    raiseLibdevice(function.getBody(), rewriter);
    adopt(function, rewriter);
  }
  return kernels.size();
}

namespace {
struct AdoptKernelsPass final : impl::AdoptKernelsPassBase<AdoptKernelsPass> {
  using AdoptKernelsPassBase::AdoptKernelsPassBase;

  void runOnOperation() override {
    if (failed(adoptKernels(getOperation())))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
