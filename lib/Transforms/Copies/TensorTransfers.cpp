//===- TensorTransfers.cpp - Loads and stores of tiles by TMA -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorTransfers.h"
#include "CopyShape.h"
#include "TensorSwizzle.h"
#include "Transforms/Utils/BufferAlignment.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// The part of `target`, the storage of a tile of the layout of `copy`, that
/// the load which begins `delta` elements from the start of the tile writes, in
/// the shape of its box.
static Value getBox(RewriterBase &rewriter, Location loc,
                    const TensorCopy &copy, Value target,
                    ArrayRef<int64_t> delta) {
  TileLayoutAttr layout = copy.layout;
  int64_t width = layout.getWidth(), column = delta.back();
  // Of the dimensions before the last, one has more than one element.
  int64_t row = 0;
  for (int64_t distance : delta.drop_back())
    row += distance;
  int64_t offset = column * layout.getRows() + row * width;
  auto number = [&](int64_t value) -> OpFoldResult {
    return rewriter.getIndexAttr(value);
  };
  Value part = target;
  if (copy.getNumLoads() > 1)
    part =
        memref::SubViewOp::create(rewriter, loc, target, number(offset),
                                  number(computeProduct(copy.box)), number(1));
  SmallVector<ReassociationIndices> groups(1);
  llvm::append_range(groups.front(), llvm::seq<int64_t>(0, copy.box.size()));
  return memref::ExpandShapeOp::create(rewriter, loc, copy.box, part, groups);
}

/// The part of `target`, of the shape of `copy`, that the load which begins
/// `delta` elements from the start of the tile writes, in the shape of its box.
static Value getPart(RewriterBase &rewriter, Location loc,
                     const TensorCopy &copy, Value target,
                     ArrayRef<int64_t> delta) {
  auto type = cast<MemRefType>(target.getType());
  if (type.getShape() == ArrayRef(copy.box))
    return target;
  // Dimensions of the target and of the map are the same but for those of
  // extent one.
  SmallVector<OpFoldResult> offsets, sizes,
      ones(copy.shape.size(), rewriter.getIndexAttr(1));
  unsigned dim = 0;
  for (int64_t extent : copy.shape) {
    if (extent == 1) {
      offsets.push_back(rewriter.getIndexAttr(0));
      sizes.push_back(rewriter.getIndexAttr(1));
      continue;
    }
    while (copy.extents[dim] == 1)
      ++dim;
    offsets.push_back(rewriter.getIndexAttr(delta[dim]));
    sizes.push_back(rewriter.getIndexAttr(copy.box[dim++]));
  }
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups(1);
  for (auto [dim, extent] : llvm::enumerate(copy.box)) {
    groups.back().push_back(dim);
    if (extent == 1)
      continue;
    shape.push_back(extent);
    groups.emplace_back();
  }
  groups.pop_back(); // no row has one element
  Value slice = target;
  if (type.getShape() != ArrayRef(shape))
    slice =
        memref::SubViewOp::create(rewriter, loc,
                                  memref::SubViewOp::inferRankReducedResultType(
                                      shape, type, offsets, sizes, ones),
                                  target, offsets, sizes, ones);
  if (shape.size() == copy.box.size())
    return slice;
  return memref::ExpandShapeOp::create(rewriter, loc, copy.box, slice, groups);
}

/// The coordinates of the box which begins `delta` elements from the start of
/// the tile, innermost first.
static SmallVector<Value> getCoordinates(RewriterBase &rewriter, Location loc,
                                         const TensorCopy &copy,
                                         ArrayRef<int64_t> delta) {
  IndexBuilder index{rewriter, loc};
  SmallVector<Value> coordinates;
  for (auto [terms, distance] :
       llvm::reverse(llvm::zip_equal(copy.offsets, delta))) {
    OpFoldResult sum = rewriter.getIndexAttr(distance);
    for (OpFoldResult term : terms)
      sum = index.add(sum, term);
    coordinates.push_back(index.value(sum));
  }
  return coordinates;
}

static Value getMap(RewriterBase &rewriter, Location loc,
                    const TensorCopy &copy, TensorMaps &maps) {
  auto swizzle = getSwizzleKind(copy.getSwizzleBytes())
                     .value_or(nvgpu::TensorMapSwizzleKind::SWIZZLE_NONE);
  return maps.getMap(rewriter, loc, copy.tensor, copy.dims, copy.box, swizzle);
}

void emitTensorLoads(RewriterBase &rewriter, Location loc,
                     const TensorCopy &copy, Value target, MBarrier barrier,
                     TensorMaps &maps) {
  Value map = getMap(rewriter, loc, copy, maps);
  if (!copy.layout)
    target = castToShape(rewriter, loc, target, copy.shape);
  target = respellWorkgroupMemory(rewriter, loc, target);
  SmallVector<int64_t> counts = *computeShapeRatio(copy.extents, copy.box);
  for (int64_t i = 0, e = copy.getNumLoads(); i < e; ++i) {
    SmallVector<int64_t> delta = computeElementwiseMul(
        mlir::delinearize(i, computeSuffixProduct(counts)), copy.box);
    Value part = copy.layout ? getBox(rewriter, loc, copy, target, delta)
                             : getPart(rewriter, loc, copy, target, delta);
    SmallVector<Value> coordinates = getCoordinates(rewriter, loc, copy, delta);
    nvgpu::TmaAsyncLoadOp::create(
        rewriter, loc, part, barrier.group, map, coordinates, barrier.index,
        /*multicastMask=*/Value(), /*predicate=*/Value());
  }
}

void emitTensorStore(RewriterBase &rewriter, Location loc,
                     const TensorCopy &copy, Value source, int64_t column,
                     TensorMaps &maps) {
  SmallVector<int64_t> delta(copy.box.size(), 0);
  delta.back() = column;
  Value map = getMap(rewriter, loc, copy, maps);
  SmallVector<Value> coordinates = getCoordinates(rewriter, loc, copy, delta);
  nvgpu::TmaAsyncStoreOp::create(rewriter, loc, source, map, coordinates,
                                 /*predicate=*/Value());
}

void raiseTensorBuffer(Value target, Operation *anchor) {
  if (Value buffer = getRaisableBuffer(target, anchor))
    raiseAlignment(buffer, kTensorCopyAlignment);
}

} // namespace mlir::workgroup
