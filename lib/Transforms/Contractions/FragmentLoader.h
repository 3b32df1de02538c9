//===- FragmentLoader.h - Matrices from tiles to registers ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a warp multiplies is loaded from workgroup memory cell by cell
// (MatrixForm.h): up to four of them by one `ldmatrix`, where the 16 bytes of a
// row of a cell are neighbours in memory, or, of elements of 16 bits, where
// those of a column are. Other elements are loaded one by one, or those of a
// register at once. What is in registers already is taken from there.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_FRAGMENTLOADER_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_FRAGMENTLOADER_H

#include "ContractionPart.h"
#include "MatrixForm.h"

namespace mlir::workgroup {

/// Loads the cells of one factor that a warp multiplies.
class FragmentLoader {
public:
  /// Computes, where the part's rewriter stands, what addresses of lanes
  /// consist of, which has to dominate all loads. The warp has `numTiles` rows,
  /// or columns, of cells, for up to `numChunks` chunks of a tile's sum.
  FragmentLoader(ContractionPart &part, ProductBody &body,
                 const MatrixFactor &factor, int64_t numTiles,
                 int64_t numChunks);

  /// True if the factor is in memory of the threads, and its cells in registers
  /// that have to be given.
  bool isInRegisters() const { return mode == Mode::Registers; }
  /// Gives cell `i * numChunks + j` of row `i` and chunk `j`, of all chunks.
  void setCells(SmallVector<Value> cells) { registers = std::move(cells); }

  /// The cells for one chunk or two, `step` being the first of these in the
  /// tile: cell `i * numChunks + j` is that of row `i` and chunk `j`, a vector
  /// of a register's elements. `shared` has the values of the body that all
  /// elements share.
  SmallVector<Value> load(OpFoldResult step, int64_t numChunks,
                          const IRMapping &shared);

private:
  /// How cells are loaded.
  enum class Mode {
    /// By rows in memory, with the steps of the sum as neighbours.
    Rows,
    /// By columns in memory, transposed on the way.
    Transposed,
    Elements,
    /// Not at all.
    Registers
  };
  /// What the lane contributes to the indices of an access.
  struct LanePart {
    OpFoldResult outer, step;
  };

  Mode chooseMode();
  OpFoldResult getField(int64_t divisor, int64_t size, int64_t factor);
  LanePart makeLanePart(int64_t numTiles, int64_t numChunks);
  SmallVector<Value> getIndices(OpFoldResult outer, OpFoldResult step);
  void loadMatrices(int64_t tile, OpFoldResult step, int64_t numTiles,
                    int64_t numChunks, SmallVectorImpl<Value> &cells);
  Value loadElements(int64_t tile, OpFoldResult step);
  Value widenElements(Value cell, VectorType type);
  Value convert(Value cell, const IRMapping &shared);

  ContractionPart &part;
  ProductBody &body;
  const MatrixFactor factor;
  const bool isLhs;
  const LoopGroup &group;
  const int64_t numTiles, allChunks;
  Mode mode;
  SmallVector<Value> registers;
  /// For one row of cells or two, and one chunk or two.
  LanePart lanes[2][2];
  RewriterBase &rewriter;
  const Location loc;
  IndexBuilder &index;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_FRAGMENTLOADER_H
