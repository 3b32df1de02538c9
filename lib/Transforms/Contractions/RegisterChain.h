//===- RegisterChain.h - Contractions of what a warp has --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction multiplies what was made of the result of another one, row by
// row: attention does. If each warp has whole rows of both results, nothing of
// it need leave the registers. What a lane has of the first result is what it
// needs of a factor of the second product; what rows are reduced to, the four
// lanes of a row have together.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_REGISTERCHAIN_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_REGISTERCHAIN_H

#include "MatrixForm.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::workgroup {

/// What a loop of an operation, or a dimension of a buffer, goes along: nothing
/// (it has one iteration), the rows, the columns of the first result, which are
/// the sums of the second one, or the columns of that.
enum class ChainDim { Single, Rows, Sums, Columns };

/// Two contractions in an iteration of a loop, and what is done with rows and
/// elements of their results.
struct RegisterChain {
  Contraction first, second;
  scf::ForOp loop;
  /// Buffers of the block, or of threads that all have the same, with their
  /// dimensions. They have one for each dimension of the first result, or of
  /// the second, or of their rows.
  llvm::MapVector<Value, SmallVector<ChainDim>> buffers = {};
  /// All that uses the buffers, in the order of the program: in the block of
  /// the loop, and in its body.
  SmallVector<Operation *> ops = {};
  llvm::SetVector<Operation *> views = {};
  MatrixForm ofFirst = {}, ofSecond = {};

  /// The buffer that `view` is the first elements of; null if it is of none.
  Value getBuffer(Value view) const;
  /// The dimension that each loop of `op` goes along; nothing for a loop of
  /// sums of the first contraction.
  SmallVector<std::optional<ChainDim>> getDims(linalg::LinalgOp op) const;
  /// The iterations along `dim`.
  int64_t getExtent(ChainDim dim) const;
  /// True if `buffer` has a number for each row.
  bool isOfRows(Value buffer) const;
};

/// How an operation of a chain is done.
enum class ChainRole {
  First,
  Second,
  /// Puts one number everywhere.
  Fill,
  Copy,
  /// Makes each element of a result's tile, or of its rows, of others.
  Elements,
  Rows,
  /// Reduces the elements of each row.
  Fold,
  /// Stores what it makes of the elements of a tile elsewhere.
  Sink,
  /// Stores what it makes of numbers of rows elsewhere.
  RowSink
};

/// The role of `op`; nothing if it has none.
std::optional<ChainRole> getRole(const RegisterChain &chain, Operation *op);

/// The operand of `op` that has all of the tile which it is done on; null if it
/// is done on rows only.
OpOperand *findTile(const RegisterChain &chain, Operation *op);

/// The dimensions of that tile; none if there is none.
ArrayRef<ChainDim> getTileDims(const RegisterChain &chain, Operation *op);

/// What combines elements of a row in `op`, a fold: takes its result so far and
/// what is computed of an element.
Operation *getFoldCombiner(linalg::LinalgOp op);

/// The operand of `op` that has a factor for each row, if `op` multiplies its
/// result by that and does nothing else; null if not.
OpOperand *findRowFactor(const RegisterChain &chain, linalg::LinalgOp op);

/// True if `op` uses `buffer`.
bool usesBuffer(const RegisterChain &chain, Operation *op, Value buffer);

/// The chains in `root` that `numThreads` threads of `chip` can have in
/// registers. Their buffers are those of blocks in workgroup memory, before the
/// work of blocks is shared out, or the threads' own. `reportNone` is told of
/// contractions of what sums become that are the end of none, and why.
std::vector<RegisterChain> findRegisterChains(
    Operation *root, const Chip &chip, int64_t numThreads,
    function_ref<void(linalg::LinalgOp, StringRef)> reportNone = nullptr);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_REGISTERCHAIN_H
