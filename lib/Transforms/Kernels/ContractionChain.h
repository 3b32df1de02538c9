//===- ContractionChain.h - Contractions of a result of another -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction may multiply what element-wise operations, and sums along rows,
// make of the result of another: attention is the softmax of a product times a
// matrix. A block can do both for some rows of the results, which it keeps in
// workgroup memory in between.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_CONTRACTIONCHAIN_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_CONTRACTIONCHAIN_H

#include "Transforms/Linalg/LinalgClasses.h"

namespace mlir::workgroup {

/// Two contractions, and the operations between them. No other operation uses
/// the results of the first one or of those between.
struct ContractionChain {
  using Loops = SmallVector<std::optional<unsigned>>;

  /// One of the operations before the second contraction. For each loop, the
  /// loop of that contraction that goes along the same rows.
  struct Link {
    linalg::LinalgOp op;
    Loops rows;
  };

  linalg::LinalgOp first, second;
  /// In the order of the program: the first contraction, and those between.
  SmallVector<Link> links;
  /// The loop of the second contraction, a row of the results of both, that is
  /// a loop of one factor only, in either contraction.
  unsigned row = 0;
  /// The loop along the columns of the first result, and that of its sums.
  unsigned firstColumn = 0, firstSum = 0;
  /// The loop along the columns of the second result, and that of its sums,
  /// which are the columns of the first.
  unsigned secondColumn = 0, secondSum = 0;
};

/// The chain that ends with `second`, a contraction on tensors; nothing if
/// there is none.
std::optional<ContractionChain> findChain(linalg::LinalgOp second);

/// The same of contractions without a loop of one factor only: vectors times
/// matrices. The chain has no `row`.
std::optional<ContractionChain> findRowlessChain(linalg::LinalgOp second);

/// The operand of `op`, an element-wise operation, that it can put its result
/// in the place of: what makes it is of those that are kept, and nothing reads
/// it afterwards. Null if there is none.
OpOperand *findReplaced(linalg::LinalgOp op,
                        function_ref<bool(Operation *)> isKept);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_CONTRACTIONCHAIN_H
