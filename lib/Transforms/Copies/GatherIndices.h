//===- GatherIndices.h - Where a gather reads -------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which element of its source a `workgroup.gather` reads for an element of its
// tile, in which runs they lie side by side, and which of them are there. What
// the map and constant extents prove to be there is not asked for by the
// kernel.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_GATHERINDICES_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_GATHERINDICES_H

#include "Transforms/Utils/IndexBuilder.h"
#include "workgroup/IR/Workgroup.h"

namespace mlir::workgroup {

class GatherIndices {
public:
  explicit GatherIndices(GatherOp op);

  /// True if `length` neighbours in the last dimension of the tile, from
  /// multiples of `length` on, are neighbours in the last one of the source.
  bool hasRuns(int64_t length) const;

  /// True if the source has all elements.
  bool isInside() const;

  /// The place in the source of element `indices` of the tile. With
  /// `isClamped`, no index is below zero.
  SmallVector<Value> getSource(IndexBuilder &index,
                               ArrayRef<OpFoldResult> indices,
                               bool isClamped = false) const;

  /// How many of the `length` elements of a run from `indices` on are there, of
  /// a source with the extents `available`.
  Value getCount(IndexBuilder &index, ArrayRef<OpFoldResult> indices,
                 ArrayRef<OpFoldResult> available, int64_t length) const;

private:
  /// Whether places in a dimension of the source may lie before or behind it.
  struct Bounds {
    bool mayBeBelow, mayBeAbove;
  };

  mutable GatherOp op;
  AffineMap map;
  SmallVector<Bounds> bounds;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_GATHERINDICES_H
