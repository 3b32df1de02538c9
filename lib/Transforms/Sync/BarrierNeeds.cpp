//===- BarrierNeeds.cpp - What would be wrong without a barrier -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each barrier of a kernel is left out of a copy of it, which is verified: what
// is found there, and not in the kernel as it is, is what the barrier is for.
// That holds for barriers of any origin: of the program, of insertion, of the
// lowering of rings.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms/Launch.h"
#include "workgroup/Transforms/Sync.h"

namespace mlir::workgroup {

static bool isSame(const SyncFinding &lhs, const SyncFinding &rhs) {
  return lhs.verdict == rhs.verdict && lhs.message == rhs.message &&
         lhs.at.location == rhs.at.location && lhs.at.op == rhs.at.op;
}

static bool isPresent(const SyncFinding &finding,
                      ArrayRef<SyncReport> present) {
  return llvm::any_of(present, [&](const SyncReport &report) {
    return llvm::any_of(report.findings, [&](const SyncFinding &other) {
      return isSame(finding, other);
    });
  });
}

/// Verifies a copy of `kernels`, alone in a module, without `barrier`.
static void leaveOut(gpu::GPUModuleOp kernels, Operation *barrier,
                     const SyncOptions &options, ArrayRef<SyncReport> present,
                     BarrierNeed &need) {
  IRMapping mapping;
  OwningOpRef<ModuleOp> without = ModuleOp::create(kernels.getLoc());
  without->push_back(kernels->clone(mapping));
  mapping.lookup(barrier)->erase();
  std::vector<SyncReport> reports;
  (void)verifySync(*without, options, &reports);
  need.isTried = true;
  for (SyncReport &report : reports)
    for (SyncFinding &finding : report.findings) {
      if (isPresent(finding, present))
        continue;
      need.verdict = std::max(need.verdict, finding.verdict);
      need.findings.push_back(std::move(finding));
    }
}

std::vector<BarrierNeed> findBarrierNeeds(ModuleOp module,
                                          const SyncOptions &options,
                                          ArrayRef<SyncReport> present,
                                          unsigned maxTried) {
  // Kernels are told what launches say, in a copy.
  IRMapping mapping;
  OwningOpRef<ModuleOp> informed(cast<ModuleOp>(module->clone(mapping)));
  inferLaunchSizes(*informed);
  std::vector<BarrierNeed> needs;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    auto copy = cast<gpu::GPUModuleOp>(mapping.lookup(kernels.getOperation()));
    unsigned numTried = 0;
    kernels->walk([&](Operation *op) {
      if (!isBlockBarrier(op))
        return;
      BarrierNeed &need = needs.emplace_back();
      need.barrier = op;
      if (op->use_empty() && numTried++ < maxTried)
        leaveOut(copy, mapping.lookup(op), options, present, need);
    });
  }
  return needs;
}

} // namespace mlir::workgroup
