//===- InsertBarriers.cpp - Order accesses by the fewest barriers ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSync.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/Remarks.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_ELIMINATEBARRIERSPASS
#define GEN_PASS_DEF_INSERTBARRIERSPASS
#include "workgroup/Passes.h.inc"

namespace {

/// Puts barriers into one kernel, or takes them out.
class BarrierEditor {
public:
  BarrierEditor(KernelSync &kernel, bool isStrict)
      : kernel(kernel), rewriter(kernel.getScope()->getContext()),
        isStrict(isStrict) {}

  LogicalResult insert();
  void eliminate();

private:
  LogicalResult insert(UniformityUnit unit);
  Operation *makeBarrier(UniformityUnit unit, Operation *before, Location loc);
  void explain(Operation *barrier, const SyncTree &tree, SyncGap gap,
               ArrayRef<Hazard> hazards, const SyncPlacement &placement);
  void eliminate(UniformityUnit unit);

  KernelSync &kernel;
  IRRewriter rewriter;
  bool isStrict;
};

} // namespace

//===----------------------------------------------------------------------===//
// Insertion
//===----------------------------------------------------------------------===//

Operation *BarrierEditor::makeBarrier(UniformityUnit unit, Operation *before,
                                      Location loc) {
  rewriter.setInsertionPoint(before);
  if (unit == UniformityUnit::Block)
    return gpu::BarrierOp::create(rewriter, loc);
  Value mask = arith::ConstantOp::create(rewriter, loc,
                                         rewriter.getI32IntegerAttr(-1));
  return NVVM::SyncWarpOp::create(rewriter, loc, mask);
}

/// Says which accesses a barrier orders, and how many are needed at least.
void BarrierEditor::explain(Operation *barrier, const SyncTree &tree,
                            SyncGap gap, ArrayRef<Hazard> hazards,
                            const SyncPlacement &placement) {
  std::string pairs;
  llvm::raw_string_ostream os(pairs);
  SmallVector<SyncGap> others;
  llvm::copy_if(placement.gaps, std::back_inserter(others),
                [&](SyncGap other) { return !(other == gap); });
  unsigned count = 0;
  for (const Hazard &hazard : hazards) {
    // What this barrier alone would do.
    if (!isCut(tree.getProgram(), hazard.order, gap) ||
        isCut(tree.getProgram(), hazard.order, {}))
      continue;
    constexpr unsigned kMaxPairs = 4;
    if (++count > kMaxPairs)
      continue;
    const ThreadAccess &first = kernel.getAccess(hazard.first);
    const ThreadAccess &second = kernel.getAccess(hazard.second);
    os << (count > 1 ? ", " : "") << first.op->getName() << " before "
       << second.op->getName();
    if (hazard.order.loop)
      os << " of a later turn";
    if (const auto &witness = hazard.conflict.witness)
      os << " (thread " << witness->threads[0][0] << ","
         << witness->threads[0][1] << "," << witness->threads[0][2]
         << " and thread " << witness->threads[1][0] << ","
         << witness->threads[1][1] << "," << witness->threads[1][2] << ")";
    else if (!hazard.conflict.reason.empty())
      os << " (possibly: " << hazard.conflict.reason << ")";
  }
  passedRemark(RemarkSource::InsertBarriers, "InsertedBarrier", barrier)
      << "barrier orders accesses" << remark::metric("Pairs", pairs)
      << remark::metric("Hazards", count)
      << remark::metric("Barriers", placement.gaps.size())
      << remark::metric("Needed", placement.certificate.size())
      << remark::metric("Optimal", placement.isOptimal);
}

LogicalResult BarrierEditor::insert(UniformityUnit unit) {
  SyncTree tree = kernel.makeTree(unit);
  if (Operation *op = tree.getUnstructured())
    return emitError(op->getLoc(),
                     "cannot synchronize accesses around branches that are no "
                     "nest of loops with one way out and of branches that meet "
                     "again; structure them, for example by "
                     "--lift-cf-to-scf");
  SyncFindings findings(kernel);
  findings.addDivergent(tree);
  std::vector<SyncFinding> divergent = findings.take();
  if (!divergent.empty())
    return emitFindings(divergent, isStrict);

  std::vector<Hazard> hazards = kernel.findHazards(tree, unit);
  SyncPlacement placement =
      placeBarriers(tree.getProgram(), getOrders(hazards));
  std::vector<Hazard> uncut;
  for (unsigned number : placement.uncut)
    uncut.push_back(hazards[number]);
  findings.addRaces(tree, uncut, unit);
  if (failed(emitFindings(findings.take(), isStrict)))
    return failure();
  SmallVector<Operation *> points;
  for (SyncGap gap : placement.gaps) {
    points.push_back(tree.getInsertionPoint(gap));
    if (!points.back())
      return emitError(kernel.getScope()->getLoc(),
                       "cannot synchronize accesses where blocks are joined by "
                       "an edge that a barrier would have to stand on; split "
                       "it, or use structured control flow");
  }
  for (auto [gap, point] : llvm::zip_equal(placement.gaps, points))
    explain(makeBarrier(unit, point, point->getLoc()), tree, gap, hazards,
            placement);
  return success();
}

LogicalResult BarrierEditor::insert() {
  if (failed(insert(UniformityUnit::Block)))
    return failure();
  return kernel.hasWarps() ? insert(UniformityUnit::Warp) : success();
}

//===----------------------------------------------------------------------===//
// Removal
//===----------------------------------------------------------------------===//

/// The barriers, among those of `tree`, that are to stay: the fewest that cut
/// what all of them cut.
static DenseSet<unsigned> chooseBarriers(const SyncTree &tree,
                                         ArrayRef<SyncHazard> orders,
                                         ArrayRef<unsigned> barriers) {
  const SyncProgram &program = tree.getProgram();
  SmallVector<SyncHazard> cut;
  llvm::copy_if(orders, std::back_inserter(cut), [&](const SyncHazard &order) {
    return isCut(program, order, {});
  });
  DenseSet<unsigned> kept;
  SyncPlacement placement =
      placeBarriers(program, cut, /*replaceExisting=*/true);
  bool isAmongThem = llvm::all_of(placement.gaps, [&](SyncGap gap) {
    return tree.getBarrierBefore(gap) != nullptr;
  });
  if (isAmongThem) {
    for (SyncGap gap : placement.gaps)
      kept.insert(program.sequences[gap.sequence].items[gap.index - 1]);
    return kept;
  }
  // The best places are others. One by one, deepest first, what is not needed.
  SyncProgram rest = program;
  SmallVector<unsigned> order(barriers);
  llvm::stable_sort(order, [&](unsigned lhs, unsigned rhs) {
    return tree.getLoopsAround(lhs).size() > tree.getLoopsAround(rhs).size();
  });
  for (unsigned barrier : order) {
    rest.nodes[barrier].kind = SyncNode::Step;
    bool isEnough = llvm::all_of(cut, [&](const SyncHazard &hazard) {
      return isCut(rest, hazard, {});
    });
    if (isEnough)
      continue;
    rest.nodes[barrier].kind = SyncNode::Barrier;
    kept.insert(barrier);
  }
  return kept;
}

void BarrierEditor::eliminate(UniformityUnit unit) {
  SyncTree tree = kernel.makeTree(unit);
  if (tree.getUnstructured() || !tree.getDivergentBarriers().empty())
    return;
  const SyncProgram &program = tree.getProgram();
  SmallVector<unsigned> barriers;
  for (unsigned node = 0; node < program.nodes.size(); ++node)
    if (Operation *barrier = tree.getBarrier(node))
      if (unit == UniformityUnit::Block || isWarpBarrier(barrier))
        barriers.push_back(node);
  if (barriers.empty())
    return;
  std::vector<Hazard> hazards = kernel.findHazards(tree, unit);
  // A barrier of the block orders warps too.
  SmallVector<SyncHazard> orders = getOrders(hazards);
  DenseSet<unsigned> kept = chooseBarriers(tree, orders, barriers);
  for (unsigned node : barriers) {
    if (kept.contains(node))
      continue;
    Operation *barrier = tree.getBarrier(node);
    passedRemark(RemarkSource::EliminateBarriers, "RemovedBarrier", barrier)
        << "barrier removed: all that it orders is ordered without it";
    rewriter.eraseOp(barrier);
  }
}

void BarrierEditor::eliminate() {
  eliminate(UniformityUnit::Block);
  if (kernel.hasWarps())
    eliminate(UniformityUnit::Warp);
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

LogicalResult insertBarriers(Operation *root, const SyncOptions &options) {
  SyncAnalyses analyses(root, options);
  for (Operation *scope : collectDeviceScopes(root)) {
    KernelSync kernel(scope, analyses);
    if (failed(BarrierEditor(kernel, options.isStrict).insert()))
      return failure();
  }
  return success();
}

void eliminateBarriers(Operation *root, const SyncOptions &options) {
  SyncAnalyses analyses(root, options);
  for (Operation *scope : collectDeviceScopes(root)) {
    // What a function is called between is not known here.
    if (!isKernel(scope))
      continue;
    KernelSync kernel(scope, analyses);
    BarrierEditor(kernel, options.isStrict).eliminate();
  }
}

namespace {

struct InsertBarriersPass final
    : impl::InsertBarriersPassBase<InsertBarriersPass> {
  using InsertBarriersPassBase::InsertBarriersPassBase;

  void runOnOperation() override {
    if (failed(insertBarriers(getOperation(),
                              {assumeDistinctArguments, strict})))
      signalPassFailure();
  }
};

struct EliminateBarriersPass final
    : impl::EliminateBarriersPassBase<EliminateBarriersPass> {
  using EliminateBarriersPassBase::EliminateBarriersPassBase;

  void runOnOperation() override {
    eliminateBarriers(getOperation(), {assumeDistinctArguments, false});
  }
};

} // namespace

} // namespace mlir::workgroup
