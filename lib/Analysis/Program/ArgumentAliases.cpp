//===- ArgumentAliases.cpp - Arguments that do not overlap ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/ArgumentAliases.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

ArgumentAliases::ArgumentAliases(Operation *root, bool areDistinct)
    : areDistinct(areDistinct) {
  SymbolTableCollection symbols;
  root->walk([&](gpu::LaunchFuncOp launch) {
    Operation *kernel =
        symbols.lookupNearestSymbolFrom(launch, launch.getKernelAttr());
    // Once lowered, a memref is more than one argument.
    if (isa_and_nonnull<gpu::GPUFuncOp>(kernel) && root->isAncestor(kernel))
      launches[kernel].push_back(launch);
  });
  root->walk([&](CallOpInterface call) {
    if (Operation *function = call.resolveCallableInTable(&symbols))
      calls[function].push_back(call);
  });
  root->walk([&](func::ConstantOp constant) {
    if (Operation *function =
            symbols.lookupNearestSymbolFrom(constant, constant.getValueAttr()))
      referred.insert(function);
  });
}

/// The function of which `root` is an argument that a launch, or who calls the
/// host function, passes; null if it is anything else.
static FunctionOpInterface getEntry(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return {};
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function || argument.getArgNumber() >= function.getNumArguments())
    return {};
  return isKernel(function) || !isDeviceFunction(function)
             ? function
             : FunctionOpInterface();
}

/// True for an argument that is memory itself.
static bool isBuffer(Value argument) {
  return isa<BaseMemRefType, LLVM::LLVMPointerType>(argument.getType());
}

/// True for an argument of a function that nothing in sight calls.
bool ArgumentAliases::isOfEntry(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return false;
  Operation *function = argument.getOwner()->getParentOp();
  return isa<FunctionOpInterface>(function) && !calls.contains(function) &&
         !referred.contains(function);
}

bool ArgumentAliases::isChosen(Value value) const {
  Operation *op = value.getDefiningOp();
  if (auto extent = dyn_cast_or_null<memref::DimOp>(op))
    return isOfEntry(extent.getSource());
  return op ? isa<memref::LoadOp, CallOpInterface>(op) : isOfEntry(value);
}

bool ArgumentAliases::isFree(BlockArgument argument) const {
  FunctionOpInterface function = getEntry(argument);
  auto sites = launches.find(function);
  if (!function || sites == launches.end())
    return true;
  return llvm::any_of(sites->second, [&](gpu::LaunchFuncOp launch) {
    Value passed = launch.getKernelOperand(argument.getArgNumber());
    return isChosen(passed) &&
           llvm::count(launch.getKernelOperands(), passed) == 1;
  });
}

Attribute ArgumentAliases::getConstant(BlockArgument argument) const {
  FunctionOpInterface function = getEntry(argument);
  Attribute common;
  for (gpu::LaunchFuncOp launch : getLaunches(function)) {
    Value passed = launch.getKernelOperand(argument.getArgNumber());
    Attribute constant;
    if (!matchPattern(passed, m_Constant(&constant)) ||
        (common && common != constant))
      return {};
    common = constant;
  }
  return common;
}

/// The memref that a tensor map is of, as far as its making is in sight.
static Value getMappedMemory(Value value) {
  auto map = value.getDefiningOp<nvgpu::TmaCreateDescriptorOp>();
  return map ? map.getTensor() : value;
}

/// True if `lhs` was allocated when `rhs`, of the same iteration of all loops,
/// was there already.
static bool isNewerThan(Value lhs, Value rhs) {
  Operation *allocation = getRootBuffer(lhs).getDefiningOp<memref::AllocOp>();
  if (!allocation)
    return false;
  Value older = getRootBuffer(rhs);
  Operation *at = older.getParentBlock()->findAncestorOpInBlock(*allocation);
  Operation *op = older.getDefiningOp();
  return at && (!op || (op != at && op->isBeforeInBlock(at)));
}

/// True for a constant, the memory of which nobody writes to by any name.
static bool isConstant(Value value) {
  auto get = getRootBuffer(value).getDefiningOp<memref::GetGlobalOp>();
  auto global = get ? SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
                          get, get.getNameAttr())
                    : nullptr;
  return global && global.getConstant();
}

//===----------------------------------------------------------------------===//
// What the host hands on
//===----------------------------------------------------------------------===//

/// The values that a loop may forward as number `index`.
static SmallVector<Value, 2> getLoopSources(scf::ForOp loop, unsigned index) {
  return {loop.getInitArgs()[index], loop.getYieldedValues()[index]};
}

/// The values that `value`, a memref of the host, may be, as it is forwarded by
/// a loop, a branch or a selection; nothing if it is not.
static SmallVector<Value, 2> getSources(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    unsigned index = argument.getArgNumber();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return getLoopSources(loop, index - loop.getNumInductionVars());
    auto loop = dyn_cast<scf::WhileOp>(parent);
    if (loop && argument.getOwner() == loop.getBeforeBody())
      return {loop.getInits()[index], loop.getYieldOp()->getOperand(index)};
    return loop ? SmallVector<Value, 2>{loop.getConditionOp().getArgs()[index]}
                : SmallVector<Value, 2>();
  }
  unsigned index = cast<OpResult>(value).getResultNumber();
  using Sources = SmallVector<Value, 2>;
  return llvm::TypeSwitch<Operation *, Sources>(value.getDefiningOp())
      .Case([&](scf::ForOp loop) { return getLoopSources(loop, index); })
      .Case([&](scf::WhileOp loop) {
        return Sources{loop.getConditionOp().getArgs()[index]};
      })
      .Case([&](scf::IfOp branch) {
        return Sources{branch.thenYield().getOperand(index),
                       branch.elseYield().getOperand(index)};
      })
      .Case([&](arith::SelectOp select) {
        return Sources{select.getTrueValue(), select.getFalseValue()};
      })
      .Default([](Operation *) { return Sources(); });
}

/// The buffers that `memref`, of the host, may be a view of.
static llvm::SetVector<Value> getBuffers(Value memref) {
  llvm::SetVector<Value> handedOn, buffers;
  handedOn.insert(getRootBuffer(memref));
  for (unsigned next = 0; next < handedOn.size(); ++next) {
    SmallVector<Value, 2> sources = getSources(handedOn[next]);
    if (sources.empty())
      buffers.insert(handedOn[next]);
    for (Value source : sources)
      handedOn.insert(getRootBuffer(source));
  }
  return buffers;
}

/// True if one operation hands both on at the same time.
static bool areHandedOnTogether(Value lhs, Value rhs) {
  auto first = dyn_cast<BlockArgument>(lhs);
  auto second = dyn_cast<BlockArgument>(rhs);
  return first && second
             ? first.getOwner() == second.getOwner()
             : !first && !second && lhs.getDefiningOp() == rhs.getDefiningOp();
}

/// True if two memrefs of the host may alias. Values that are forwarded
/// together are looked at in pairs: buffers that a loop swaps stay different.
bool ArgumentAliases::mayAliasOnHost(Value lhs, Value rhs,
                                     unsigned depth) const {
  llvm::SetVector<std::pair<Value, Value>> pairs;
  pairs.insert({lhs, rhs});
  for (unsigned next = 0; next < pairs.size(); ++next) {
    auto [one, other] = pairs[next];
    Value left = getRootBuffer(one), right = getRootBuffer(other);
    if (isNewerThan(one, other) || isNewerThan(other, one) || isConstant(one) ||
        isConstant(other))
      continue;
    SmallVector<Value, 2> sources = getSources(left);
    bool isPair = left != right && areHandedOnTogether(left, right);
    if (isPair && !sources.empty()) {
      for (auto [from, to] : llvm::zip_equal(sources, getSources(right)))
        pairs.insert({from, to});
      continue;
    }
    llvm::SetVector<Value> others = getBuffers(right);
    for (Value buffer : getBuffers(left))
      for (Value another : others)
        if (mayAlias(buffer, another, depth))
          return true;
  }
  return false;
}

bool ArgumentAliases::mayAlias(Value lhs, Value rhs) const {
  return mayAlias(lhs, rhs, /*depth=*/0);
}

/// `depth` is how many calls and launches were looked at on the way.
bool ArgumentAliases::mayAlias(Value lhs, Value rhs, unsigned depth) const {
  constexpr unsigned kMaxDepth = 8;
  lhs = getMappedMemory(lhs);
  rhs = getMappedMemory(rhs);
  bool areMemRefs =
      isa<BaseMemRefType>(lhs.getType()) && isa<BaseMemRefType>(rhs.getType());
  if (areMemRefs && !workgroup::mayAlias(lhs, rhs))
    return false;
  Value left = getRootBuffer(lhs), right = getRootBuffer(rhs);
  if (isConstant(left) != isConstant(right))
    return false;
  FunctionOpInterface function = getEntry(left);
  if (left == right || !function || function != getEntry(right))
    return true;
  auto sites = launches.find(function);
  auto callers = calls.find(function);
  // A tensor map may well be of another argument.
  bool areBuffers = isBuffer(left) && isBuffer(right);
  if (sites == launches.end() && (!areDistinct || !areBuffers))
    return true;
  if (depth == kMaxDepth || referred.contains(function))
    return true; // one that calls itself, or is called by anyone
  unsigned first = cast<BlockArgument>(left).getArgNumber();
  unsigned second = cast<BlockArgument>(right).getArgNumber();
  if (sites != launches.end())
    return llvm::any_of(sites->second, [&](gpu::LaunchFuncOp launch) {
      return mayAliasOnHost(launch.getKernelOperand(first),
                            launch.getKernelOperand(second), depth + 1);
    });
  return callers != calls.end() &&
         llvm::any_of(callers->second, [&](CallOpInterface call) {
           return mayAliasOnHost(call.getArgOperands()[first],
                                 call.getArgOperands()[second], depth + 1);
         });
}

} // namespace mlir::workgroup
