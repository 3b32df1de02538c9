//===- ThreadTile.h - What of a tile a thread computes ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread holds `rows` x `columns` elements of the result in registers. Its
// rows come in runs of neighbours, and so do its columns; between two runs are
// those of all other threads, so that the threads of a warp read neighbouring
// vectors.
//
// With 4 rows in runs of 2, and 8 threads along them, thread 0 has the rows 0,
// 1, 16 and 17, and thread 1 the rows 2, 3, 18 and 19.
//
// Threads may form groups, of which each has neighbouring rows and columns:
// tensor cores multiply the parts of whole warps.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_THREADTILE_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_THREADTILE_H

#include "ContractionShape.h"

namespace mlir::workgroup {

/// What of a tile each thread computes.
struct ThreadTile {
  int64_t rows = 1, columns = 1;
  /// Neighbours in a run: the columns are one vector.
  int64_t rowRun = 1, columnRun = 1;
  /// Of a group along rows and along columns, and the groups of the block.
  int64_t numThreads[2] = {1, 1}, numGroups[2] = {1, 1};
  /// Neighbouring threads that have the same columns, before others come.
  int64_t numNeighbors = 1;

  int64_t getGroupSize() const { return numThreads[0] * numThreads[1]; }
  int64_t getNumGroups() const { return numGroups[0] * numGroups[1]; }
  int64_t getNumThreads() const { return getGroupSize() * getNumGroups(); }
  int64_t getGroupRows() const { return rows * numThreads[0]; }
  int64_t getGroupColumns() const { return columns * numThreads[1]; }
  int64_t getNumRuns() const { return columns / columnRun; }
  /// The number of vectors that hold the thread's part of the result.
  int64_t getNumVectors() const { return rows * getNumRuns(); }
  /// The least row, or column, of those of a thread whose first is 0.
  int64_t getRow(int64_t i) const {
    return i / rowRun * numThreads[0] * rowRun + i % rowRun;
  }
  int64_t getColumn(int64_t j) const {
    return j / columnRun * numThreads[1] * columnRun + j % columnRun;
  }
};

/// The bytes of an element of `memref`.
int64_t getElementBytes(Value memref);

/// The most elements of `operand` that one access takes.
int64_t getMaxLength(OpOperand *operand);

/// The loop along which the elements of `operand` are neighbours in memory.
std::optional<unsigned> getContiguousLoop(Contraction &contraction,
                                          OpOperand *operand);

/// The largest power of two that divides `number`, up to `limit`.
int64_t getRun(int64_t number, int64_t limit);

/// Sets `tile` to the best tile of a thread if `numThreads` of them share
/// `contraction`. Returns the reason why there is none, or empty.
std::string chooseThreadTile(Contraction &contraction, int64_t numThreads,
                             ThreadTile &tile);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_THREADTILE_H
