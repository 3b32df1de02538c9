//===- CarriedResult.h - Results that go through a loop ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction in a loop may go on adding to a result that, in each iteration,
// is updated element by element first: attention scales the sums so far when a
// larger score turns up. Its sums can stay in registers through the loop, and
// so can the updates.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CARRIEDRESULT_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CARRIEDRESULT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "workgroup/Analysis/ArgumentAliases.h"

namespace mlir::workgroup {

/// True if `op` changes each element of what `isResult` holds for, its one
/// output, by that element and others that correspond to it, and reads the
/// result nowhere else.
bool isUpdate(Operation *op, llvm::function_ref<bool(Value)> isResult);

/// The loops that a result goes through.
struct CarriedResult {
  /// The outermost of them, or the one over the sums, or the contraction.
  Operation *root;
  /// Outputs of the operations that change the result in between.
  SmallVector<OpOperand *> updates;
};

/// Finds the loops around `root` that do nothing to `result` but to go on with
/// `root`, all that there is of the contraction in its block, and updates
/// before it.
CarriedResult findCarriedResult(Operation *root, Value result,
                                const ArgumentAliases &aliases);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CARRIEDRESULT_H
