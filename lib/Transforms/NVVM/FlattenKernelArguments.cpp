//===- FlattenKernelArguments.cpp - Flatten kernel arguments --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface between a kernel and whoever launches it. A parameter list that
// MLIR's memref descriptors dictate would be long, redundant, and known to MLIR
// only; here parameter i is argument i, a pointer for a memref, and after them
// come the index values that the kernel cannot do without.
//
// Collect finds functions and their call sites, decide follows every memref
// argument through its uses to see which extents, strides and offsets are
// needed, apply changes functions and call sites together.
//
//===----------------------------------------------------------------------===//

#include "ArgumentFlattener.h"
#include "MemorySpelling.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Transforms/NVVM.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_FLATTENKERNELARGUMENTSPASS
#include "workgroup/Transforms/NVVM.h.inc"

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

static FailureOr<SmallVector<Callee>> collectCallees(ModuleOp module) {
  SmallVector<Callee> callees;
  SymbolTableCollection tables;
  SymbolUserMap users(tables, module);
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (auto function : kernels.getOps<FunctionOpInterface>()) {
      if (!isa<gpu::GPUFuncOp, func::FuncOp>(function) || function.isExternal())
        continue;
      callees.push_back({function, {}});
      for (Operation *user : users.getUsers(function)) {
        if (isa<gpu::LaunchFuncOp, func::CallOp>(user))
          callees.back().sites.push_back(user);
        else if (!llvm::all_of(function.getArgumentTypes(), isFlatArgument))
          return user->emitOpError("refers to '")
                 << function.getName()
                 << "', whose memrefs and tensor maps become pointers; call it "
                    "directly";
      }
    }
  return callees;
}

//===----------------------------------------------------------------------===//
// Check
//===----------------------------------------------------------------------===//

static LogicalResult checkArgument(FunctionOpInterface function, unsigned index,
                                   LLVMTypeConverter &converter) {
  Type type = function.getArgumentTypes()[index];
  if (isa<UnrankedMemRefType>(type))
    return function.emitOpError("has an unranked memref as argument ")
           << index
           << ", whose shape no launch can pass; cast it to a ranked type";
  if (auto memref = dyn_cast<MemRefType>(type)) {
    if (!getElementBytes(memref, function) &&
        isa<IntegerType, FloatType, ComplexType, VectorType>(
            memref.getElementType()))
      return function.emitOpError("has argument ")
             << index << " of type " << type
             << ", whose elements have no form in LLVM; store them as integers "
                "of the same width";
    if (memref.isStrided())
      return success();
    return function.emitOpError("has argument ")
           << index << " of type " << type
           << " with a layout that is not strided; normalize its layout map";
  }
  if (auto map = dyn_cast<nvgpu::TensorMapDescriptorType>(type)) {
    if (map.getTensor().hasStaticShape())
      return success();
    return function.emitOpError("has argument ")
           << index << " of type " << type
           << ", a tensor map whose box has dynamic extents; make them static";
  }
  if (converter.convertType(type))
    return success();
  return function.emitOpError("has argument ")
         << index << " of type " << type
         << ", which has no form in LLVM; pass numbers, vectors, memrefs and "
            "tensor maps";
}

static LogicalResult checkInterface(FunctionOpInterface function,
                                    LLVMTypeConverter &converter) {
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    if (failed(checkArgument(function, i, converter)))
      return failure();
  for (Type type : function.getResultTypes())
    if (auto memref = dyn_cast<BaseMemRefType>(type);
        memref && !LLVMTypeConverter::canConvertToBarePtr(memref))
      return function.emitOpError("returns a memref of type ")
             << type
             << ", whose extents and layout a pointer cannot carry; inline the "
                "function";
  return success();
}

static void rename(gpu::GPUFuncOp kernel, ArrayRef<Operation *> launches,
                   StringRef name) {
  kernel.setName(name);
  auto parent = kernel->getParentOfType<gpu::GPUModuleOp>();
  auto leaf = FlatSymbolRefAttr::get(kernel.getContext(), name);
  for (Operation *launch : launches)
    cast<gpu::LaunchFuncOp>(launch).setKernelAttr(
        SymbolRefAttr::get(parent.getNameAttr(), {leaf}));
}

/// One PTX text will hold all kernels: none may have a name that PTX cannot
/// hold, and no two the same.
static void makeNamesUnique(ModuleOp module, MutableArrayRef<Callee> callees) {
  llvm::StringSet<> taken;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (auto symbol : kernels.getOps<SymbolOpInterface>())
      taken.insert(symbol.getName());
  llvm::StringSet<> seen;
  for (Callee &callee : callees) {
    auto kernel = dyn_cast<gpu::GPUFuncOp>(callee.function.getOperation());
    if (!kernel)
      continue;
    std::string base = getPTXName(kernel.getName());
    bool isValid = base == kernel.getName();
    if (seen.insert(kernel.getName()).second && isValid)
      continue;
    std::string name = base;
    for (unsigned i = 0; taken.contains(name); ++i)
      name = base + "_" + std::to_string(i);
    taken.insert(name);
    seen.insert(name);
    rename(kernel, callee.sites, name);
  }
}

static std::optional<std::array<int64_t, 3>>
getSizes(std::optional<ArrayRef<int32_t>> sizes) {
  if (!sizes || sizes->size() != 3)
    return std::nullopt;
  return std::array<int64_t, 3>{(*sizes)[0], (*sizes)[1], (*sizes)[2]};
}

/// The types of the arguments as their author knows them: of a pointer to what
/// is passed by value, that of the value.
static SmallVector<Type> getArgumentTypes(FunctionOpInterface function) {
  SmallVector<Type> types = llvm::to_vector(function.getArgumentTypes());
  for (auto [number, type] : llvm::enumerate(types))
    if (auto value = function.getArgAttrOfType<TypeAttr>(
            number, LLVM::LLVMDialect::getByValAttrName()))
      type = value.getValue();
  return types;
}

LogicalResult
flattenKernelArguments(ModuleOp module,
                       SmallVectorImpl<KernelSignature> *signatures) {
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    respellMemorySpaces(kernels);
  FailureOr<SmallVector<Callee>> callees = collectCallees(module);
  if (failed(callees))
    return failure();
  LLVMTypeConverter converter(module.getContext());
  for (Callee &callee : *callees)
    if (failed(checkInterface(callee.function, converter)))
      return failure();
  makeNamesUnique(module, *callees);

  IRRewriter rewriter(module.getContext());
  for (Callee &callee : *callees) {
    KernelSignature signature;
    signature.name = callee.function.getName().str();
    signature.arguments = getArgumentTypes(callee.function);
    for (BlockArgument argument : callee.function.getArguments())
      signature.alignments.push_back(getNeededAlignment(argument));
    signature.parameters = flattenArguments(rewriter, callee);
    auto kernel = dyn_cast<gpu::GPUFuncOp>(callee.function.getOperation());
    if (!signatures || !kernel || !kernel.isKernel())
      continue;
    signature.knownBlock = getSizes(kernel.getKnownBlockSize());
    signature.knownGrid = getSizes(kernel.getKnownGridSize());
    KernelBuffers memory = collectKernelBuffers(kernel);
    signature.dynamicBytes = memory.dynamicBytes;
    signature.leastDynamicBytes = memory.leastDynamicBytes;
    signatures->push_back(std::move(signature));
  }
  return success();
}

namespace {
struct FlattenKernelArgumentsPass final
    : impl::FlattenKernelArgumentsPassBase<FlattenKernelArgumentsPass> {
  using FlattenKernelArgumentsPassBase::FlattenKernelArgumentsPassBase;

  void runOnOperation() override {
    if (failed(flattenKernelArguments(getOperation(), signatures)))
      signalPassFailure();
  }

  SmallVectorImpl<KernelSignature> *signatures = nullptr;
};
} // namespace

std::unique_ptr<Pass>
createFlattenKernelArgumentsPass(SmallVectorImpl<KernelSignature> *signatures) {
  auto pass = std::make_unique<FlattenKernelArgumentsPass>();
  pass->signatures = signatures;
  return pass;
}

} // namespace mlir::workgroup
