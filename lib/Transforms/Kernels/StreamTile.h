//===- StreamTile.h - The rows and columns at hand --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a chain goes through columns, all that it makes of those at hand is in
// tiles of constant size, also where there are fewer rows or columns: what is
// read of other tensors is padded with zeros. Of columns that are not there,
// sums get their neutral element, and products zeros.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_STREAMTILE_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_STREAMTILE_H

#include "ChainStream.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Tiles the operations of a chain.
class StreamTile {
public:
  /// Of `columns` columns; to be called where the second contraction is.
  StreamTile(RewriterBase &rewriter, const ContractionChain &chain,
             const ChainStream &stream, int64_t columns);

  /// The number of columns in all.
  OpFoldResult getExtent() const { return extent; }
  /// Goes to the columns of an iteration of `newLoop`.
  void enter(scf::ForOp newLoop);

  /// The rows and columns at hand of `link`, starting from `init`, or from
  /// nothing.
  linalg::LinalgOp make(const ChainStream::Link &link, Value init = {});
  /// Those of the second contraction, added to `init`.
  linalg::LinalgOp makeSecond(Value init);
  /// An empty tile of what `link` makes, and of the second result.
  Value makeEmpty(const ChainStream::Link &link);
  Value makeEmptyResult();
  /// An empty tile of elements `type` along loops `dims` of the second
  /// contraction, which are rows.
  Value makeEmptyRows(ArrayRef<unsigned> dims, Type type);
  /// The rows that are there of `tile`, along loops `dims` of the second
  /// contraction.
  Value cut(Value tile, ArrayRef<unsigned> dims);
  /// `tensor`, along loops `dims` of the second contraction, as a tile.
  Value pad(Value tensor, ArrayRef<unsigned> dims);

  /// Lets the loop make for itself what others made of tensors for its columns.
  void fuseSlices();

  /// Results of operations for the rows and columns at hand.
  IRMapping made;
  /// What makes minus infinity of columns that are not there, of which others
  /// make nothing, then; null if all make nothing of what is there.
  Operation *masked = nullptr;

private:
  using Loops = ContractionChain::Loops;

  bool canPad() const;
  OpFoldResult getTileSize(const Loops &rows, unsigned loop, OpFoldResult size,
                           std::optional<unsigned> column) const;
  linalg::LinalgOp tile(linalg::LinalgOp op, const Loops &rows,
                        std::optional<unsigned> column);
  void padOperand(linalg::LinalgOp op, OpOperand &from, OpOperand &to,
                  ArrayRef<OpFoldResult> sizes, std::optional<unsigned> column);
  Value padSlice(Value source, ArrayRef<OpFoldResult> offsets,
                 ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> tile);
  Value makeTile(ArrayRef<unsigned> dims, Type type);
  linalg::LinalgOp guard(linalg::LinalgOp tiled, unsigned column, bool isFold,
                         bool isMasked = false);
  linalg::LinalgOp guardLink(const ChainStream::Link &link,
                             linalg::LinalgOp tiled);

  RewriterBase &rewriter;
  const ContractionChain &chain;
  const ChainStream &stream;
  int64_t columns;
  Location loc;
  bool isPadded;

  OpFoldResult extent, offset, size;
  scf::ForOp loop;
  /// Of each loop of the second contraction, what there is of it, and what a
  /// tile has.
  SmallVector<OpFoldResult> rowSizes, tileSizes;
  /// Negative for columns that are not there; null if all are.
  Value presence;
  /// Slices to be made by what makes the tensor.
  SmallVector<Operation *> pending;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_STREAMTILE_H
