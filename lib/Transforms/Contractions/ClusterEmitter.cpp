//===- ClusterEmitter.cpp - A contraction in registers --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClusterEmitter.h"
#include "ProductEmitter.h"
#include "Support/Remarks.h"
#include "Transforms/Utils/CarriedValues.h"

namespace mlir::workgroup {

/// The value that `init` fills all of the accumulator with; null if it is not
/// the same for all elements.
static Value getFilling(OpOperand *init) {
  auto fill = dyn_cast<linalg::LinalgOp>(init->getOwner());
  if (!fill || !llvm::hasSingleElement(*fill.getBlock()))
    return {};
  Value value = fill.getBlock()->getTerminator()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != fill.getBlock())
    return value;
  OpOperand *input = fill.getMatchingOpOperand(argument);
  return isa<MemRefType>(input->get().getType()) ? Value() : input->get();
}

/// True if a lane may write what another one has of the result: what was read
/// before as another thread's would have to be waited for.
static bool mayExchange(const ContractionCluster &cluster) {
  return cluster.matrix && getFilling(cluster.init) && cluster.updates.empty();
}

ClusterEmitter::ClusterEmitter(ContractionCluster &cluster,
                               RewriterBase &rewriter,
                               AlignmentAnalysis &alignment,
                               std::optional<StoreContext> stores)
    : cluster(cluster), rewriter(rewriter),
      part(cluster.contraction, cluster.tile, cluster.sharers, rewriter,
           alignment),
      filling(getFilling(cluster.init)), pointwise(part, mayExchange(cluster)),
      carriesPacked(cluster.group && cluster.updates.empty()) {
  if (cluster.group && stores)
    addSlots(*stores);
  if (cluster.group)
    groups.emplace(part, *cluster.group);
  else if (cluster.matrix)
    matrices.emplace(part, *cluster.matrix);
}

/// Decides which results TMA stores, before anything changes.
void ClusterEmitter::addSlots(StoreContext stores) {
  slots.emplace(part, stores);
  for (OpOperand *sink : cluster.sinks) {
    Pointwise op(sink->getOwner(), sink);
    if (!StoreRing::isCandidate(op))
      continue;
    std::string why = slots->add(op);
    if (why.empty())
      recordRemark(RemarkId::LowerContractions_StoredByTMA, op.op)
          << "TMA stores a result";
    else
      recordRemark(RemarkId::LowerContractions_NotStoredByTMA, op.op)
          << "threads store a result" << remark::reason("{0}", why);
  }
  slots->allocate();
}

/// The sums before the loops.
SmallVector<Value> ClusterEmitter::start() {
  SmallVector<Value> sums =
      filling ? pointwise.fill(filling)
              : pointwise.initialize(
                    Pointwise(cluster.init->getOwner(), cluster.init));
  return carriesPacked ? groups->pack(sums) : sums;
}

/// The sums that the loops carry to the contraction, which are `sums` at first,
/// and changed on the way.
SmallVector<Value> ClusterEmitter::enterLoops(SmallVector<Value> sums) {
  for (scf::ForOp &loop : cluster.loops) {
    loop = addCarriedValues(rewriter, loop, sums);
    sums = llvm::to_vector_of<Value>(
        loop.getRegionIterArgs().take_back(sums.size()));
    for (Operation &op : llvm::make_early_inc_range(*loop.getBody())) {
      OpOperand **update =
          llvm::find_if(cluster.updates, [&](OpOperand *output) {
            return output->getOwner() == &op;
          });
      if (update == cluster.updates.end())
        continue;
      rewriter.setInsertionPoint(&op);
      sums = pointwise.update(Pointwise(&op, *update), sums);
    }
  }
  return sums;
}

/// `sums` with the products added.
SmallVector<Value> ClusterEmitter::multiply(ValueRange sums) {
  rewriter.setInsertionPoint(cluster.contraction.op);
  if (matrices)
    return matrices->multiply(sums);
  if (!groups)
    return ProductEmitter(part).multiply(sums);
  if (carriesPacked)
    return groups->multiply(sums);
  return groups->unpack(groups->multiply(groups->pack(sums)));
}

/// Lets the loops carry `sums` on. Returns what is left of them behind the
/// outermost one.
SmallVector<Value> ClusterEmitter::leaveLoops(SmallVector<Value> sums) {
  for (scf::ForOp loop : llvm::reverse(cluster.loops)) {
    yieldLast(rewriter, loop, sums);
    sums = llvm::to_vector_of<Value>(loop.getResults().take_back(sums.size()));
    rewriter.setInsertionPointAfter(loop);
    if (groups && loop == cluster.loops.back())
      sums = groups->await(sums);
  }
  return carriesPacked ? groups->unpack(sums) : sums;
}

void ClusterEmitter::run() {
  SmallVector<Value> sums = leaveLoops(multiply(enterLoops(start())));
  for (OpOperand *sink : cluster.sinks) {
    rewriter.setInsertionPoint(sink->getOwner());
    pointwise.finish(Pointwise(sink->getOwner(), sink), sums,
                     slots ? &*slots : nullptr);
  }
}

} // namespace mlir::workgroup
