//===- AlignedFills.cpp - Fills shared out as their readers are -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AlignedFills.h"
#include "LoopSlices.h"
#include "Support/Remarks.h"
#include "Transforms/Utils/BufferViews.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

namespace {

/// A fill of a tile, and the loops in which a slice of it is used.
struct AlignedFill {
  linalg::FillOp fill;
  Value slice;
  LoopNest nest;
  /// What makes the slice in the loops, in order.
  SmallVector<Operation *> chain = {};
};

} // namespace

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// Adds what computes `value` in the nest to the chain. False if that is not
/// the same before the nest, but for the variables of its loops.
static bool addToChain(Value value, AlignedFill &aligned,
                       DominanceInfo &dominance) {
  Operation *outermost = aligned.nest.front().op;
  if (!outermost->isAncestor(value.getParentRegion()->getParentOp()))
    return dominance.properlyDominates(value, aligned.fill);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return llvm::any_of(aligned.nest, [&](const ParallelLoop &loop) {
      return loop.op == argument.getOwner()->getParentOp();
    });
  Operation *op = value.getDefiningOp();
  if (llvm::is_contained(aligned.chain, op))
    return true;
  if (op->getNumRegions() != 0 || !isPure(op))
    return false;
  for (Value operand : op->getOperands())
    if (!addToChain(operand, aligned, dominance))
      return false;
  aligned.chain.push_back(op);
  return true;
}

/// True if the loops are ones that can be made again where the fill is.
static bool canRepeat(const LoopNest &nest) {
  return !nest.empty() && llvm::all_of(nest, [](const ParallelLoop &loop) {
    auto forall = dyn_cast<scf::ForallOp>(loop.op);
    return forall && forall.getNumResults() == 0 &&
           llvm::all_of(loop.ranges, [](const LoopRange &range) {
             return getNumIterations(range).has_value();
           });
  });
}

/// True if the owner of `use` adds to what it uses, or copies it in loops of
/// threads: all lanes of a warp would fill what is in a loop of warps, unless
/// they share it out, as they do sums.
static bool isSumOrCopy(OpOperand &use, const LoopNest &nest) {
  if (isa<memref::CopyOp, linalg::CopyOp>(use.getOwner()))
    return llvm::any_of(nest, [](const ParallelLoop &loop) {
      return loop.goesTo(ProcessorLevel::Threads) ||
             loop.goesTo(ProcessorLevel::Lanes);
    });
  auto sum = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return sum && sum.hasPureBufferSemantics() && sum.isDpsInit(&use) &&
         sum.getNumReductionLoops() != 0;
}

/// The loops like which `fill` is to be, if an operation in them adds to what
/// it fills.
static std::optional<AlignedFill> match(linalg::FillOp fill,
                                        DominanceInfo &dominance) {
  if (!fill.hasPureBufferSemantics() || !getNestInBlock(fill).empty())
    return std::nullopt;
  Value tile = fill.getOutputs().front();
  auto type = dyn_cast<MemRefType>(tile.getType());
  if (!type || !type.hasStaticShape() || isPrivateMemory(type))
    return std::nullopt;
  SmallVector<Value> names = {tile};
  for (unsigned i = 0; i < names.size(); ++i)
    for (OpOperand &use : names[i].getUses()) {
      Operation *user = use.getOwner();
      if (getViewSource(user) == names[i]) {
        names.push_back(user->getResult(0));
        continue;
      }
      AlignedFill aligned{fill, use.get(), getNestInBlock(user)};
      if (!isSumOrCopy(use, aligned.nest) || !canRepeat(aligned.nest) ||
          !dominance.properlyDominates(fill, aligned.nest.front().op))
        continue;
      SliceReader reader;
      std::string why;
      std::optional<ProcessorSlice> slice =
          reader.read(use.get(), aligned.nest, why);
      if (!slice || !isLeadingView(slice->whole, tile))
        continue;
      slice->whole = tile;
      if (isPartition(*slice, aligned.nest) &&
          addToChain(use.get(), aligned, dominance))
        return aligned;
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

static void apply(AlignedFill &aligned, RewriterBase &rewriter) {
  Location loc = aligned.fill.getLoc();
  recordRemark(RemarkId::DistributeLoops_AlignedFill, aligned.fill)
      << "fill shared out as the loop whose iterations add to what it fills";
  rewriter.setInsertionPoint(aligned.fill);
  IRMapping mapping;
  for (const ParallelLoop &loop : aligned.nest) {
    auto like = cast<scf::ForallOp>(loop.op);
    auto made = scf::ForallOp::create(
        rewriter, loc, like.getMixedLowerBound(), like.getMixedUpperBound(),
        like.getMixedStep(), /*outputs=*/ValueRange(), like.getMapping());
    for (auto [from, to] :
         llvm::zip_equal(like.getInductionVars(), made.getInductionVars()))
      mapping.map(from, to);
    rewriter.setInsertionPointToStart(made.getBody());
  }
  for (Operation *op : aligned.chain)
    rewriter.clone(*op, mapping);
  // It may be the tile itself, of a nest of one iteration.
  Value slice = mapping.lookupOrDefault(aligned.slice);
  linalg::FillOp::create(rewriter, loc, aligned.fill.getInputs().front(),
                         slice);
  rewriter.eraseOp(aligned.fill);
}

bool alignFills(Operation *root) {
  DominanceInfo dominance;
  std::vector<AlignedFill> found;
  root->walk([&](linalg::FillOp fill) {
    if (std::optional<AlignedFill> aligned = match(fill, dominance))
      found.push_back(std::move(*aligned));
  });
  IRRewriter rewriter(root->getContext());
  for (AlignedFill &aligned : found)
    apply(aligned, rewriter);
  return !found.empty();
}

} // namespace mlir::workgroup
