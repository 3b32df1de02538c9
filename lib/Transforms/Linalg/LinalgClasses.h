//===- LinalgClasses.h - What kind of work an operation is ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations are told apart by their loops, maps and bodies, never by their
// names, which come and go between versions of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_LINALGCLASSES_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_LINALGCLASSES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::workgroup {

enum class LinalgClass {
  /// Reads no tensor: a fill, an iota.
  Generator,
  /// Parallel loops only.
  Elementwise,
  /// A sum, or the like, along some loops.
  Reduction,
  /// Products of two operands, summed up.
  Contraction,
  /// Reads at sums of loops: a convolution, a pooling.
  Window,
};

LinalgClass classify(linalg::LinalgOp op);

/// As names of kernels have it: `fill`, `elementwise`, `reduction`,
/// `contraction`, `window`.
StringRef getClassName(LinalgClass kind);

/// True if the body yields what it reads: a transposition, a broadcast.
bool isCopyLike(linalg::LinalgOp op);

/// True if an input of `op`, but for `left`, goes along each of its loops in
/// `loops`, as far as only the launch knows how long that is.
bool readsAlong(linalg::LinalgOp op, const llvm::SmallBitVector &loops,
                const OpOperand *left = nullptr);

/// True if only `operand` says how long a sum of its owner is: it cannot be
/// computed in the place where it is read.
bool isLengthOfSum(OpOperand &operand);

/// True if `op` has two operands, each of which is read again along a loop that
/// the other one goes along: as of a product of matrices, whatever it computes.
bool readsAgain(linalg::LinalgOp op);

/// True if `op` reads elements of its operands for several results: a product
/// of matrices, or a window.
bool isReadByTerms(linalg::LinalgOp op);

/// True if blocks that share out the loops of the users of `op` read tiles of
/// it, so that each can make its own.
bool isReadInTiles(linalg::LinalgOp op);

/// True if `op` works on tensors, and not in a kernel.
bool isTensorOp(linalg::LinalgOp op);

/// True for a loop without an iteration, which leaves what is there: a result
/// without elements, or one of an empty sum. A tile of it would be out of
/// bounds.
bool isEmpty(linalg::LinalgOp op);

/// `op` as an operation on tensors of the host; null if it is not one.
linalg::LinalgOp getTensorOp(Operation *op);

/// What a constant fill before `op` starts it from; null if it starts from
/// anything else.
TypedAttr getStart(linalg::LinalgOp op);

/// True if nothing needs what `op` makes: an assertion in the body of an
/// operation on tensors is for who reads its results.
bool isUnused(Operation *op);

/// Erases operations on tensors inside `root` that nothing needs.
void eraseUnusedOps(Operation *root);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_LINALGCLASSES_H
