//===- TileLimits.h - Where the result ends in a ragged tile ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// At the border of a result that is no multiple of tiles, a tile has fewer rows
// or columns than others: of a result of 70 rows in tiles of 16, the last tile
// has 6. A thread asks which of its elements are there.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_TILELIMITS_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_TILELIMITS_H

#include "ContractionPart.h"

namespace mlir::workgroup {

/// Where the rows and columns of a thread's part end.
class TileLimits {
public:
  /// Of a tile of which only what `accumulator` has is there.
  TileLimits(ContractionPart &part, Value accumulator);

  /// True if no tile is ragged.
  bool empty() const { return limits.empty(); }

  /// True for a tile that is not ragged.
  Value isWhole() const;
  /// True if row, or column, `at` of the thread is there; null if it always is.
  Value hasRow(int64_t at) const { return isInside(/*ofRows=*/true, at); }
  Value hasColumn(int64_t at) const { return isInside(/*ofRows=*/false, at); }
  /// True for the columns of the run from `column` on that are there.
  Value makeMask(int64_t column) const;

private:
  /// The end of a loop of the contraction, of its rows or of its columns.
  struct Limit {
    unsigned loop;
    OpFoldResult size;
    bool isRow;
  };
  Value isInside(bool ofRows, int64_t at) const;

  ContractionPart &part;
  SmallVector<Limit> limits;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_TILELIMITS_H
