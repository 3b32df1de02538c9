//===- CarriedSchedule.cpp - Schedules that programs carry ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CarriedSchedule.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/ParallelLoopMapper.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::workgroup {

static transform::NamedSequenceOp findEntry(ModuleOp module) {
  transform::NamedSequenceOp entry;
  module.walk<WalkOrder::PreOrder>([&](transform::NamedSequenceOp sequence) {
    if (sequence.getSymName() !=
        transform::TransformDialect::kTransformEntryPointSymbolName)
      return WalkResult::skip();
    entry = sequence;
    return WalkResult::interrupt();
  });
  return entry;
}

bool hasSchedule(ModuleOp module) {
  return static_cast<bool>(findEntry(module));
}

/// Says what is wrong with a tiling that makes more or fewer loops than it
/// maps: nobody verifies them before upstream looks up the processors of each.
static LogicalResult checkMappings(ModuleOp schedule) {
  auto check = [](transform::TileUsingForallOp op) {
    std::optional<ArrayAttr> mapping = op.getMapping();
    SmallVector<OpFoldResult> sizes = op.getMixedNumThreads();
    if (sizes.empty())
      sizes = op.getMixedTileSizes();
    bool isKnown = !op.getPackedNumThreads() && !op.getPackedTileSizes() &&
                   llvm::all_of(sizes, llvm::IsaPred<Attribute>);
    size_t numLoops = llvm::count_if(
        sizes, [](OpFoldResult size) { return !isZeroInteger(size); });
    if (!mapping || !isKnown || numLoops == mapping->size())
      return WalkResult::advance();
    op.emitOpError("maps ") << mapping->size() << " of the " << numLoops
                            << " loops that it makes; list one processor for "
                               "each size that is not 0";
    return WalkResult::interrupt();
  };
  return failure(schedule.walk(check).wasInterrupted());
}

LogicalResult applySchedule(ModuleOp module, ModuleOp schedule) {
  if (failed(checkMappings(schedule)))
    return failure();
  transform::NamedSequenceOp entry = findEntry(schedule);
  if (!entry)
    return emitError(schedule.getLoc())
           << "schedule has no transform.named_sequence '@"
           << transform::TransformDialect::kTransformEntryPointSymbolName
           << "' to apply";
  return transform::applyTransformNamedSequence(module, entry,
                                                /*transformModule=*/ModuleOp(),
                                                transform::TransformOptions());
}

bool hasKernels(ModuleOp module) {
  auto isMapped = [](Operation *op) {
    if (auto forall = dyn_cast<scf::ForallOp>(op))
      return forall.getMapping().has_value();
    return isa<scf::ParallelOp>(op) && op->hasAttr(gpu::getMappingAttrName());
  };
  return module
      .walk([&](Operation *op) {
        bool isKernel =
            isa<gpu::GPUModuleOp, gpu::LaunchOp, gpu::LaunchFuncOp>(op);
        return isKernel || isMapped(op) ? WalkResult::interrupt()
                                        : WalkResult::advance();
      })
      .wasInterrupted();
}

void eraseSchedules(ModuleOp module) {
  StringRef marker = transform::TransformDialect::kWithNamedSequenceAttrName;
  module->removeAttr(marker);
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<transform::NamedSequenceOp>(op) ||
        (isa<ModuleOp>(op) && op.hasAttr(marker)))
      op.erase();
}

} // namespace mlir::workgroup
