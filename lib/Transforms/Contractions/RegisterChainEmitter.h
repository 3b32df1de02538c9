//===- RegisterChainEmitter.h - What a warp does with rows ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers a chain to what each thread does, with the threads' buffers as
// registers: vectors of two neighbouring elements for tiles, and for rows the
// same number in each of the four lanes that share a row.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_REGISTERCHAINEMITTER_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_REGISTERCHAINEMITTER_H

#include "MatrixProductEmitter.h"
#include "PointwiseEmitter.h"
#include "RegisterChain.h"

namespace mlir::workgroup {

/// Emits what a thread does of a chain, in place of the chain.
class RegisterChainEmitter {
public:
  RegisterChainEmitter(RegisterChain &chain, const Sharers &sharers,
                       RewriterBase &rewriter, AlignmentAnalysis &alignment)
      : chain(chain), sharers(sharers), rewriter(rewriter),
        alignment(alignment) {}

  void run();

private:
  /// What is emitted with the indices of one of the two results.
  struct Result {
    Result(Contraction &contraction, const MatrixForm &form,
           const Sharers &sharers, RewriterBase &rewriter,
           AlignmentAnalysis &alignment, bool loadsAhead)
        : part(contraction, form.tile, sharers, rewriter, alignment),
          products(part, form, loadsAhead) {}

    ContractionPart part;
    MatrixProductEmitter products;
  };

  Result &getResult(Operation *op);
  Value getRegister(OpOperand *operand, const Piece &piece,
                    const ThreadTile &tile);
  PointwiseEmitter::Registers getRegisters(const ThreadTile &tile);
  SmallVector<Value> fill(linalg::LinalgOp op);
  SmallVector<Value> makeElements(linalg::LinalgOp op);
  SmallVector<linalg::LinalgOp> findScalings(linalg::LinalgOp first) const;
  Value differsFromOne(Value factors);
  void scale(ArrayRef<linalg::LinalgOp> ops);
  Value makeRow(linalg::LinalgOp op, int64_t row, IRMapping &mapping);
  SmallVector<Value> makeRows(linalg::LinalgOp op);
  Value reduceLanes(linalg::LinalgOp op, Value value);
  Value combine(linalg::LinalgOp op, Value lhs, Value rhs);
  Value foldRow(linalg::LinalgOp op, int64_t row, Value start,
                PieceCache &cache);
  SmallVector<Value> fold(linalg::LinalgOp op);
  SmallVector<Value> multiply(Operation *op);
  void sink(Operation *op);
  void storeRow(Operation *op, int64_t row);
  void sinkRows(Operation *op);
  void emit(Operation *op);
  void enter();
  void leave();
  void erase();

  RegisterChain &chain;
  const Sharers sharers;
  RewriterBase &rewriter;
  AlignmentAnalysis &alignment;
  std::optional<Result> first, second;
  /// What a thread has of each buffer.
  DenseMap<Value, SmallVector<Value>> registers;
  /// The buffers that the loop carries.
  SmallVector<Value> carried;
  /// Of these, sums that lanes put together behind the loop, and what adds up.
  DenseMap<Value, Operation *> partial;
  /// What buffers of rows are exponentials of.
  DenseMap<Value, SmallVector<Value>> exponents;
  /// Operations that were done with others.
  DenseSet<Operation *> done;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_REGISTERCHAINEMITTER_H
