//===- TileOrder.cpp - In which order tiles are gone through --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All groups are equal, so that divisors do not vary, and each division tells
// by its range that places are those of tiles. Sizes that only the launch knows
// are never grouped.
//
//===----------------------------------------------------------------------===//

#include "TileOrder.h"

namespace mlir::workgroup {

/// Rows or columns of tiles that are gone through together, or about as many.
constexpr int64_t kGroupSize = 8;

/// How many of `count` rows or columns make a group of about the size that is
/// wanted, so that all are equal; nothing if that does not come out even.
static std::optional<int64_t> findGroup(OpFoldResult count) {
  std::optional<int64_t> number = getConstantIntValue(count);
  if (!number || *number < 1)
    return std::nullopt;
  if (*number <= kGroupSize)
    return *number;
  for (int64_t gap = 0; gap <= kGroupSize / 2; ++gap)
    for (int64_t size : {kGroupSize + gap, kGroupSize - gap})
      if (*number % size == 0)
        return size;
  return std::nullopt;
}

TileOrder::TileOrder(const Place &counts) : counts(counts) {
  std::optional<int64_t> columns = getConstantIntValue(counts[0]);
  std::optional<int64_t> rows = getConstantIntValue(counts[1]);
  for (unsigned dim : {1, 0})
    if (std::optional<int64_t> found = findGroup(counts[dim])) {
      grouped = dim;
      size = *found;
      return;
    }
  // The shorter side is one group.
  if (rows && columns && *columns > *rows)
    size = *rows;
}

OpFoldResult TileOrder::getNumTiles(IndexBuilder index) const {
  OpFoldResult tiles = index.builder.getIndexAttr(1);
  for (OpFoldResult count : counts)
    tiles = index.mul(tiles, count);
  return tiles;
}

TileOrder::Place TileOrder::getPlace(IndexBuilder index,
                                     OpFoldResult tile) const {
  OpFoldResult ofGroup = index.builder.getIndexAttr(size);
  OpFoldResult groups = index.div(counts[grouped], ofGroup);
  OpFoldResult within = index.rem(tile, ofGroup);
  OpFoldResult rest = index.div(tile, ofGroup);
  bool isOneBatch = getConstantIntValue(counts[2]) == 1;
  bool isOneGroup = isOneBatch && getConstantIntValue(groups) == 1;
  OpFoldResult zero = index.builder.getIndexAttr(0);
  OpFoldResult along = isOneGroup ? rest : index.rem(rest, counts[1 - grouped]);
  OpFoldResult number =
      isOneGroup ? zero : index.div(rest, counts[1 - grouped]);
  OpFoldResult group = isOneBatch ? number : index.rem(number, groups);
  Place place;
  place[grouped] = index.add(index.mul(group, ofGroup), within);
  place[1 - grouped] = along;
  place[2] = isOneBatch ? zero : index.div(number, groups);
  return place;
}

} // namespace mlir::workgroup
