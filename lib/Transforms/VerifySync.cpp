//===- VerifySync.cpp - Prove that a kernel has no races ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSync.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_VERIFYSYNCPASS
#include "workgroup/Passes.h.inc"

/// Says that control flow is more than the analysis understands.
static void addUnstructured(const SyncTree &tree, SyncFinding &finding) {
  finding.verdict = SyncVerdict::Maybe;
  finding.op = tree.getUnstructured();
  finding.message =
      "possible data race on memory that threads share: the branches between "
      "these blocks are no nest of loops with one way out and of branches that "
      "meet again, so that nothing is known of the order of accesses";
}

static std::vector<SyncFinding> verifyKernel(KernelSync &kernel) {
  SyncFindings findings(kernel);
  if (kernel.getAccesses().getAccesses().empty() &&
      isa<gpu::LaunchOp>(kernel.getScope()) == false &&
      getBlockShape(kernel.getScope()).isSingleThread())
    return {};
  SyncTree block = kernel.makeTree(UniformityUnit::Block);
  if (block.getUnstructured()) {
    std::vector<SyncFinding> result(1);
    addUnstructured(block, result.front());
    return result;
  }
  findings.addDivergent(block);
  findings.addRaces(block, kernel.findHazards(block, UniformityUnit::Block),
                    UniformityUnit::Block);
  if (kernel.hasWarps()) {
    SyncTree warp = kernel.makeTree(UniformityUnit::Warp);
    if (!warp.getUnstructured())
      findings.addRaces(warp, kernel.findHazards(warp, UniformityUnit::Warp),
                        UniformityUnit::Warp);
  }
  return findings.take();
}

LogicalResult verifySync(Operation *root, const SyncOptions &options,
                         std::vector<SyncReport> *reports) {
  SyncAnalyses analyses(root, options);
  bool hasFailed = false;
  for (Operation *scope : collectDeviceScopes(root)) {
    KernelSync kernel(scope, analyses);
    SyncReport report;
    report.kernel = getScopeName(scope).str();
    report.scope = scope;
    report.findings = verifyKernel(kernel);
    for (const SyncFinding &finding : report.findings)
      report.verdict = std::max(report.verdict, finding.verdict);
    if (!reports) {
      hasFailed |= failed(emitFindings(report.findings, options.isStrict));
      continue;
    }
    hasFailed |= report.verdict > SyncVerdict::Maybe;
    reports->push_back(std::move(report));
  }
  return success(!hasFailed);
}

namespace {
struct VerifySyncPass final : impl::VerifySyncPassBase<VerifySyncPass> {
  using VerifySyncPassBase::VerifySyncPassBase;

  void runOnOperation() override {
    if (failed(verifySync(getOperation(), {assumeDistinctArguments, strict})))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace mlir::workgroup
