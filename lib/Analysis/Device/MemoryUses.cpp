//===- MemoryUses.cpp - What operations do to buffers ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryUses.h"
#include "HostMemory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace mlir::workgroup {

MemoryUse &MemoryUse::operator|=(const MemoryUse &other) {
  reads |= other.reads;
  writes |= other.writes;
  overwrites |= other.overwrites;
  frees |= other.frees;
  keeps |= other.keeps;
  return *this;
}

bool isLaunchOp(Operation *op) {
  return isa<gpu::LaunchOp, gpu::LaunchFuncOp>(op);
}

//===----------------------------------------------------------------------===//
// What an operation says
//===----------------------------------------------------------------------===//

/// True if linalg operation `op` writes each element of `operand`, and reads
/// none of it.
static bool isOverwritten(linalg::LinalgOp op, OpOperand &operand) {
  return op.isDpsInit(&operand) && !op.payloadUsesValueFromOperand(&operand) &&
         op.getMatchingIndexingMap(&operand).isPermutation();
}

/// What the interface of `op` says of `use`; nothing if there is none.
static std::optional<MemoryUse> getDeclaredUse(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isMemoryEffectFree(op))
    return MemoryUse();
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return std::nullopt;
  MemoryUse result;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  bool isNamed = false;
  for (const MemoryEffects::EffectInstance &effect : effects) {
    if (effect.getValue() && effect.getValue() != use.get())
      continue;
    isNamed |= bool(effect.getValue());
    result.reads |= isa<MemoryEffects::Read>(effect.getEffect());
    result.writes |= isa<MemoryEffects::Write>(effect.getEffect());
    result.frees |= isa<MemoryEffects::Free>(effect.getEffect());
  }
  // Effects on nothing in particular are on anything.
  if (!isNamed && !effects.empty() && (result.reads || result.writes))
    return MemoryUse::anything();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    result.overwrites = isOverwritten(linalgOp, use);
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    result.overwrites = &copy.getTargetMutable() == &use;
  if (auto copy = dyn_cast<gpu::MemcpyOp>(op))
    result.overwrites = &copy.getDstMutable() == &use;
  return result;
}

/// What a function is declared to do with what is passed for an argument.
static std::optional<MemoryUse> getAttributedUse(FunctionOpInterface callee,
                                                 unsigned number) {
  if (!callee || number >= callee.getNumArguments())
    return std::nullopt;
  auto has = [&](StringRef name) {
    return bool(callee.getArgAttr(number, name));
  };
  if (has(LLVM::LLVMDialect::getReadnoneAttrName()))
    return MemoryUse();
  MemoryUse use;
  use.reads = true;
  if (has(LLVM::LLVMDialect::getReadonlyAttrName()))
    return use;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

static FunctionOpInterface getCallee(CallOpInterface call) {
  return dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
}

/// True for a call by which upstream's runner prints memory.
static bool isPrint(CallOpInterface call) {
  FunctionOpInterface callee = getCallee(call);
  return callee && callee.isExternal() &&
         callee.getName().starts_with("printMemref");
}

static MemoryUse getUseOfCall(CallOpInterface call, OpOperand &use) {
  if (isPrint(call))
    return {/*reads=*/true};
  auto arguments = call.getArgOperands();
  FunctionOpInterface callee = getCallee(call);
  unsigned number = use.getOperandNumber() - arguments.getBeginOperandIndex();
  return getAttributedUse(callee, number).value_or(MemoryUse::anything());
}

/// True for an operation that asks for the shape of a memref.
static bool isQuery(Operation *op) {
  return isa<memref::DimOp, memref::RankOp>(op);
}

MemoryUse getHostUse(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isQuery(op) || !getNextValues(use).empty())
    return MemoryUse();
  if (auto call = dyn_cast<CallOpInterface>(op))
    return getUseOfCall(call, use);
  if (op->hasTrait<OpTrait::ReturnLike>()) {
    MemoryUse result;
    result.reads = true;
    result.keeps = true;
    return result;
  }
  std::optional<MemoryUse> declared = getDeclaredUse(use);
  if (!declared)
    return MemoryUse::anything();
  // What is made of an address may be used as one.
  auto isNumber = [](Type type) { return type.isIntOrFloat(); };
  if (isMemoryEffectFree(op) && !llvm::all_of(op->getResultTypes(), isNumber))
    return MemoryUse::anything();
  return *declared;
}

bool mayAccessAnything(Operation *op) {
  if (auto call = dyn_cast<CallOpInterface>(op))
    return !isPrint(call);
  if (isMemoryEffectFree(op) || isLaunchOp(op) ||
      isa<gpu::AsyncOpInterface>(op) ||
      op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
      op->hasTrait<OpTrait::ReturnLike>())
    return false;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return !isa<FunctionOpInterface>(op);
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return !effect.getValue() &&
           isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()) &&
           effect.getResource() == SideEffects::DefaultResource::get();
  });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// What `use`, in a kernel, does.
static MemoryUse getThreadUse(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isQuery(op))
    return MemoryUse();
  if (isa<gpu::SubgroupMmaLoadMatrixOp>(op))
    return {/*reads=*/true};
  if (isa<gpu::SubgroupMmaStoreMatrixOp>(op))
    return {/*reads=*/false, /*writes=*/true};
  MemoryUse result = getDeclaredUse(use).value_or(MemoryUse::anything());
  // Of several threads, none needs to write all of it.
  result.overwrites = false;
  bool isPointer = isMemoryEffectFree(op) &&
                   llvm::any_of(op->getResultTypes(),
                                [](Type type) { return !type.isIntOrFloat(); });
  return isPointer ? MemoryUse::anything() : result;
}

/// What is done by uses of `memory` for which `isCounted` holds, and by those
/// of its views.
static MemoryUse collectThreadUses(Value memory,
                                   function_ref<bool(Operation *)> isCounted) {
  MemoryUse result;
  SmallVector<Value> worklist = {memory};
  DenseSet<Value> seen = {memory};
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      if (!isCounted(use.getOwner()))
        continue;
      SmallVector<Value> next = getNextValues(use);
      if (next.empty())
        result |= getThreadUse(use);
      for (Value value : next)
        if (seen.insert(value).second)
          worklist.push_back(value);
    }
  return result;
}

MemoryUse KernelUses::getOfArgument(FunctionOpInterface kernel,
                                    unsigned number) {
  if (std::optional<MemoryUse> declared = getAttributedUse(kernel, number))
    return *declared;
  if (!isa<gpu::GPUFuncOp>(kernel) || kernel.isExternal() ||
      number >= kernel.getNumArguments())
    return MemoryUse::anything();
  Value argument = kernel.getArgument(number);
  auto [known, isNew] = ofArguments.try_emplace(argument);
  if (isNew) {
    MemoryUse use =
        collectThreadUses(argument, [](Operation *) { return true; });
    ofArguments[argument] = use;
    return use;
  }
  return known->second;
}

MemoryUse KernelUses::get(Operation *op, Value value) {
  if (isa<gpu::LaunchOp>(op))
    return collectThreadUses(
        value, [&](Operation *user) { return op->isProperAncestor(user); });
  auto launch = cast<gpu::LaunchFuncOp>(op);
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      launch, launch.getKernelAttr());
  MemoryUse result;
  for (auto [number, operand] : llvm::enumerate(launch.getKernelOperands()))
    if (operand == value)
      result |= kernel ? getOfArgument(kernel, number) : MemoryUse::anything();
  return result;
}

} // namespace mlir::workgroup
