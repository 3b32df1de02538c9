//===- ScheduleKernels.cpp - Kernels without a schedule from elsewhere ----===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `python -m pipeline compile` does by a schedule in text, for those who
// have `mlir-opt` alone: the same passes, with one choice for all extents and
// chips.
//
//===----------------------------------------------------------------------===//

#include "CarriedSchedule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "workgroup/Passes.h"
#include "workgroup/Pipelines.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_SCHEDULEKERNELSPASS
#include "workgroup/Transforms/Kernels.h.inc"

/// Everything from linalg to launches, by default sizes.
static void buildDefaultSchedule(OpPassManager &pm,
                                 const ScheduleKernelsOptions &options) {
  KernelPipelineOptions kernels;
  kernels.assumeDistinctArguments = options.assumeDistinctArguments;
  buildKernelPipeline(pm, kernels);
  TileKernelPassOptions tiles;
  tiles.defaultThreads = options.threads;
  pm.addNestedPass<func::FuncOp>(createTileKernelPass(std::move(tiles)));
  buildBufferizePipeline(pm);
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createMapLoopsPass());
  functions.addPass(createStageOperandsPass(
      {/*maxBytes=*/0, options.chip, options.assumeDistinctArguments}));
  functions.addPass(createPlaceBuffersPass());
  functions.addPass(
      createMapToThreadsPass({options.threads, options.assumeAlignment}));
  FormLaunchesPassOptions launches;
  launches.threads.push_back(options.threads);
  functions.addPass(createFormLaunchesPass(std::move(launches)));
  pm.addPass(createInlinerPass());
}

LogicalResult scheduleKernels(ModuleOp module,
                              const ScheduleKernelsOptions &options) {
  if (hasSchedule(module)) {
    // It may replace all of the module, and cannot be in it then.
    OwningOpRef<ModuleOp> schedule = module.clone();
    eraseSchedules(module);
    return applySchedule(module, *schedule);
  }
  if (hasKernels(module))
    return success();
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  buildDefaultSchedule(manager, options);
  return manager.run(module);
}

namespace {
struct ScheduleKernelsPass final
    : impl::ScheduleKernelsPassBase<ScheduleKernelsPass> {
  using ScheduleKernelsPassBase::ScheduleKernelsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<transform::TransformDialect>();
    OpPassManager manager(ModuleOp::getOperationName());
    buildDefaultSchedule(manager, {});
    manager.getDependentDialects(registry);
  }

  void runOnOperation() override {
    ScheduleKernelsOptions options;
    options.threads = threads;
    options.chip = chip;
    options.assumeAlignment = assumeAlignment;
    options.assumeDistinctArguments = assumeDistinctArguments;
    if (failed(scheduleKernels(getOperation(), options)))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
