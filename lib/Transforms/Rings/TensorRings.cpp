//===- TensorRings.cpp - Rings that TMA can fill --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorRings.h"
#include "RingTensorLowering.h"
#include "Transforms/Copies/MemoryAccesses.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "workgroup/Target/Chip.h"

namespace mlir::workgroup {

std::string TensorRings::getObstacle(RingOp op,
                                     ArrayRef<TileLayoutAttr> layouts) {
  const Chip *chip = resolveChip(getExecutionScope(op), options.copies.chip);
  if (!chip || !chip->hasTensorCopies())
    return "the chip has no tensor copies";
  Ring ring = matchRing(op);
  if (!ring.flaw.empty())
    return ring.flaw;
  KernelWrites writes;
  findObstacle(ring, aliases, writes);
  if (!ring.obstacle.empty())
    return ring.obstacle;
  IRRewriter rewriter(root->getContext());
  return RingTensorLowering(ring, root, options, maps, rewriter, layouts)
      .findObstacle();
}

/// `copy`'s source without the dimensions along which its tile has one element.
static Value sliceLongDims(RewriterBase &rewriter, CopyOp copy) {
  Value source = copy.getSource();
  SmallVector<int64_t> shape;
  for (auto [extent, ofTile] :
       llvm::zip_equal(cast<MemRefType>(source.getType()).getShape(),
                       cast<MemRefType>(copy.getTile().getType()).getShape()))
    if (ofTile != 1)
      shape.push_back(extent);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(copy);
  return *memref::SubViewOp::rankReduceIfNeeded(rewriter, copy.getLoc(), source,
                                                shape);
}

void setLayouts(RewriterBase &rewriter, RingOp op,
                ArrayRef<TileLayoutAttr> layouts) {
  Ring ring = matchRing(op);
  for (Operation *fill : ring.copies) {
    auto tile = cast<OpResult>(getFillOperands(fill)->target);
    TileLayoutAttr layout = layouts[tile.getResultNumber()];
    if (!layout)
      continue;
    auto copy = cast<CopyOp>(fill);
    Value source = sliceLongDims(rewriter, copy);
    rewriter.modifyOpInPlace(copy, [&] {
      copy.getSourceMutable().assign(source);
      copy.setLayoutAttr(layout);
    });
  }
  SmallVector<MemRefType> tiles(ring.getType().getTiles());
  for (auto [i, layout] : llvm::enumerate(layouts)) {
    if (!layout)
      continue;
    tiles[i] =
        MemRefType::get({layout.getNumElements()}, tiles[i].getElementType(),
                        MemRefLayoutAttrInterface(), tiles[i].getMemorySpace());
    for (Operation *user : {ring.put.getOperation(), ring.get.getOperation()})
      rewriter.modifyOpInPlace(user,
                               [&] { user->getResult(i).setType(tiles[i]); });
  }
  rewriter.modifyOpInPlace(op, [&] {
    op.getRing().setType(
        RingType::get(op.getContext(), ring.getType().getSlots(), tiles));
  });
}

void setLag(RewriterBase &rewriter, RingOp op, int64_t lag) {
  ReleaseOp release = matchRing(op).release;
  if (int64_t(release.getLag()) < lag)
    rewriter.modifyOpInPlace(release, [&] { release.setLag(lag); });
}

} // namespace mlir::workgroup
