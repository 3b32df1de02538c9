//===- ArgumentAliases.cpp - Arguments that do not overlap ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/ArgumentAliases.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

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

/// True for an argument of a function.
static bool isOfFunction(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner()->isEntryBlock() &&
         isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

bool isChosen(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto extent = dyn_cast_or_null<memref::DimOp>(op))
    return isOfFunction(extent.getSource());
  return op ? isa<memref::LoadOp, CallOpInterface>(op) : isOfFunction(value);
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

/// The memref that a tensor map is of, as far as its making is in sight.
static Value getMappedMemory(Value value) {
  auto map = value.getDefiningOp<nvgpu::TmaCreateDescriptorOp>();
  return map ? map.getTensor() : value;
}

/// True if `lhs` was allocated when `rhs`, of the same turn of all loops, was
/// there already.
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

bool ArgumentAliases::mayAlias(Value lhs, Value rhs) const {
  lhs = getMappedMemory(lhs);
  rhs = getMappedMemory(rhs);
  bool areMemRefs =
      isa<BaseMemRefType>(lhs.getType()) && isa<BaseMemRefType>(rhs.getType());
  if (areMemRefs && !workgroup::mayAlias(lhs, rhs))
    return false;
  Value left = getRootBuffer(lhs), right = getRootBuffer(rhs);
  FunctionOpInterface function = getEntry(left);
  if (left == right || !function || function != getEntry(right))
    return true;
  auto sites = launches.find(function);
  // A tensor map may well be of another argument.
  if (sites == launches.end())
    return !areDistinct || !areMemRefs;
  unsigned first = cast<BlockArgument>(left).getArgNumber();
  unsigned second = cast<BlockArgument>(right).getArgNumber();
  return llvm::any_of(sites->second, [&](gpu::LaunchFuncOp launch) {
    Value one = launch.getKernelOperand(first);
    Value other = launch.getKernelOperand(second);
    return !isNewerThan(one, other) && !isNewerThan(other, one) &&
           !isConstant(one) && !isConstant(other) && mayAlias(one, other);
  });
}

} // namespace mlir::workgroup
