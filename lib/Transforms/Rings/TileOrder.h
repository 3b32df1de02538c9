//===- TileOrder.h - In which order tiles are gone through ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles are numbered in groups of a few rows, each of which is gone through
// column by column, or in groups of a few columns, row by row: tiles that are
// worked on at a time share rows and columns, which stay in the cache then.
// The place of a tile follows from its number by divisions, and different
// numbers have different places.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_RINGS_TILEORDER_H
#define WORKGROUP_LIB_TRANSFORMS_RINGS_TILEORDER_H

#include "Transforms/Utils/IndexBuilder.h"

namespace mlir::workgroup {

/// The tiles of a grid, one after the other.
class TileOrder {
public:
  using Place = std::array<OpFoldResult, 3>;

  /// Of `counts` tiles along x (columns), y (rows) and z (batches).
  explicit TileOrder(const Place &counts);

  /// The number of all tiles.
  OpFoldResult getNumTiles(IndexBuilder index) const;
  /// The place along x, y and z of the tile with the number `tile`.
  Place getPlace(IndexBuilder index, OpFoldResult tile) const;

private:
  Place counts;
  /// What is grouped: 0 for columns, 1 for rows; and how many make a group.
  unsigned grouped = 1;
  int64_t size = 1;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_RINGS_TILEORDER_H
