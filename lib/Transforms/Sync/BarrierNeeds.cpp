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
// lowering of rings. What is known of the accesses does not depend on where
// barriers stand, and is found once.
//
//===----------------------------------------------------------------------===//

#include "SyncHandover.h"
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

/// Adds what is found without the barrier, and not in the kernel as it is.
static void addFindings(SyncReport &without, ArrayRef<SyncReport> present,
                        BarrierNeed &need) {
  for (SyncFinding &finding : without.findings) {
    if (isPresent(finding, present))
      continue;
    need.verdict = std::max(need.verdict, finding.verdict);
    need.findings.push_back(std::move(finding));
  }
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
  for (SyncReport &report : reports)
    addFindings(report, present, need);
}

namespace {

/// A copy of a program in which barriers can be left out.
class BarrierTrials {
public:
  BarrierTrials(ModuleOp module, const SyncOptions &options);

  std::vector<SyncReport> verify();
  BarrierNeed tryWithout(Operation *barrier, ArrayRef<SyncReport> present);

private:
  bool leaveOutHere(Operation *barrier, ArrayRef<SyncReport> present,
                    BarrierNeed &need);

  const SyncOptions options;
  ModuleOp module;
  IRMapping mapping;
  OwningOpRef<ModuleOp> copy;
  KnownProgram known;
  /// Those of the copy as it is; empty if calls were replaced.
  std::vector<std::unique_ptr<KernelSync>> kernels;
};

} // namespace

BarrierTrials::BarrierTrials(ModuleOp module, const SyncOptions &options)
    : options(options), module(module),
      copy(cast<ModuleOp>(module->clone(mapping))),
      known(copy.get(), options, /*isToBeKept=*/false) {
  inferLaunchSizes(*copy); // kernels are told what launches say
}

std::vector<SyncReport> BarrierTrials::verify() {
  std::vector<SyncReport> reports;
  if (known.getProgram().getRoot() != *copy) { // calls were replaced
    (void)verifySync(module, options, &reports);
    return reports;
  }
  SmallVector<Operation *> scopes = known.getProgram().inlineAll();
  SyncAnalyses &analyses = known.analyze();
  analyses.entersCalls = true;
  for (Operation *scope : scopes) {
    kernels.push_back(std::make_unique<KernelSync>(scope, analyses));
    known.add(*kernels.back());
    reports.push_back(
        reportSync(*kernels.back(), analyses, /*tellsAssumptions=*/true));
  }
  return reports;
}

/// Verifies the kernel of `barrier` without it. False if that takes a fresh
/// look at all of it.
bool BarrierTrials::leaveOutHere(Operation *barrier,
                                 ArrayRef<SyncReport> present,
                                 BarrierNeed &need) {
  auto kernel = llvm::find_if(kernels, [&](const auto &kernel) {
    return kernel->getScope()->isProperAncestor(barrier);
  });
  if (kernel == kernels.end())
    return false;
  const std::shared_ptr<KernelFacts> &facts = (*kernel)->getFacts();
  // Who gave up on some answers might not have had to on fewer questions.
  if (facts->conflicts.isExhausted())
    return false;
  Block *block = barrier->getBlock();
  Block::iterator next = std::next(barrier->getIterator());
  barrier->remove();
  facts->conflicts.renewEffort();
  KernelSync without((*kernel)->getScope(), known.getAnalyses(), facts);
  SyncReport report = reportSync(without, known.getAnalyses(),
                                 /*tellsAssumptions=*/false);
  block->getOperations().insert(next, barrier);
  if (facts->conflicts.isExhausted())
    return false;
  addFindings(report, present, need);
  return true;
}

BarrierNeed BarrierTrials::tryWithout(Operation *barrier,
                                      ArrayRef<SyncReport> present) {
  BarrierNeed need;
  need.barrier = barrier;
  need.isTried = true;
  Operation *copied = mapping.lookup(barrier);
  if (!leaveOutHere(copied, present, need))
    leaveOut(copied->getParentOfType<gpu::GPUModuleOp>(), copied, options,
             present, need);
  return need;
}

SyncExplanation explainSync(ModuleOp module, const SyncOptions &options,
                            unsigned maxTried) {
  BarrierTrials trials(module, options);
  SyncExplanation explanation;
  explanation.reports = trials.verify();
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    unsigned numTried = 0;
    kernels->walk([&](Operation *op) {
      if (!isBlockBarrier(op))
        return;
      bool isTried = op->use_empty() && numTried++ < maxTried;
      explanation.needs.push_back(
          isTried ? trials.tryWithout(op, explanation.reports)
                  : BarrierNeed{op});
    });
  }
  return explanation;
}

} // namespace mlir::workgroup
