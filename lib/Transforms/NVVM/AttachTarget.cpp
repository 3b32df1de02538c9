//===- AttachTarget.cpp - Attach the NVVM target --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each `gpu.module` gets an `#nvvm.target` of the chip that it is compiled for:
// the one that it names itself, or that of the option. The PTX version is that
// of the chip, or a newer one if an operation of the module needs it.
//
//===----------------------------------------------------------------------===//

#include "Target/OperationNeeds.h"
#include "workgroup/Transforms/NVVM.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_ATTACHTARGETPASS
#include "workgroup/Transforms/NVVM.h.inc"

static LogicalResult attachTarget(gpu::GPUModuleOp module, StringRef chipName) {
  const Chip *chip = resolveChip(module, chipName);
  if (!chip)
    return failure();
  if (getTarget(module))
    return success();
  MLIRContext *context = module.getContext();
  unsigned version =
      std::max(chip->ptxVersion, getNeededPTXVersion(module, *chip));
  auto features = StringAttr::get(context, "+ptx" + Twine(version));
  auto target = NVVM::NVVMTargetAttr::get(
      context, /*optLevel=*/3, "nvptx64-nvidia-cuda", chip->name, features);
  SmallVector<Attribute> targets;
  if (ArrayAttr others = module.getTargetsAttr())
    llvm::append_range(targets, others);
  targets.push_back(target);
  module.setTargetsAttr(ArrayAttr::get(context, targets));
  return success();
}

LogicalResult attachTarget(ModuleOp module, StringRef chip) {
  if (!chip.empty() && !findChip(chip))
    return emitError(module.getLoc())
           << "unknown chip '" << chip << "'; supported are " << listChips();
  WalkResult result = module.walk([&](gpu::GPUModuleOp kernels) {
    LogicalResult attached =
        kernels->getParentOp() == module
            ? attachTarget(kernels, chip)
            : kernels.emitOpError("stands in a nested module, which is not "
                                  "compiled; move it to "
                                  "the outermost one");
    return failed(attached) ? WalkResult::interrupt() : WalkResult::skip();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct AttachTargetPass final : impl::AttachTargetPassBase<AttachTargetPass> {
  using AttachTargetPassBase::AttachTargetPassBase;

  void runOnOperation() override {
    if (failed(attachTarget(getOperation(), chip)))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
