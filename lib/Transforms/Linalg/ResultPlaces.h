//===- ResultPlaces.h - Where operations write their results ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of loops writes a slice of a result if each of its dimensions is gone
// through by a loop of its own. A result may also be laid out in blocks: its
// index is a sum of loops, each of them in steps as long as those after it go
// together (i * 8 + j * 2 + k, j below 4, k below 2). It is a tensor with a
// dimension for each loop then, seen as one with fewer; and may be a part of
// the result, from an offset, in steps.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_RESULTPLACES_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_RESULTPLACES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::workgroup {

/// What loops write along one dimension of a result.
struct ResultPlace {
  /// In each of them, the ones behind go from begin to end; only the first one
  /// may have an extent that is not known.
  SmallVector<unsigned> loops;
  int64_t offset = 0;
  int64_t stride = 1;
  /// The whole dimension is written.
  bool isWhole = false;
};

/// The places along the dimensions of a result.
struct ResultPlaces {
  SmallVector<ResultPlace> dims;
  /// Loops that go along the result.
  llvm::SmallBitVector loops;

  bool isWhole() const;
  /// One loop for each dimension, or one element.
  bool isPlain() const;
};

/// Where `op` writes the result of which `init` is the start, if no element is
/// written by two iterations of these loops. If some may be, `why` says so.
std::optional<ResultPlaces> getResultPlaces(linalg::LinalgOp op,
                                            OpOperand &init,
                                            std::string *why = nullptr);

/// Says what is wrong if an element of a result of `op` is written in no order:
/// by several iterations of parallel loops.
LogicalResult checkResultMaps(linalg::LinalgOp op);

/// True if `op` leaves nothing of what `init`, the start of a result, had.
bool isWrittenWhole(linalg::LinalgOp op, OpOperand &init);

/// Makes one dimension for each loop of what `op`, on tensors, writes along one
/// dimension, and a result of its own of what it writes a part of.
void layOutResults(RewriterBase &rewriter, linalg::GenericOp op);

/// Makes operations of their own of results of `op`, on tensors, that do not go
/// along the same loops: of the elements of a row, and of their sum.
void separateResults(RewriterBase &rewriter, linalg::GenericOp op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_RESULTPLACES_H
