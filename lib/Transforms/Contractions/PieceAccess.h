//===- PieceAccess.h - Accesses beside a result -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations that start a contraction off, or follow it, are element-wise: what
// they read and write of other buffers corresponds to the elements of the
// result that a thread has. It is loaded and stored piece by piece, where a
// piece is some neighbouring columns of one row: `bias[j .. j + 3]` for `sum[i,
// j .. j + 3]`.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_PIECEACCESS_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_PIECEACCESS_H

#include "ContractionPart.h"

namespace mlir::workgroup {

/// An operation on each element of the result: a generic or a copy.
struct Pointwise {
  /// `accumulator` is what `op` reads the result from, or writes it to.
  Pointwise(Operation *op, OpOperand *accumulator);

  AffineMap getMap(OpOperand *operand) const;
  /// The loop of `contraction` that goes along `dim` of the accumulator, of
  /// which an operation's loop with the number `dim` of its own is.
  unsigned getLoop(Contraction &contraction, unsigned dim) const;

  Operation *op;
  OpOperand *accumulator;
  SmallVector<OpOperand *> inputs, outputs;
  /// Null for a copy.
  Block *body = nullptr;
};

/// Neighbouring elements of the thread's part of the result: those that `mask`
/// has, all if it is null.
struct Piece {
  int64_t row, column, length;
  Value mask;
};

/// Loads of bias and the like, that several pieces share.
using PieceCache =
    DenseMap<std::pair<OpOperand *, std::pair<int64_t, int64_t>>, Value>;

/// Emits the loads and stores of `op` for pieces of a thread's part.
class PieceAccess {
public:
  PieceAccess(ContractionPart &part, const Pointwise &op)
      : part(part), op(op), contraction(part.contraction), tile(part.tile),
        rewriter(part.rewriter), loc(part.loc), index(part.index) {}

  /// True if neighbouring columns are neighbours in the memory of `operand`.
  bool isContiguous(OpOperand *operand) const;
  /// The alignment in bytes, up to that of the widest access, of all runs of
  /// columns in `operand`, which has them contiguous.
  int64_t getRunAlignment(OpOperand *operand) const {
    return getRunAlignment(operand, tile.columnRun);
  }
  /// The same of every `length` columns.
  int64_t getRunAlignment(OpOperand *operand, int64_t length) const;
  /// True if `operand` has an element for each of the result.
  bool isOfElement(OpOperand *operand) const {
    return isAlong(operand, contraction.rows) &&
           isAlong(operand, contraction.columns);
  }
  /// True if of a run of columns, those that are there can be taken at once.
  bool canMask() const;

  /// What `piece` is of `operand`; one element if all are the same. With a
  /// `cache`, once for all pieces that are the same of `operand`.
  Value load(OpOperand *operand, const Piece &piece, PieceCache *cache);
  void store(OpOperand *operand, Value value, const Piece &piece);

private:
  unsigned getLoop(unsigned dim) const { return op.getLoop(contraction, dim); }
  SmallVector<Value> getIndices(OpOperand *operand, int64_t row,
                                int64_t column);
  bool isAlong(OpOperand *operand, const LoopGroup &group) const;
  Value emitLoad(OpOperand *operand, const Piece &piece);

  ContractionPart &part;
  const Pointwise &op;
  Contraction &contraction;
  const ThreadTile &tile;
  RewriterBase &rewriter;
  const Location loc;
  IndexBuilder &index;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_PIECEACCESS_H
