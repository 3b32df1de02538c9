//===- StagedResult.h - Who uses the result of a contraction ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction that keeps its sums in registers needs to know what its result
// buffer starts from and who reads it. `analyze` finds the fill before, the
// reads behind, and an operation that overwrites the result in place; these can
// work on registers, too. `redirect` then makes all of them use another buffer.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_STAGEDRESULT_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_STAGEDRESULT_H

#include "Transforms/Copies/MemoryAccesses.h"
#include "Transforms/Utils/BufferViews.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Analysis/ArgumentAliases.h"

namespace mlir::workgroup {

/// The uses of the buffer that a contraction adds to, so that it can be a
/// private one for as long as it adds.
class StagedResult {
public:
  /// The contraction writes to `view`, and `root` is all that there is of it in
  /// its block: a loop, or itself. In the loop, `updates` are outputs that
  /// overwrite the view, too.
  StagedResult(Value view, Operation *root, const ArgumentAliases &aliases,
               ArrayRef<OpOperand *> updates = {})
      : view(view), root(root), aliases(aliases), updates(updates) {}

  void analyze();

  /// Has all users use `buffer`, larger than the view if `isPadded`, which is
  /// made by `make` where it is first needed.
  Value redirect(RewriterBase &rewriter, bool isPadded,
                 function_ref<Value()> make);

  /// True if something fills the view before.
  bool isFilled() const { return init; }

  /// True if a constant fills the view before, and others find in it afterwards
  /// what the contraction, or an operation in place, puts there.
  bool isKept() const;

  /// Has what fills the view, and the contraction, use the buffer that `make`
  /// makes, and copies it to `tile`, which begins with the view, afterwards.
  Value redirectTo(RewriterBase &rewriter, Value tile,
                   function_ref<Value()> make);

private:
  bool mayTouch(Operation *op) const {
    return workgroup::mayTouch(op, view, aliases);
  }
  bool isWhole(OpOperand &use) const { return isSameView(use.get(), view); }
  void findInit();
  bool addSink(linalg::LinalgOp op);
  void findSinks();
  void replaceInPlace(RewriterBase &rewriter, Value part);
  void redirectUpdates(RewriterBase &rewriter, Value part);

  Value view;
  Operation *root;
  const ArgumentAliases &aliases;
  SmallVector<OpOperand *> updates;

  /// The operand that fills the view before; null if the view holds what was
  /// there.
  OpOperand *init = nullptr;
  /// Reads behind of all elements in order.
  SmallVector<OpOperand *> reads;
  /// The operation that then overwrites the view, element by element; null if
  /// there is none.
  linalg::GenericOp inPlace;
  /// True if others use the view.
  bool isNeeded = false;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_STAGEDRESULT_H
