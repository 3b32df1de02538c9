//===- KeptRows.h - Rows that threads have in registers ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block that makes several passes over a row of constant length can let each
// thread do the same elements in each of them:
//
//   thread t, part p     has the elements (p * T + t) * V up to the next V
//
// What the block has of the row, a copy or what it computes, then needs no
// workgroup memory and no barrier: each thread has its part in registers.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_THREADS_KEPTROWS_H
#define WORKGROUP_LIB_TRANSFORMS_THREADS_KEPTROWS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Analysis/Alignment.h"

namespace mlir::workgroup {

class KeptRows {
public:
  /// Moves rows of the block `loop`, of `threads`, to private memory
  /// (`#gpu.address_space<private>`), of which each thread has its parts.
  static KeptRows keep(RewriterBase &rewriter, scf::ForallOp loop,
                       int64_t threads, AlignmentAnalysis &alignment);

  /// Whether `buffer` is what a thread has of a row.
  bool contains(Value buffer) const { return buffers.contains(buffer); }
  /// Whether `op` is on such rows.
  bool isOn(Operation *op) const;

  /// The loop of `op` along the rows.
  static unsigned findLoop(linalg::LinalgOp op, OpOperand &row);
  unsigned findLoop(linalg::LinalgOp op) const;

  /// Elements of a row; those of a part; parts of a thread.
  int64_t getExtent() const { return extent; }
  int64_t getLength() const { return length; }
  int64_t getNumParts() const { return parts; }

private:
  bool takeRows(scf::ForallOp loop, int64_t threads);
  bool checkUsers(int64_t threads, AlignmentAnalysis &alignment);
  bool check(linalg::LinalgOp op, int64_t threads,
             AlignmentAnalysis &alignment) const;
  bool checkCopy(memref::CopyOp op, AlignmentAnalysis &alignment) const;
  int64_t getWidestBytes() const;

  llvm::SmallSetVector<Value, 4> buffers;
  int64_t extent = 0, length = 0, parts = 0;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_THREADS_KEPTROWS_H
