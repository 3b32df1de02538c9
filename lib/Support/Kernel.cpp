//===- Kernel.cpp - Kernels, device code and block shapes -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Support/Kernel.h"
#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SCCIterator.h"

namespace mlir::workgroup {

std::optional<int64_t> BlockShape::getNumThreads() const {
  int64_t numThreads = 1;
  for (std::optional<int64_t> size : sizes) {
    if (!size)
      return std::nullopt;
    numThreads *= *size;
  }
  return numThreads;
}

bool isKernel(Operation *op) {
  if (auto function = dyn_cast<gpu::GPUFuncOp>(op))
    return function.isKernel();
  if (isa<LLVM::LLVMFuncOp>(op)) // what lowering makes of it
    return op->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
  return isa<gpu::LaunchOp>(op);
}

Operation *getExecutionScope(Operation *op) {
  while (op && !isa<gpu::LaunchOp, FunctionOpInterface>(op))
    op = op->getParentOp();
  return op;
}

bool isThreadOp(Operation *op) {
  return isa<gpu::ThreadIdOp, gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp,
             gpu::LaneIdOp, gpu::SubgroupIdOp, gpu::GlobalIdOp, gpu::BarrierOp,
             gpu::ShuffleOp, gpu::SubgroupReduceOp, gpu::AllReduceOp>(op);
}

bool isDeviceFunction(FunctionOpInterface function) {
  if (function->getParentOfType<gpu::GPUModuleOp>())
    return true;
  WalkResult result =
      function->walk<WalkOrder::PreOrder>([](Operation *op) -> WalkResult {
        if (isa<gpu::LaunchOp>(op))
          return WalkResult::skip();
        return isThreadOp(op) ? WalkResult::interrupt() : WalkResult::advance();
      });
  return result.wasInterrupted();
}

bool isInDeviceCode(Operation *op) {
  Operation *scope = getExecutionScope(op);
  if (!scope)
    return false;
  if (isa<gpu::LaunchOp>(scope))
    return true;
  return isDeviceFunction(cast<FunctionOpInterface>(scope));
}

bool isInLaunchingCode(Operation *op) {
  Operation *scope = getExecutionScope(op);
  if (!scope || isa<gpu::LaunchOp, gpu::GPUFuncOp>(scope) ||
      scope->getParentOfType<gpu::GPUModuleOp>())
    return false;
  WalkResult result = scope->walk<WalkOrder::PreOrder>([](Operation *inner) {
    return isa<gpu::LaunchOp, gpu::LaunchFuncOp>(inner)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

SmallVector<Operation *> collectDeviceScopes(
    Operation *root,
    SmallVectorImpl<std::pair<CallOpInterface, FunctionOpInterface>> *calls) {
  llvm::SmallSetVector<Operation *, 8> scopes;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    bool isCode =
        function && !function.isExternal() && isDeviceFunction(function);
    if (!isa<gpu::LaunchOp>(op) && !isCode)
      return WalkResult::advance();
    scopes.insert(op);
    return WalkResult::skip();
  });
  // A root inside a kernel: what it holds runs in that kernel.
  if (scopes.empty())
    if (Operation *scope = getExecutionScope(root); scope && scope != root)
      scopes.insert(scope);

  SymbolTableCollection symbols;
  for (unsigned i = 0; i < scopes.size(); ++i)
    scopes[i]->walk([&](CallOpInterface call) {
      auto callee = dyn_cast_or_null<FunctionOpInterface>(
          call.resolveCallableInTable(&symbols));
      if (!callee || !root->isAncestor(callee) || callee.isExternal())
        return;
      scopes.insert(callee);
      if (calls)
        calls->emplace_back(call, callee);
    });
  return scopes.takeVector();
}

DenseSet<Operation *> findRecursiveFunctions(Operation *root) {
  DenseSet<Operation *> recursive;
  CallGraph graph(root);
  for (auto scc = llvm::scc_begin(&std::as_const(graph)); !scc.isAtEnd(); ++scc)
    if (scc.hasCycle())
      for (const CallGraphNode *node : *scc)
        if (!node->isExternal())
          recursive.insert(node->getCallableRegion()->getParentOp());
  return recursive;
}

using Sizes = std::array<std::optional<int64_t>, 3>;

/// The sizes of blocks or grids by the operands of a launch or, for a function,
/// by `known`, an attribute that may be missing.
static Sizes getSizes(Operation *scope, gpu::KernelDim3 operands,
                      DenseI32ArrayAttr known) {
  Sizes sizes;
  if (isa<gpu::LaunchOp>(scope))
    sizes = {getConstantIntValue(operands.x), getConstantIntValue(operands.y),
             getConstantIntValue(operands.z)};
  else if (known && known.size() == 3)
    sizes = {known[0], known[1], known[2]};
  // A size below one is a launch that fails; promise nothing about it.
  for (std::optional<int64_t> &size : sizes)
    if (size && *size < 1)
      size = std::nullopt;
  return sizes;
}

BlockShape getBlockShape(Operation *scope) {
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope))
    return {getSizes(scope, launch.getBlockSizeOperandValues(), nullptr)};
  auto function = dyn_cast<gpu::GPUFuncOp>(scope);
  StringRef name = gpu::GPUDialect::KnownBlockSizeAttrHelper::getNameStr();
  return {getSizes(scope, {},
                   function ? function.getKnownBlockSizeAttr()
                            : scope->getAttrOfType<DenseI32ArrayAttr>(name))};
}

std::array<std::optional<int64_t>, 3> getGridSizes(Operation *scope) {
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope))
    return getSizes(scope, launch.getGridSizeOperandValues(), nullptr);
  auto function = dyn_cast<gpu::GPUFuncOp>(scope);
  StringRef name = gpu::GPUDialect::KnownGridSizeAttrHelper::getNameStr();
  return getSizes(scope, {},
                  function ? function.getKnownGridSizeAttr()
                           : scope->getAttrOfType<DenseI32ArrayAttr>(name));
}

StringRef getScopeName(Operation *scope) {
  if (auto launch = dyn_cast_or_null<gpu::LaunchOp>(scope)) {
    if (FlatSymbolRefAttr name = launch.getFunctionAttr())
      return name.getValue();
    scope = launch->getParentOfType<FunctionOpInterface>();
  }
  if (auto function = dyn_cast_or_null<FunctionOpInterface>(scope))
    return function.getName();
  return "";
}

Region *getBody(Operation *scope) {
  // What a call resolves to may be anything that makes a function's address.
  auto function = dyn_cast<FunctionOpInterface>(scope);
  Region *body = nullptr;
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope))
    body = &launch.getBody();
  else if (function)
    body = function.getCallableRegion();
  return body && !body->empty() ? body : nullptr;
}

bool isBlockBarrier(Operation *op) {
  // With a count it is of a part of the block; with a number that is computed
  // it may be several.
  if (auto barrier = dyn_cast<NVVM::BarrierOp>(op))
    return !barrier.getNumberOfThreads() &&
           (!barrier.getBarrierId() ||
            getConstantIntValue(barrier.getBarrierId()));
  return isa<gpu::BarrierOp, NVVM::Barrier0Op>(op);
}

bool isInLoop(Operation *op, Operation *scope) {
  for (; op != scope; op = op->getParentOp()) {
    Region *region = op->getParentRegion();
    Operation *parent = region->getParentOp();
    // A block that can reach itself is part of an unstructured loop.
    Block *block = op->getBlock();
    for (Block *successor : block->getSuccessors())
      if (successor == block || successor->isReachable(block))
        return true;
    if (parent == scope)
      break;
    if (auto branch = dyn_cast<RegionBranchOpInterface>(parent)) {
      if (branch.isRepetitiveRegion(region->getRegionNumber()))
        return true;
      continue;
    }
    // An operation of unknown control flow may run its region repeatedly.
    return true;
  }
  return false;
}

} // namespace mlir::workgroup
