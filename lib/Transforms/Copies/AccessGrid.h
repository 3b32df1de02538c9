//===- AccessGrid.h - Which accesses of a copy a thread makes ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accesses of a copy are numbered along its dimensions; thread t of n makes
// those of numbers t, t + n, t + 2n, ...
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_ACCESSGRID_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_ACCESSGRID_H

#include "Transforms/Utils/IndexBuilder.h"

namespace mlir::workgroup {

/// The accesses of a copy: `counts` of them along each dimension, of `length`
/// elements each, from element `first` of the innermost dimension on.
struct AccessGrid {
  SmallVector<OpFoldResult> counts;
  OpFoldResult first;
  int64_t length = 1;

  OpFoldResult getTotal(IndexBuilder &index) const;
  /// The indices of access number `linear`.
  SmallVector<OpFoldResult> getIndices(IndexBuilder &index,
                                       OpFoldResult linear) const;
};

/// The accesses that every thread makes, and how many of the first threads make
/// one more, after that many of all threads.
struct StraightLine {
  SmallVector<SmallVector<OpFoldResult>> accesses;
  int64_t done = 0, rest = 0;
};

/// `total` accesses of `grid`, from number `thread` on, as straight-line code;
/// nothing if a thread has more than `limit`, or their number is not known.
std::optional<StraightLine>
planStraightLine(IndexBuilder &index, const AccessGrid &grid,
                 OpFoldResult thread, OpFoldResult total,
                 OpFoldResult numThreads, int64_t limit);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_ACCESSGRID_H
