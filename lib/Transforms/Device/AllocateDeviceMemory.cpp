//===- AllocateDeviceMemory.cpp - Buffers of launches to the device -------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All functions are planned before the first one is changed, so that a failure
// leaves the module as it was.
//
//===----------------------------------------------------------------------===//

#include "DevicePlan.h"
#include "DeviceRewriter.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Transforms/Device.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_ALLOCATEDEVICEMEMORYPASS
#include "workgroup/Transforms/Device.h.inc"

/// Says which buffers stay with the host, and why; fails if none may.
static LogicalResult reportLeft(FunctionOpInterface function,
                                const DevicePlan &plan, bool isStrict) {
  bool isLeft = false;
  for (auto [buffer, bufferPlan] :
       llvm::zip_equal(plan.getMemory().getBuffers(), plan.getPlans())) {
    if (bufferPlan.outcome != BufferPlan::Outcome::Left)
      continue;
    isLeft = true;
    Operation *op = buffer.value.getDefiningOp();
    recordRemark(RemarkId::AllocateDeviceMemory_LeftOnHost,
                 op ? op : function.getOperation(), buffer.value.getLoc())
        << remark::reason("{0}", bufferPlan.reason);
    if (!isStrict)
      continue;
    InFlightDiagnostic error =
        emitError(buffer.value.getLoc())
        << "buffer stays in memory of the host, and kernels are launched with "
           "it: "
        << bufferPlan.reason;
    if (bufferPlan.culprit)
      error.attachNote(bufferPlan.culprit->getLoc()) << "see here";
  }
  return failure(isStrict && isLeft);
}

/// The host functions inside `module` that launch kernels.
static SmallVector<FunctionOpInterface> collectFunctions(ModuleOp module) {
  SmallVector<FunctionOpInterface> functions;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function)
      return WalkResult::advance();
    bool isLaunching = function
                           ->walk([](Operation *inner) {
                             return isLaunchOp(inner) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
                           })
                           .wasInterrupted();
    if (isLaunching)
      functions.push_back(function);
    return WalkResult::skip();
  });
  return functions;
}

LogicalResult allocateDeviceMemory(ModuleOp module,
                                   const AllocateDeviceMemoryOptions &options) {
  DeviceArguments arguments(module);
  KernelUses kernels;
  SmallVector<FunctionOpInterface> functions = collectFunctions(module);
  std::vector<std::unique_ptr<DevicePlan>> plans;
  bool hasFailed = false;
  for (FunctionOpInterface function : functions) {
    plans.push_back(std::make_unique<DevicePlan>(
        function, arguments, kernels, options.assumeDistinctArguments));
    hasFailed |= failed(reportLeft(function, *plans.back(), options.strict));
  }
  if (hasFailed)
    return failure();
  for (auto [function, plan] : llvm::zip_equal(functions, plans))
    DeviceRewriter(function, *plan).run();
  return success();
}

namespace {
struct AllocateDeviceMemoryPass final
    : impl::AllocateDeviceMemoryPassBase<AllocateDeviceMemoryPass> {
  using AllocateDeviceMemoryPassBase::AllocateDeviceMemoryPassBase;

  void runOnOperation() override {
    AllocateDeviceMemoryOptions options;
    options.assumeDistinctArguments = assumeDistinctArguments;
    options.strict = strict;
    if (failed(allocateDeviceMemory(getOperation(), options)))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
