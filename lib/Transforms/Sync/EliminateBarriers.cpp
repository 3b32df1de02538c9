//===- EliminateBarriers.cpp - Remove barriers that order nothing ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass keeps a subset of the barriers that are there. Hazards are found as
// for insertion, and the placement then chooses among the existing barriers
// only, fewest in the deepest loops. Barriers that may order in ways that are
// not followed, or whose result is used, are fixed. A barrier of the block that
// is needed within warps only becomes one of warps.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Refinement/HazardCoverage.h"
#include "KernelSync.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms/Launch.h"
#include "workgroup/Transforms/Sync.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_ELIMINATEBARRIERSPASS
#include "workgroup/Transforms/Sync.h.inc"

namespace {

/// Takes barriers out of one kernel.
class BarrierEliminator {
public:
  BarrierEliminator(KernelSync &kernel, InlinedProgram &program)
      : kernel(kernel), program(program),
        rewriter(kernel.getScope()->getContext()) {}

  void eliminate();

private:
  /// What stays: barriers as they are, and those that do as barriers of a warp.
  struct Needed {
    DenseSet<Operation *> asTheyAre, asOfWarps;
  };
  Needed choose(const SyncTree &block, ArrayRef<Hazard> hazards,
                const SyncTree &warp);
  SyncProgram fix(const SyncTree &tree, ArrayRef<Hazard> hazards,
                  DenseSet<Operation *> &fixed);

  KernelSync &kernel;
  /// What the kernel is part of.
  InlinedProgram &program;
  IRRewriter rewriter;
};

} // namespace

static void addBarriers(DenseSet<Operation *> &barriers, const SyncTree &tree,
                        ArrayRef<SyncPoint> points) {
  for (SyncPoint point : points) {
    const SyncSequence &sequence = tree.getProgram().sequences[point.sequence];
    barriers.insert(tree.getBarrier(sequence.items[point.index - 1]));
  }
}

/// The program of `tree`, in which barriers stay that are `fixed`; to those
/// what may order some of `hazards` on some paths is added, and what has a
/// result that is used.
SyncProgram BarrierEliminator::fix(const SyncTree &tree,
                                   ArrayRef<Hazard> hazards,
                                   DenseSet<Operation *> &fixed) {
  for (unsigned node : findConditional(hazards, tree, kernel.getConflicts()))
    fixed.insert(tree.getBarrier(node));
  SyncProgram program = tree.getProgram();
  for (unsigned node : tree.getBarriers()) {
    Operation *barrier = tree.getBarrier(node);
    if (!barrier->use_empty()) // it also sums up what threads bring
      fixed.insert(barrier);
    program.nodes[node].isFixed |= fixed.contains(barrier);
  }
  return program;
}

BarrierEliminator::Needed BarrierEliminator::choose(const SyncTree &block,
                                                    ArrayRef<Hazard> hazards,
                                                    const SyncTree &warp) {
  Needed needed;
  SyncProgram program = fix(block, hazards, needed.asTheyAre);
  SmallVector<SyncHazard> orders = getOrdered(hazards, block);
  if (!kernel.hasWarps()) {
    addBarriers(needed.asTheyAre, block,
                chooseBarriers(program, orders).points);
    return needed;
  }
  std::vector<Hazard> hazardsOfWarps =
      kernel.findHazards(warp, UniformityUnit::Warp, HazardUse::Elimination);
  DenseSet<Operation *> fixed = needed.asTheyAre;
  SyncProgram programOfWarps = fix(warp, hazardsOfWarps, fixed);
  SmallVector<SyncHazard> ordersOfWarps = getOrdered(hazardsOfWarps, warp);
  // Right behind a barrier, here and there.
  DenseMap<Operation *, SyncPoint> pointsOfWarps;
  for (unsigned number : warp.getBarriers()) {
    const SyncNode &node = programOfWarps.nodes[number];
    pointsOfWarps[warp.getBarrier(number)] = {node.sequence, node.index + 1};
  }
  auto getPoint = [&](SyncPoint point) -> std::optional<SyncPoint> {
    ArrayRef<unsigned> items = program.sequences[point.sequence].items;
    Operation *barrier =
        point.index == 0 ? nullptr : block.getBarrier(items[point.index - 1]);
    auto it = pointsOfWarps.find(barrier);
    return it == pointsOfWarps.end() ? std::nullopt : std::optional(it->second);
  };
  SyncPlacement placement = chooseBarriers(
      program, orders, {programOfWarps, ordersOfWarps, getPoint});
  addBarriers(needed.asTheyAre, block, placement.points);
  addBarriers(needed.asOfWarps, warp, placement.ofWarps);
  needed.asOfWarps.insert_range(fixed);
  return needed;
}

void BarrierEliminator::eliminate() {
  SyncTree block = kernel.makeTree(UniformityUnit::Block);
  SyncTree warp = kernel.makeTree(UniformityUnit::Warp);
  if (block.getUnstructured() || !block.getDivergentBarriers().empty())
    return;
  std::vector<Hazard> hazards =
      kernel.findHazards(block, UniformityUnit::Block, HazardUse::Elimination);
  // What threads wait for in other ways orders something together with a
  // barrier, and it is not known what.
  bool areWarpsFollowed = !kernel.hasWarps() ||
                          (!warp.getUnstructured() && !warp.hasOpenBarriers() &&
                           warp.getDivergentBarriers().empty());
  bool isUntimed = llvm::any_of(
      hazards, [](const Hazard &hazard) { return hazard.isUntimed; });
  if (kernel.hasOtherWaits() || !areWarpsFollowed || isUntimed) {
    if (!block.getBarriers().empty())
      recordRemark(RemarkId::EliminateBarriers_KeptBarriers,
                   block.getBarrier(block.getBarriers().front()))
          << "barriers kept: the kernel waits in ways that are not followed";
    return;
  }
  Needed needed = choose(block, hazards, warp);
  SmallVector<Operation *> others;
  kernel.getScope()->walk([&](Operation *op) {
    bool isBarrier =
        isBlockBarrier(op) || (kernel.hasWarps() && isWarpBarrier(op));
    // A barrier with a reduction is there for its result as well.
    if (isBarrier && op->getNumResults() == 0 &&
        !needed.asTheyAre.contains(op) && !program.getStartOfCall(op))
      others.push_back(op);
  });
  for (Operation *copy : others) {
    bool isOfWarp = needed.asOfWarps.contains(copy);
    if (isOfWarp && isWarpBarrier(copy))
      continue;
    Operation *barrier = program.getOriginal(copy);
    recordRemark(isOfWarp ? RemarkId::EliminateBarriers_WeakenedBarrier
                          : RemarkId::EliminateBarriers_RemovedBarrier,
                 barrier)
        << (isOfWarp ? "barrier made one of each warp: it orders nothing "
                       "between warps that is not ordered without it"
                     : "barrier removed: all that it orders is ordered without "
                       "it");
    if (isOfWarp)
      createBarrier(rewriter, UniformityUnit::Warp, /*part=*/nullptr, barrier);
    rewriter.eraseOp(barrier);
  }
}

void eliminateBarriers(Operation *root, const SyncOptions &options) {
  inferLaunchSizes(root);
  InlinedProgram program(root);
  // What a function is called between is known in kernels only.
  SmallVector<Operation *> kernels =
      llvm::filter_to_vector(collectDeviceScopes(program.getRoot()),
                             [](Operation *scope) { return isKernel(scope); });
  for (Operation *kernel : kernels)
    program.inlineInto(kernel);
  SyncAnalyses analyses(program, options);
  for (Operation *scope : kernels) {
    KernelSync kernel(scope, analyses);
    BarrierEliminator(kernel, program).eliminate();
  }
}

namespace {
struct EliminateBarriersPass final
    : impl::EliminateBarriersPassBase<EliminateBarriersPass> {
  using EliminateBarriersPassBase::EliminateBarriersPassBase;

  void runOnOperation() override {
    eliminateBarriers(getOperation(), {assumeDistinctArguments});
  }
};
} // namespace

} // namespace mlir::workgroup
