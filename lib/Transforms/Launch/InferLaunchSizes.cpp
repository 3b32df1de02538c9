//===- InferLaunchSizes.cpp - Tell kernels what launches say --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If all launches of a kernel have the same constant sizes of block or grid,
// the kernel states them by attributes, as `gpu.known_block_size`. A function
// states what all its callers state. Analyses then know the sizes from the
// kernel alone, wherever it is launched.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms/Launch.h"
#include "workgroup/Transforms/ProgramChecks.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_INFERLAUNCHSIZESPASS
#include "workgroup/Transforms/Launch.h.inc"

/// The sizes that all of `launches` have, as an attribute, if `get` returns
/// those of one; null if they are not constant, not the same, or no sizes.
static DenseI32ArrayAttr
getCommonSizes(MutableArrayRef<gpu::LaunchFuncOp> launches,
               function_ref<gpu::KernelDim3(gpu::LaunchFuncOp)> get) {
  DenseI32ArrayAttr common;
  for (gpu::LaunchFuncOp launch : launches) {
    gpu::KernelDim3 dims = get(launch);
    SmallVector<int32_t> sizes;
    for (Value dim : {dims.x, dims.y, dims.z}) {
      std::optional<int64_t> size = getConstantIntValue(dim);
      if (!size || *size < 1 || *size > std::numeric_limits<int32_t>::max())
        return nullptr;
      sizes.push_back(*size);
    }
    auto attribute = DenseI32ArrayAttr::get(launch.getContext(), sizes);
    if (common && common != attribute)
      return nullptr;
    common = attribute;
  }
  return common;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

using Sizes = std::array<std::optional<int64_t>, 3>;

/// The functions that scopes inside `root` call, in the order of those, and
/// who calls them: not those that something else than a call refers to.
static llvm::MapVector<Operation *, SmallVector<Operation *>>
collectCallers(Operation *root) {
  llvm::MapVector<Operation *, SmallVector<Operation *>> callers;
  SmallVector<std::pair<CallOpInterface, FunctionOpInterface>> calls;
  collectDeviceScopes(root, &calls);
  if (calls.empty())
    return callers;
  for (auto [call, callee] : calls)
    if (!isa<gpu::GPUFuncOp>(callee))
      callers[callee].push_back(getExecutionScope(call));
  SymbolTableCollection symbols;
  SymbolUserMap users(symbols, root);
  callers.remove_if([&](const auto &entry) {
    return !llvm::all_of(users.getUsers(entry.first), [](Operation *user) {
      return isa<CallOpInterface>(user);
    });
  });
  return callers;
}

/// The sizes that all of `scopes` have, as an attribute; null if one is not
/// known, or if they are not the same.
static DenseI32ArrayAttr getCommonSizes(ArrayRef<Operation *> scopes,
                                        function_ref<Sizes(Operation *)> get) {
  Sizes common = get(scopes.front());
  SmallVector<int32_t> sizes;
  for (std::optional<int64_t> size : common)
    if (size && *size <= std::numeric_limits<int32_t>::max())
      sizes.push_back(*size);
  bool isCommon = llvm::all_of(
      scopes, [&](Operation *scope) { return get(scope) == common; });
  if (!isCommon || sizes.size() != common.size())
    return nullptr;
  return DenseI32ArrayAttr::get(scopes.front()->getContext(), sizes);
}

/// Gives functions the attribute `name` that all have who call them, if `get`
/// reads it. A function that calls itself gets none.
static void inferFromCallers(
    const llvm::MapVector<Operation *, SmallVector<Operation *>> &callers,
    StringRef name, function_ref<Sizes(Operation *)> get) {
  bool isChanged = true;
  while (std::exchange(isChanged, false))
    for (const auto &[function, scopes] : callers)
      if (!function->hasAttr(name))
        if (DenseI32ArrayAttr sizes = getCommonSizes(scopes, get)) {
          function->setAttr(name, sizes);
          isChanged = true;
        }
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

void inferLaunchSizes(Operation *root) {
  for (auto &[kernel, launches] : collectLaunchSites(root)) {
    gpu::GPUFuncOp function = kernel; // may be changed
    if (!root->isAncestor(function))
      continue;
    if (!function.getKnownBlockSizeAttr())
      function.setKnownBlockSizeAttr(
          getCommonSizes(launches, [](gpu::LaunchFuncOp launch) {
            return launch.getBlockSizeOperandValues();
          }));
    if (!function.getKnownGridSizeAttr())
      function.setKnownGridSizeAttr(
          getCommonSizes(launches, [](gpu::LaunchFuncOp launch) {
            return launch.getGridSizeOperandValues();
          }));
  }
  auto callers = collectCallers(root);
  inferFromCallers(callers,
                   gpu::GPUDialect::KnownBlockSizeAttrHelper::getNameStr(),
                   [](Operation *scope) { return getBlockShape(scope).sizes; });
  inferFromCallers(callers,
                   gpu::GPUDialect::KnownGridSizeAttrHelper::getNameStr(),
                   getGridSizes);
}

namespace {
struct InferLaunchSizesPass final
    : impl::InferLaunchSizesPassBase<InferLaunchSizesPass> {
  using InferLaunchSizesPassBase::InferLaunchSizesPassBase;

  void runOnOperation() override {
    if (failed(verifyLaunches(getOperation())))
      return signalPassFailure();
    inferLaunchSizes(getOperation());
  }
};
} // namespace

} // namespace mlir::workgroup
