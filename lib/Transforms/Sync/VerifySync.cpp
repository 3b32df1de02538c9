//===- VerifySync.cpp - Prove that a kernel has no races ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass proves that a kernel has no races, or finds them. It asks for the
// hazards that no barrier covers, of threads of the block, of a warp, and of
// two blocks, and for barriers that not all threads reach. The gravest finding
// is the verdict. Nothing is changed: sizes that launches tell are put into a
// copy.
//
//===----------------------------------------------------------------------===//

#include "KernelSync.h"
#include "Support/Remarks.h"
#include "SyncHandover.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms/Launch.h"
#include "workgroup/Transforms/Sync.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_VERIFYSYNCPASS
#include "workgroup/Transforms/Sync.h.inc"

/// Says that control flow is more than the analysis understands.
static void addUnstructured(const SyncTree &tree, SyncFinding &finding) {
  finding.verdict = SyncVerdict::Maybe;
  finding.at = getSite(tree.getUnstructured());
  finding.message =
      "possible data race on memory that threads share: the branches between "
      "these blocks are no nest of loops with one way out and of branches that "
      "meet again, so that nothing is known of the order of accesses";
}

static void addFindings(KernelSync &kernel, const SyncTree &tree,
                        UniformityUnit unit, SyncFindings &findings) {
  findings.addDivergent(tree, unit);
  findings.addRaces(
      tree, kernel.findHazards(tree, unit, HazardUse::Verification), unit);
}

static std::vector<SyncFinding> verifyKernel(KernelSync &kernel) {
  SyncFindings findings(kernel);
  std::vector<SyncFinding> unknown;
  SyncTree block = kernel.makeTree(UniformityUnit::Block);
  if (block.getUnstructured()) {
    addUnstructured(block, unknown.emplace_back());
    return unknown;
  }
  addFindings(kernel, block, UniformityUnit::Block, findings);
  findings.addParts();
  if (kernel.hasWarps()) {
    SyncTree warp = kernel.makeTree(UniformityUnit::Warp);
    if (warp.getUnstructured())
      addUnstructured(warp, unknown.emplace_back());
    else
      addFindings(kernel, warp, UniformityUnit::Warp, findings);
    findings.addUneven(warp);
  } else {
    findings.addUnknownWarps();
  }
  findings.addProtocol();
  findings.addBlockRaces();
  std::vector<SyncFinding> found = findings.take();
  llvm::append_range(found, std::move(unknown));
  return found;
}

/// Says which accesses race, but harmlessly: they write the same value.
static void remarkSameValues(KernelSync &kernel) {
  if (!kernel.getScope()->getContext()->getRemarkEngine())
    return;
  for (auto [number, access] :
       llvm::enumerate(kernel.getAccesses().getAccesses())) {
    PairRelation sameTime;
    if (access.sameness == ThreadAccess::SameInWarp)
      sameTime.threads = PairRelation::OfOneWarp;
    if (access.sameness != ThreadAccess::NotSame &&
        kernel.getConflicts().canMeet(number, number, sameTime))
      recordRemark(RemarkId::VerifySync_SameValue, access.op)
          << "threads write the same value to the same bytes";
  }
}

/// True if `kernel`, which is safe, is known to be so only as all accesses are
/// in bounds.
static bool needsBounds(const KernelSync &kernel,
                        const SyncAnalyses &analyses) {
  if (!kernel.getAccesses().hasBounds())
    return false;
  KernelSync unbounded(kernel.getScope(), analyses, /*areInBounds=*/false);
  return !verifyKernel(unbounded).empty();
}

SyncReport reportSync(KernelSync &kernel, const SyncAnalyses &analyses,
                      bool tellsAssumptions) {
  SyncReport report;
  report.kernel = getScopeName(kernel.getScope()).str();
  report.location = kernel.getScope()->getLoc();
  report.findings = verifyKernel(kernel);
  for (const SyncFinding &finding : report.findings)
    report.verdict = std::max(report.verdict, finding.verdict);
  remarkSameValues(kernel);
  if (tellsAssumptions && report.verdict == SyncVerdict::Safe)
    report.assumesInBounds = needsBounds(kernel, analyses);
  return report;
}

/// Verifies a program of which all is known but where barriers stand.
static LogicalResult verifySync(KnownProgram &known, const SyncOptions &options,
                                std::vector<SyncReport> *reports) {
  bool hasFailed = false;
  SyncAnalyses &analyses = known.getAnalyses();
  analyses.entersCalls = true;
  for (const std::unique_ptr<KernelSync> &kernel : known.getKernels()) {
    SyncReport found = reportSync(*kernel, analyses, reports != nullptr);
    hasFailed |= failed(emitFindings(found.findings, options));
    if (reports)
      reports->push_back(std::move(found));
  }
  return success(!hasFailed);
}

LogicalResult verifySync(Operation *root, const SyncOptions &options,
                         std::vector<SyncReport> *reports,
                         SyncHandover *handover) {
  if (handover)
    if (std::unique_ptr<KnownProgram> known = handover->take(root, options))
      return verifySync(*known, options, reports);
  // Kernels are told what launches say, in a copy.
  bool hasLaunches =
      root->walk([](gpu::LaunchFuncOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  InlinedProgram program(root, /*isCopied=*/hasLaunches);
  if (hasLaunches)
    inferLaunchSizes(program.getRoot());
  SmallVector<Operation *> scopes = program.inlineAll();
  SyncAnalyses analyses(program, options);
  analyses.entersCalls = true;
  bool hasFailed = false;
  for (Operation *scope : scopes) {
    KernelSync kernel(scope, analyses);
    SyncReport found = reportSync(kernel, analyses, reports != nullptr);
    hasFailed |= failed(emitFindings(found.findings, options));
    if (reports)
      reports->push_back(std::move(found));
  }
  return success(!hasFailed);
}

std::shared_ptr<SyncHandover> makeSyncHandover() {
  return std::make_shared<SyncHandover>();
}

namespace {
struct VerifySyncPass final : impl::VerifySyncPassBase<VerifySyncPass> {
  using VerifySyncPassBase::VerifySyncPassBase;

  void runOnOperation() override {
    if (failed(verifySync(getOperation(), {assumeDistinctArguments, strict},
                          /*reports=*/nullptr, handover.get())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  std::shared_ptr<SyncHandover> handover;
};
} // namespace

std::unique_ptr<Pass>
createVerifySyncPass(const SyncOptions &options,
                     std::shared_ptr<SyncHandover> handover) {
  auto pass = std::make_unique<VerifySyncPass>(
      VerifySyncPassOptions{options.assumeDistinctArguments, options.isStrict});
  pass->handover = std::move(handover);
  return pass;
}

} // namespace mlir::workgroup
