//===- ThreadVectors.h - How wide a thread accesses memory ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The widest access that is aligned, contiguous along the innermost loop, and
// leaves enough points for all threads: 16, 8, 4 bytes, and so on. An extent
// that is not known to be a multiple of the length is a condition, which is
// checked when the kernel runs.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_THREADS_THREADVECTORS_H
#define WORKGROUP_LIB_TRANSFORMS_THREADS_THREADVECTORS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "workgroup/Analysis/Alignment.h"

namespace mlir::workgroup {

/// The points along a loop that a thread computes together.
struct ThreadVector {
  int64_t length = 1;
  /// Extents of memory, a buffer and a dimension of it, that have to be
  /// multiples of `length`; whether they are is seen when the kernel runs.
  llvm::SmallSetVector<std::pair<Value, int64_t>, 2> conditions;
  /// Points may be left over at the end of the loop.
  bool hasRest = false;
};

/// Chooses accesses of up to 16 bytes for `operands` of `op` that lie along
/// `loop`, of extent `extent`. `numPoints` of all loops that are shared out, if
/// that is known, should still keep `threads` threads busy.
ThreadVector chooseThreadVector(linalg::LinalgOp op,
                                ArrayRef<OpOperand *> operands, unsigned loop,
                                OpFoldResult extent,
                                std::optional<int64_t> numPoints,
                                int64_t threads, AlignmentAnalysis &alignment);

/// Chooses how many neighbours along `loop`, of extent `extent`, a thread does
/// together if inputs of `op` lie along it: 16 bytes of that with the smallest
/// elements, so that others take several accesses, but no more than `most`.
ThreadVector chooseLongVector(linalg::LinalgOp op, unsigned loop,
                              OpFoldResult extent, int64_t most,
                              AlignmentAnalysis &alignment);

/// The most elements, of the `length` ones along `loop` from a multiple of
/// `length` on, that one access to `operand` of `op` can have; 1 if neighbours
/// do not lie together. The conditions of `assumed` hold.
int64_t getAccessLength(linalg::LinalgOp op, OpOperand &operand, unsigned loop,
                        int64_t length, const ThreadVector &assumed,
                        AlignmentAnalysis &alignment);

/// Whether the conditions of `vector`, one at least, hold.
Value createCheck(OpBuilder &builder, Location loc, const ThreadVector &vector);

/// Whether `length` elements of `memref`, at multiples of that along its rows,
/// are aligned.
bool isAlignedRow(Value memref, int64_t length, AlignmentAnalysis &alignment);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_THREADS_THREADVECTORS_H
