//===- GivenLaunch.cpp - What is known of a launch in advance -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GivenLaunch.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "workgroup/Support/SymbolNames.h"

namespace mlir::workgroup {

/// `sizes` as the attribute of a kernel.
static DenseI32ArrayAttr makeSizes(const std::array<int64_t, 3> &sizes,
                                   MLIRContext *context) {
  auto [x, y, z] = sizes;
  return DenseI32ArrayAttr::get(context, {int32_t(x), int32_t(y), int32_t(z)});
}

/// Sets the attribute `name` of `kernel` to `sizes`, if these are known. An
/// error if it has another value.
static LogicalResult fix(gpu::GPUFuncOp kernel, const LaunchSizes &sizes,
                         StringRef name, StringRef what) {
  if (!sizes)
    return success();
  DenseI32ArrayAttr wanted = makeSizes(*sizes, kernel.getContext());
  auto known = kernel->getAttrOfType<DenseI32ArrayAttr>(name);
  if (known && known != wanted)
    return kernel.emitOpError("is for ")
           << what << " of " << known << ", but is to be launched with "
           << wanted;
  kernel->setAttr(name, wanted);
  return success();
}

static bool isMeant(gpu::GPUFuncOp kernel, const CompileOptions &options) {
  return options.kernel.empty() || isCalled(kernel.getName(), options.kernel);
}

LogicalResult fixLaunchSizes(ModuleOp program, const CompileOptions &options) {
  for (auto kernels : program.getOps<gpu::GPUModuleOp>())
    for (auto kernel : kernels.getOps<gpu::GPUFuncOp>()) {
      if (!kernel.isKernel() || !isMeant(kernel, options))
        continue;
      if (failed(fix(kernel, options.block, kernel.getKnownBlockSizeAttrName(),
                     "blocks")) ||
          failed(fix(kernel, options.grid, kernel.getKnownGridSizeAttrName(),
                     "a grid")))
        return failure();
    }
  return success();
}

LogicalResult keepOneKernel(ModuleOp program, const CompileOptions &options) {
  SmallVector<gpu::GPUFuncOp> others;
  bool isThere = false;
  for (auto kernels : program.getOps<gpu::GPUModuleOp>())
    for (auto kernel : kernels.getOps<gpu::GPUFuncOp>())
      if (isMeant(kernel, options))
        isThere = true;
      else
        others.push_back(kernel);
  if (!isThere) {
    Location loc = others.empty() ? program.getLoc() : others.front().getLoc();
    InFlightDiagnostic error = emitError(loc)
                               << "there is no kernel '" << options.kernel
                               << "'; there are ";
    llvm::interleaveComma(others, error, [&](gpu::GPUFuncOp kernel) {
      error << getReadableName(kernel.getName());
    });
    return error;
  }
  for (gpu::GPUFuncOp kernel : others)
    kernel.erase();
  return success();
}

} // namespace mlir::workgroup
