//===- BlockTiles.h - Which tile of a loop nest a block does ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of an operation are cut into tiles, and each block of the grid does
// one: an `scf.forall` over the numbers of tiles, mapped to blocks, the last
// dimension fastest. A loop that is not tiled (size 0) is in each tile as a
// whole. Tiles at the end of a loop may be smaller, except where sizes divide.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_BLOCKTILES_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_BLOCKTILES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::workgroup {

/// As many ids of blocks as a loop over blocks can have.
constexpr unsigned kMaxBlockDims = 10;

/// Which block does what: the last dimension goes on from block to block.
ArrayAttr makeBlockMapping(Builder &builder, unsigned numDims);

/// Lets the blocks compute for themselves what others made for `slices`.
void fuseProducers(RewriterBase &rewriter, ArrayRef<Operation *> slices,
                   scf::ForallOp blocks);

/// The tiles of an operation's loops that blocks share out.
class BlockTiles {
public:
  /// Tiles of `sizes`, 0 for all of a loop; no larger than the loop is known to
  /// be.
  BlockTiles(OpBuilder &builder, linalg::LinalgOp op, ArrayRef<int64_t> sizes);

  /// A loop with an iteration for each tile, mapped to blocks.
  scf::ForallOp makeLoop(OpBuilder &builder, ValueRange destinations) const;
  /// Sets offsets and sizes to those of the tile for the iteration `ids`.
  void enter(OpBuilder &builder, ValueRange ids);

  ArrayRef<OpFoldResult> getOffsets() const { return offsets; }
  ArrayRef<OpFoldResult> getSizes() const { return sizes; }
  /// The number of tiles along a loop, and the number of this one.
  OpFoldResult getNumTiles(OpBuilder &builder, unsigned loop) const;
  OpFoldResult getNumber(OpBuilder &builder, unsigned loop) const;

private:
  Location loc;
  SmallVector<int64_t> tileSizes;
  SmallVector<OpFoldResult> extents;
  SmallVector<OpFoldResult> offsets, sizes;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_BLOCKTILES_H
