//===- Schedule.cpp - Applying transform dialect schedules ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"

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

LogicalResult applySchedule(ModuleOp module, ModuleOp schedule) {
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

void eraseSchedules(ModuleOp module) {
  StringRef marker = transform::TransformDialect::kWithNamedSequenceAttrName;
  module->removeAttr(marker);
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<transform::NamedSequenceOp>(op) ||
        (isa<ModuleOp>(op) && op.hasAttr(marker)))
      op.erase();
}

OwningOpRef<ModuleOp> unwrapProgram(OwningOpRef<ModuleOp> module) {
  while (llvm::hasSingleElement(*module->getBody())) {
    auto inner = dyn_cast<ModuleOp>(module->getBody()->front());
    if (!inner)
      break;
    inner->remove();
    module = inner;
  }
  return module;
}

} // namespace mlir::workgroup
