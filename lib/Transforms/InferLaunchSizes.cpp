//===- InferLaunchSizes.cpp - Tell kernels what launches say --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuffers.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Passes.h"
#include "workgroup/Transforms.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_INFERLAUNCHSIZESPASS
#include "workgroup/Passes.h.inc"

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
}

namespace {
struct InferLaunchSizesPass final
    : impl::InferLaunchSizesPassBase<InferLaunchSizesPass> {
  using InferLaunchSizesPassBase::InferLaunchSizesPassBase;

  void runOnOperation() override { inferLaunchSizes(getOperation()); }
};
} // namespace

} // namespace mlir::workgroup
