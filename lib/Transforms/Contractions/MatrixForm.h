//===- MatrixForm.h - Contractions on tensor cores --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether, and by which instruction, the tensor cores of a chip compute a
// contraction, and what of it each warp has.
//
// The registers of a lane hold matrices in cells of 8 rows by 4 registers, all
// element types alike (PTX ISA, "Matrix Fragments for mma"): lane l has of a
// cell row l / 4 and the elements of register l % 4. The columns of a cell, a
// chunk, are what the sum goes along: 8 for f16, 16 for i8. Of the result a
// lane has columns 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of each 8 x 8.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_MATRIXFORM_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_MATRIXFORM_H

#include "ProductBody.h"
#include "ThreadTile.h"
#include "workgroup/Target/Chip.h"

namespace mlir::workgroup {

/// The extent of a cell across the sum, and of the second factor of an
/// instruction.
constexpr int64_t kCellSize = 8;

/// What a multiplication takes of a chip for some type of elements.
struct MatrixShape {
  /// Rows of the first factor.
  int64_t rows = 16;
  /// Whether there are instructions that sum up over one chunk, and over two.
  bool hasOne = false, hasTwo = false;

  int64_t getRowCells() const { return rows / kCellSize; }
};

/// One of the two matrices that are multiplied.
struct MatrixFactor {
  OpOperand *operand = nullptr;
  /// In the contraction's body: what is multiplied, before conversions that
  /// change no value.
  Value value = {};
  /// Whether `value`, an integer, has a sign.
  bool isSigned = true;
  /// What the instruction calls the elements, and what type holds them.
  NVVM::MMATypes type = NVVM::MMATypes::f16;
  Type element = {};
  /// True if `value` has more digits than the instruction takes.
  bool isRounded = false;

  /// Elements in a register, and in a chunk.
  int64_t getWidth() const {
    return std::max<int64_t>(32 / element.getIntOrFloatBitWidth(), 1);
  }
  int64_t getChunk() const { return 4 * getWidth(); }
};

struct MatrixForm {
  MatrixFactor lhs, rhs;
  MatrixShape shape;
  /// Of which the groups are warps.
  ThreadTile tile;

  /// The instruction that sums up over `numChunks` chunks.
  std::array<int64_t, 3> getExtents(int64_t numChunks) const {
    return {shape.rows, kCellSize, numChunks * lhs.getChunk()};
  }
  /// Its name in remarks: `m16n8k16.f16.f16`.
  std::string getName() const;
};

/// How a block of `numThreads` threads computes `contraction` on the tensor
/// cores of `chip`; nothing if it does not. `why` is the reason then, empty
/// where nobody would expect them: f32 is not rounded unless `roundsToTF32`.
/// With `hasWholeRows`, each warp has all columns of its rows.
std::optional<MatrixForm> chooseMatrixForm(Contraction &contraction,
                                           const Chip &chip, bool roundsToTF32,
                                           int64_t numThreads, std::string &why,
                                           bool hasWholeRows = false);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_MATRIXFORM_H
