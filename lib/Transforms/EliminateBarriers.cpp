//===- EliminateBarriers.cpp - Remove barriers that order nothing ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSync.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/Remarks.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_ELIMINATEBARRIERSPASS
#include "workgroup/Passes.h.inc"

namespace {

/// Takes barriers out of one kernel.
class BarrierEliminator {
public:
  BarrierEliminator(KernelSync &kernel, InlinedProgram &program)
      : kernel(kernel), program(program),
        rewriter(kernel.getScope()->getContext()) {}

  void eliminate();

private:
  DenseSet<Operation *> chooseForBlock(const SyncTree &tree,
                                       ArrayRef<Hazard> hazards);
  DenseSet<Operation *> chooseForWarps(const SyncTree &tree,
                                       const DenseSet<Operation *> &kept);

  KernelSync &kernel;
  /// What the kernel is part of.
  InlinedProgram &program;
  IRRewriter rewriter;
};

} // namespace

/// The nodes that are to stay: the fewest barriers of `program` that cut all of
/// `orders`, which they cut together.
static DenseSet<unsigned> getNeeded(const SyncProgram &program,
                                    ArrayRef<SyncHazard> orders) {
  DenseSet<unsigned> kept;
  for (SyncGap gap : chooseBarriers(program, orders).gaps)
    kept.insert(program.sequences[gap.sequence].items[gap.index - 1]);
  return kept;
}

/// The barriers of the block that are to stay, because of what warps do to each
/// other.
DenseSet<Operation *>
BarrierEliminator::chooseForBlock(const SyncTree &tree,
                                  ArrayRef<Hazard> hazards) {
  DenseSet<unsigned> nodes =
      findConditional(hazards, tree, kernel.getConflicts());
  nodes.insert_range(getNeeded(tree.getProgram(), getOrdered(hazards, tree)));
  DenseSet<Operation *> kept;
  for (unsigned node : nodes)
    kept.insert(tree.getBarrier(node));
  return kept;
}

/// The barriers that are to stay as barriers of a warp, where those of the
/// block in `kept` do not suffice.
DenseSet<Operation *>
BarrierEliminator::chooseForWarps(const SyncTree &tree,
                                  const DenseSet<Operation *> &kept) {
  std::vector<Hazard> hazards =
      kernel.findHazards(tree, UniformityUnit::Warp, /*isRefined=*/false);
  SmallVector<SyncHazard> orders = getOrdered(hazards, tree);
  SyncProgram fixed = tree.getProgram(), rest = tree.getProgram();
  SmallVector<unsigned> candidates;
  for (unsigned node : tree.getBarriers()) {
    bool isKept = kept.contains(tree.getBarrier(node)) ||
                  tree.getProgram().nodes[node].call ||
                  tree.getProgram().nodes[node].isFixed;
    (isKept ? rest : fixed).nodes[node].kind = SyncNode::Step;
    if (!isKept)
      candidates.push_back(node);
  }
  llvm::erase_if(
      orders, [&](const SyncHazard &order) { return isCut(fixed, order, {}); });
  // What only both kinds together cut, one of them in each arm of a branch,
  // keeps all that is there.
  DenseSet<Operation *> needed;
  bool isApart = llvm::all_of(
      orders, [&](const SyncHazard &order) { return isCut(rest, order, {}); });
  DenseSet<unsigned> chosen(candidates.begin(), candidates.end());
  if (isApart)
    chosen = getNeeded(rest, orders);
  chosen.insert_range(findConditional(hazards, tree, kernel.getConflicts()));
  for (unsigned node : chosen)
    needed.insert(tree.getBarrier(node));
  return needed;
}

void BarrierEliminator::eliminate() {
  SyncTree block = kernel.makeTree(UniformityUnit::Block);
  SyncTree warp = kernel.makeTree(UniformityUnit::Warp);
  if (block.getUnstructured() || !block.getDivergentBarriers().empty())
    return;
  std::vector<Hazard> hazards =
      kernel.findHazards(block, UniformityUnit::Block, /*isRefined=*/false);
  // What threads wait for in other ways orders something together with a
  // barrier, and it is not known what.
  bool areWarpsFollowed = !kernel.hasWarps() ||
                          (!warp.getUnstructured() && !warp.hasOpenBarriers() &&
                           warp.getDivergentBarriers().empty());
  bool isUntimed = llvm::any_of(
      hazards, [](const Hazard &hazard) { return hazard.isUntimed; });
  if (kernel.hasOtherWaits() || !areWarpsFollowed || isUntimed) {
    if (!block.getBarriers().empty())
      missedRemark(RemarkSource::EliminateBarriers, "KeptBarriers",
                   block.getBarrier(block.getBarriers().front()))
          << "barriers kept: the kernel waits in ways that are not followed";
    return;
  }
  DenseSet<Operation *> kept = chooseForBlock(block, hazards), ofWarps;
  if (kernel.hasWarps())
    ofWarps = chooseForWarps(warp, kept);
  SmallVector<Operation *> others;
  kernel.getScope()->walk([&](Operation *op) {
    if ((isBlockBarrier(op) || (kernel.hasWarps() && isWarpBarrier(op))) &&
        !kept.contains(op) && !program.getStartOfCall(op))
      others.push_back(op);
  });
  for (Operation *copy : others) {
    bool isOfWarp = ofWarps.contains(copy);
    if (isOfWarp && isWarpBarrier(copy))
      continue;
    Operation *barrier = program.getOriginal(copy);
    passedRemark(RemarkSource::EliminateBarriers,
                 isOfWarp ? "WeakenedBarrier" : "RemovedBarrier", barrier)
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
