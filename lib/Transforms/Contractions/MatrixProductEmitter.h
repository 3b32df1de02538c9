//===- MatrixProductEmitter.h - The products of a warp ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The innermost code of a contraction that tensor cores compute: cells of both
// factors from workgroup memory to registers, and `mma.sync`, which multiplies
// them and adds to what the lanes of the warp have of the result.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_MATRIXPRODUCTEMITTER_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_MATRIXPRODUCTEMITTER_H

#include "FragmentLoader.h"

namespace mlir::workgroup {

/// Emits the products of a warp, which has the tile of `part`.
class MatrixProductEmitter {
public:
  /// Computes, where the part's rewriter stands, what has to dominate all
  /// products. `loadsAhead` if there are registers for the cells of the next
  /// step.
  MatrixProductEmitter(ContractionPart &part, const MatrixForm &form,
                       bool loadsAhead = true);

  /// The result `sums` with the products of the tile's factors added. `cells`
  /// are those of the first factor, by rows, if it is in registers.
  SmallVector<Value> multiply(ValueRange sums, ArrayRef<Value> cells = {});

private:
  int64_t getNumRows() const;
  int64_t getNumColumns() const;
  SmallVector<Value> getRegisters(ArrayRef<Value> cells);
  Value multiplyCells(ArrayRef<Value> lhs, ArrayRef<Value> rhs, Value sum);
  void multiplyChunks(ArrayRef<Value> lhs, ArrayRef<Value> rhs,
                      int64_t numChunks, MutableArrayRef<Value> sums);
  SmallVector<Value> multiplySteps(ValueRange sums, OpFoldResult first,
                                   int64_t numChunks);

  ContractionPart &part;
  const MatrixForm form;
  RewriterBase &rewriter;
  const Location loc;
  IndexBuilder &index;
  ProductBody body;
  IRMapping shared;
  /// Chunks of the tile.
  const int64_t numChunks;
  const bool loadsAhead;
  FragmentLoader lhs, rhs;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_MATRIXPRODUCTEMITTER_H
