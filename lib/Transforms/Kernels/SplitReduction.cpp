//===- SplitReduction.cpp - Sums that several blocks share ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitReduction.h"
#include "BlockTiles.h"
#include "Combiners.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// What can be split
//===----------------------------------------------------------------------===//

/// True if `op`, or what an operation of `group` makes for it, is a result of
/// the kernel besides that of the root.
static bool isMadeFromResult(const KernelGroup &group, linalg::LinalgOp op) {
  SmallVector<Operation *> reached(1, op);
  for (unsigned next = 0; next < reached.size(); ++next) {
    for (Value operand : cast<linalg::LinalgOp>(reached[next]).getDpsInputs()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || !group.contains(producer) ||
          llvm::is_contained(reached, producer))
        continue;
      if (llvm::any_of(producer->getUsers(), [](Operation *user) {
            return user->hasTrait<OpTrait::IsTerminator>();
          }))
        return true;
      reached.push_back(producer);
    }
  }
  return false;
}

linalg::LinalgOp getSplittable(const KernelGroup &group) {
  linalg::LinalgOp sum;
  for (linalg::LinalgOp op : group.getOps()) {
    if (op.getNumReductionLoops() == 0)
      continue;
    LinalgClass kind = classify(op);
    if (sum ||
        (kind != LinalgClass::Reduction && kind != LinalgClass::Contraction))
      return {};
    sum = op;
  }
  if (!sum || !getCombiner(sum) || isMadeFromResult(group, sum) ||
      !sum.getMatchingIndexingMap(sum.getDpsInitOperand(0))
           .isProjectedPermutation())
    return {};
  return sum;
}

//===----------------------------------------------------------------------===//
// Partial sums
//===----------------------------------------------------------------------===//

namespace {

/// Splits one operation. Partial results have a dimension for each of its sums,
/// before those of the result.
class ReductionSplitter {
public:
  ReductionSplitter(RewriterBase &rewriter, linalg::LinalgOp op,
                    ArrayRef<int64_t> sizes)
      : rewriter(rewriter), op(op), tiles(rewriter, op, sizes),
        combiner(getCombiner(op)) {
    op.getReductionDims(sums);
  }

  FailureOr<Value> makePartials();
  linalg::GenericOp combine(Value partials);

private:
  Value makeDestination();
  LogicalResult makePart(scf::ForallOp blocks);

  RewriterBase &rewriter;
  linalg::LinalgOp op;
  BlockTiles tiles;
  Operation *combiner;
  SmallVector<unsigned> sums;
};

} // namespace

/// A tensor for all partial results.
Value ReductionSplitter::makeDestination() {
  Location loc = op.getLoc();
  Value init = op.getDpsInits().front();
  SmallVector<OpFoldResult> extents = llvm::map_to_vector(
      sums, [&](unsigned loop) { return tiles.getNumTiles(rewriter, loop); });
  llvm::append_range(extents, tensor::getMixedSizes(rewriter, loc, init));
  return tensor::EmptyOp::create(rewriter, loc, extents,
                                 getElementTypeOrSelf(init));
}

/// Makes the work of a block: from the neutral element to one partial result.
LogicalResult ReductionSplitter::makePart(scf::ForallOp blocks) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(blocks.getTerminator());
  tiles.enter(rewriter, blocks.getInductionVars());
  auto tiling = cast<TilingInterface>(op.getOperation());
  SmallVector<OpFoldResult> offsets = llvm::map_to_vector(
      sums, [&](unsigned loop) { return tiles.getNumber(rewriter, loop); });
  SmallVector<OpFoldResult> extents(sums.size(), rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> resultOffsets, resultExtents;
  if (failed(tiling.getResultTilePosition(rewriter, 0, tiles.getOffsets(),
                                          tiles.getSizes(), resultOffsets,
                                          resultExtents)))
    return failure();
  FailureOr<TilingResult> part = tiling.getTiledImplementation(
      rewriter, tiles.getOffsets(), tiles.getSizes());
  if (failed(part))
    return failure();
  llvm::append_range(offsets, resultOffsets);
  llvm::append_range(extents, resultExtents);
  SmallVector<OpFoldResult> strides(offsets.size(), rewriter.getIndexAttr(1));

  auto tiled = cast<linalg::LinalgOp>(part->tiledOps.front());
  OpOperand *init = tiled.getDpsInitOperand(0);
  rewriter.setInsertionPoint(tiled);
  Value whole = blocks.getRegionOutArgs().front();
  Value slice = tensor::ExtractSliceOp::create(
      rewriter, loc, cast<RankedTensorType>(init->get().getType()), whole,
      offsets, extents, strides);
  Value neutral = arith::ConstantOp::create(
      rewriter, loc, *arith::getNeutralElement(combiner));
  init->set(linalg::FillOp::create(rewriter, loc, neutral, slice).getResult(0));
  rewriter.setInsertionPointToEnd(blocks.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(rewriter, loc, tiled->getResult(0),
                                        whole, offsets, extents, strides);
  fuseProducers(rewriter, part->generatedSlices, blocks);
  return success();
}

FailureOr<Value> ReductionSplitter::makePartials() {
  rewriter.setInsertionPoint(op);
  Value destination = makeDestination();
  scf::ForallOp blocks = tiles.makeLoop(rewriter, destination);
  if (failed(makePart(blocks)))
    return failure();
  return blocks.getResult(0);
}

//===----------------------------------------------------------------------===//
// Putting them together
//===----------------------------------------------------------------------===//

linalg::GenericOp ReductionSplitter::combine(Value partials) {
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap result = op.getMatchingIndexingMap(init);
  SmallVector<AffineExpr> indices = llvm::map_to_vector(
      sums, [&](unsigned loop) { return rewriter.getAffineDimExpr(loop); });
  llvm::append_range(indices, result.getResults());
  AffineMap all =
      AffineMap::get(op.getNumLoops(), 0, indices, rewriter.getContext());
  rewriter.setInsertionPoint(op);
  return linalg::GenericOp::create(
      rewriter, op.getLoc(), init->get().getType(), partials, init->get(),
      ArrayRef<AffineMap>{all, result}, op.getIteratorTypesArray(),
      [&](OpBuilder &builder, Location loc, ValueRange values) {
        Value sum = op.getRegionOutputArgs().front();
        bool isFirst = combiner->getOperand(0) == sum;
        IRMapping mapping;
        mapping.map(combiner->getOperand(isFirst ? 0 : 1), values[1]);
        mapping.map(combiner->getOperand(isFirst ? 1 : 0), values[0]);
        linalg::YieldOp::create(
            builder, loc, builder.clone(*combiner, mapping)->getResults());
      });
}

LogicalResult splitReduction(RewriterBase &rewriter, linalg::LinalgOp op,
                             ArrayRef<int64_t> sizes) {
  ReductionSplitter splitter(rewriter, op, sizes);
  FailureOr<Value> partials = splitter.makePartials();
  if (failed(partials))
    return op.emitOpError("cannot be split; give no 'split'");
  rewriter.replaceOp(op, splitter.combine(*partials));
  return success();
}

} // namespace mlir::workgroup
