//===- MatrixSums.h - The result in registers of lanes ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane has of the result pairs of columns, row by row. What an instruction
// adds to is one vector of two rows of pairs, or of one (MatrixForm.h).
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_MATRIXSUMS_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_MATRIXSUMS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// `parts`, vectors of one type, as the rows of one vector.
Value stackVectors(RewriterBase &rewriter, Location loc, ArrayRef<Value> parts);

/// The pairs `sums`, `numColumns` of which are in a row, by instructions of
/// `numCells` rows: those of a row of instructions follow one another.
SmallVector<Value> packSums(RewriterBase &rewriter, Location loc,
                            ValueRange sums, int64_t numCells,
                            int64_t numColumns);

/// The pairs that were packed.
SmallVector<Value> unpackSums(RewriterBase &rewriter, Location loc,
                              ValueRange packed, int64_t numCells,
                              int64_t numColumns);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_MATRIXSUMS_H
