//===- BlockTiles.cpp - Which tile of a loop nest a block does ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockTiles.h"
#include "Transforms/Linalg/LinalgClasses.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::workgroup {

ArrayAttr makeBlockMapping(Builder &builder, unsigned numDims) {
  SmallVector<Attribute> mapping;
  for (unsigned dim = numDims; dim-- > 0;)
    mapping.push_back(gpu::GPUBlockMappingAttr::get(
        builder.getContext(),
        static_cast<gpu::MappingId>(
            static_cast<unsigned>(gpu::MappingId::LinearDim0) + dim)));
  return builder.getArrayAttr(mapping);
}

void fuseProducers(RewriterBase &rewriter, ArrayRef<Operation *> slices,
                   scf::ForallOp blocks) {
  SmallVector<LoopLikeOpInterface> loops(1, blocks);
  SmallVector<Operation *> worklist(slices);
  for (unsigned next = 0; next < worklist.size(); ++next) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(worklist[next]);
    if (!slice || !getTensorOp(slice.getSource().getDefiningOp()))
      continue;
    auto fused = scf::tileAndFuseProducerOfSlice(rewriter, slice, loops);
    if (!fused)
      continue;
    rewriter.replaceOp(slice, fused->tiledAndFusedProducer);
    llvm::append_range(worklist, fused->generatedSlices);
  }
}

BlockTiles::BlockTiles(OpBuilder &builder, linalg::LinalgOp op,
                       ArrayRef<int64_t> sizes)
    : loc(op.getLoc()), tileSizes(op.getNumLoops(), 0) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  auto tiling = cast<TilingInterface>(op.getOperation());
  for (Range range : tiling.getIterationDomain(builder))
    extents.push_back(range.size);
  for (auto [loop, size] : llvm::enumerate(sizes)) {
    std::optional<int64_t> extent = getConstantIntValue(extents[loop]);
    tileSizes[loop] = extent && *extent > 0 ? std::min(size, *extent) : size;
  }
}

scf::ForallOp BlockTiles::makeLoop(OpBuilder &builder,
                                   ValueRange destinations) const {
  SmallVector<OpFoldResult> first, past, steps;
  for (auto [extent, size] : llvm::zip_equal(extents, tileSizes)) {
    if (size == 0)
      continue;
    first.push_back(builder.getIndexAttr(0));
    past.push_back(extent);
    steps.push_back(builder.getIndexAttr(size));
  }
  return scf::ForallOp::create(builder, loc, first, past, steps, destinations,
                               makeBlockMapping(builder, steps.size()));
}

void BlockTiles::enter(OpBuilder &builder, ValueRange ids) {
  offsets.clear();
  sizes.clear();
  AffineExpr id, extent;
  bindDims(builder.getContext(), id);
  bindSymbols(builder.getContext(), extent);
  for (auto [loop, size] : llvm::enumerate(tileSizes)) {
    if (size == 0) {
      offsets.push_back(builder.getIndexAttr(0));
      sizes.push_back(extents[loop]);
      continue;
    }
    offsets.push_back(ids.front());
    ids = ids.drop_front();
    OpFoldResult whole = builder.getIndexAttr(size);
    std::optional<int64_t> known = getConstantIntValue(extents[loop]);
    if (known && *known % size == 0) {
      sizes.push_back(whole);
      continue;
    }
    AffineMap rest =
        AffineMap::get(1, 1, {builder.getAffineConstantExpr(size), extent - id},
                       builder.getContext());
    sizes.push_back(affine::makeComposedFoldedAffineMin(
        builder, loc, rest, {offsets.back(), extents[loop]}));
  }
}

OpFoldResult BlockTiles::getNumTiles(OpBuilder &builder, unsigned loop) const {
  if (tileSizes[loop] == 0)
    return builder.getIndexAttr(1);
  AffineExpr extent = builder.getAffineSymbolExpr(0);
  return affine::makeComposedFoldedAffineApply(
      builder, loc, extent.ceilDiv(tileSizes[loop]), {extents[loop]});
}

OpFoldResult BlockTiles::getNumber(OpBuilder &builder, unsigned loop) const {
  if (tileSizes[loop] == 0)
    return builder.getIndexAttr(0);
  AffineExpr offset = builder.getAffineDimExpr(0);
  return affine::makeComposedFoldedAffineApply(
      builder, loc, offset.floorDiv(tileSizes[loop]), {offsets[loop]});
}

} // namespace mlir::workgroup
