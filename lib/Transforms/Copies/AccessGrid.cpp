//===- AccessGrid.cpp - Which accesses of a copy a thread makes -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessGrid.h"

namespace mlir::workgroup {

OpFoldResult AccessGrid::getTotal(IndexBuilder &index) const {
  OpFoldResult total = index.builder.getIndexAttr(1);
  for (OpFoldResult count : counts)
    total = index.mul(total, count);
  return total;
}

SmallVector<OpFoldResult> AccessGrid::getIndices(IndexBuilder &index,
                                                 OpFoldResult linear) const {
  SmallVector<OpFoldResult> indices(counts.size());
  for (unsigned dim = counts.size(); dim-- > 0;) {
    indices[dim] = dim == 0 ? linear : index.rem(linear, counts[dim]);
    if (dim != 0)
      linear = index.div(linear, counts[dim]);
  }
  if (!indices.empty())
    indices.back() = index.add(
        first, index.mul(indices.back(), index.builder.getIndexAttr(length)));
  return indices;
}

std::optional<StraightLine>
planStraightLine(IndexBuilder &index, const AccessGrid &grid,
                 OpFoldResult thread, OpFoldResult total,
                 OpFoldResult numThreads, int64_t limit) {
  std::optional<int64_t> all = getConstantIntValue(total);
  std::optional<int64_t> threads = getConstantIntValue(numThreads);
  if (!all || !threads ||
      llvm::divideCeil(*all, *threads) > static_cast<uint64_t>(limit))
    return std::nullopt;
  auto number = [&](int64_t value) {
    return index.builder.getIndexAttr(value);
  };
  StraightLine line;
  int64_t numFull = *all / *threads, rowLength = 1;
  for (size_t dim = 1; dim < grid.counts.size(); ++dim)
    rowLength *= *getConstantIntValue(grid.counts[dim]);
  for (int64_t i = 0; i < numFull; ++i) {
    int64_t ahead = i * *threads;
    if (i == 0 || ahead % rowLength != 0) {
      line.accesses.push_back(
          grid.getIndices(index, index.add(thread, number(ahead))));
      continue;
    }
    // Whole rows further: the same place in the row.
    int64_t rows =
        ahead / rowLength * (grid.counts.size() == 1 ? grid.length : 1);
    line.accesses.push_back(line.accesses.front());
    line.accesses.back().front() =
        index.add(line.accesses.front().front(), number(rows));
  }
  line.done = numFull * *threads;
  line.rest = *all - line.done;
  return line;
}

} // namespace mlir::workgroup
