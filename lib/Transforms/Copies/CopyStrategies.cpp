//===- CopyStrategies.cpp - By what copies are done -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyStrategies.h"
#include "Analysis/Program/OpEffects.h"
#include "MemoryAccesses.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/Chip.h"

namespace mlir::workgroup {

/// The loops in which asynchronous copies are under way from iteration to
/// iteration: those of rings, and of whoever else leaves groups pending.
static DenseSet<Operation *> collectPipelinedLoops(Operation *root) {
  DenseSet<Operation *> loops;
  root->walk([&](Operation *op) {
    std::optional<AsyncGroup> wait = getAsyncGroup(op);
    if (wait && !wait->isCommit && wait->engine == AsyncGroup::Copies &&
        (wait->numPending > 0 || isa<NVVM::CpAsyncWaitGroupOp>(op)))
      loops.insert(op->getParentOp());
  });
  return loops;
}

/// Lets those of `copies` that stand in one of `loops` be no cp.async: groups
/// are waited for in the order in which they were committed, so that to wait
/// for the copy would be to wait for all that is under way.
static void spareRings(MutableArrayRef<Copy> copies,
                       const DenseSet<Operation *> &loops) {
  for (Copy &copy : copies) {
    Operation *around = copy.mayBeAsync ? copy.op->getParentOp() : nullptr;
    while (around && !(isa<scf::ForOp>(around) && loops.contains(around)))
      around = around->getParentOp();
    if (!around)
      continue;
    copy.mayBeAsync = false;
    recordRemark(RemarkId::LowerCopies_NotAsync, copy.op)
        << remark::reason("cp.async not used: to wait for it would be to wait "
                          "for the copies that run ahead in {0}",
                          nameInRemark(around));
  }
}

/// Decides what `copy`, from global to workgroup memory, may be done by.
static void decideEngine(Copy &copy, const Chip &chip, CopyStrategy strategy) {
  auto miss = [&](RemarkId id, const Twine &why) {
    recordRemark(id, copy.op) << remark::reason("{0}", why.str());
  };
  bool isWanted =
      strategy == CopyStrategy::TMA || strategy == CopyStrategy::Auto;
  copy.mayBeTensor = isWanted && chip.hasTensorCopies() && !copy.gather;
  if (strategy == CopyStrategy::TMA && copy.gather)
    miss(RemarkId::LowerCopies_NotTMA,
         "TMA not used: elements are gathered by a map");
  else if (strategy == CopyStrategy::TMA && !copy.mayBeTensor)
    miss(RemarkId::LowerCopies_NotTMA,
         "TMA not used: " + chip.name + " does not have it");
  if (!copy.isCooperative)
    return;
  copy.mayBeAsync = chip.hasAsyncCopies() && !copy.payload;
  if (copy.mayBeAsync || strategy == CopyStrategy::Auto)
    return;
  if (copy.payload)
    miss(RemarkId::LowerCopies_NotAsync,
         "cp.async not used: elements are converted");
  else
    miss(RemarkId::LowerCopies_NotAsync,
         "cp.async not used: " + chip.name + " does not have it");
}

LogicalResult decideStrategy(MutableArrayRef<Copy> copies, Operation *root,
                             const LowerCopiesOptions &options) {
  if (options.strategy == CopyStrategy::Sync)
    return success();
  DenseMap<Operation *, const Chip *> chips;
  for (Copy &copy : copies) {
    // One thread can ask for a tile itself; several have to agree on it.
    Operation *scope = getExecutionScope(copy.op);
    bool isCandidate =
        (copy.isCooperative || getBlockShape(scope).isSingleThread()) &&
        !copy.filling && getMemorySpace(copy.source) == MemorySpace::Global &&
        getMemorySpace(copy.target) == MemorySpace::Workgroup;
    if (!isCandidate)
      continue;
    const Chip *&chip = chips[scope];
    if (!chip)
      chip = resolveChip(scope, options.chip);
    if (!chip)
      return failure();
    decideEngine(copy, *chip, options.strategy);
  }
  spareRings(copies, collectPipelinedLoops(root));
  return success();
}

} // namespace mlir::workgroup
