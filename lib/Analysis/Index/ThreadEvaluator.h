//===- ThreadEvaluator.h - Index arithmetic per thread ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes what an index is in each thread of a block of known shape, by doing
// the arithmetic. What banks or rows the threads of a warp address is then a
// matter of counting, for any arithmetic: remainders, shifts, exclusive or.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_THREADEVALUATOR_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_THREADEVALUATOR_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <functional>
#include <optional>

namespace mlir::workgroup {

/// An integer per evaluated thread, sign-extended from the width of its type.
using ThreadValues = SmallVector<int64_t, 0>;

/// Evaluates index arithmetic for threads of a block. Results are cached; an
/// instance must not outlive a change of the IR it has looked at.
class ThreadEvaluator {
public:
  /// Supplies values of what is no function of the thread alone: induction
  /// variables, ids of blocks, arguments. Nothing makes the value unknown.
  using Environment =
      std::function<std::optional<ThreadValues>(Value, ThreadEvaluator &)>;

  /// Evaluates all threads of the block of shape `shape` that `scope` is run
  /// by, in the order of linear ids.
  ThreadEvaluator(Operation *scope, std::array<int64_t, 3> shape);

  /// Evaluates the threads of the linear ids `threads` only.
  ThreadEvaluator(Operation *scope, std::array<int64_t, 3> shape,
                  ArrayRef<int64_t> threads, Environment environment);

  /// The values of `value`, an integer or index; null if they are not known.
  const ThreadValues *evaluate(Value value);

  /// The values of `index`, a constant or an integer; nothing if they are not
  /// known, or there is no index.
  std::optional<ThreadValues> evaluateMixed(OpFoldResult index);

  /// The ids of the thread of linear id `linear`.
  std::array<int64_t, 3> getIds(int64_t linear) const {
    return {linear % shape[0], linear / shape[0] % shape[1],
            linear / shape[0] / shape[1]};
  }

  /// The number of values that are held, each of as many integers as there are
  /// threads.
  size_t getNumCached() const { return values.size(); }

  /// The value `value` in every thread.
  ThreadValues splat(int64_t value) const {
    return ThreadValues(threads.size(), value);
  }

private:
  using Result = std::optional<ThreadValues>;

  Result compute(Value value);
  Result computeId(Value value);
  Result computeOp(Operation *op, unsigned result);
  Result computeCast(Operation *op);
  Result computeCompare(Operation *op);
  Result computeSelect(Operation *op);
  Result computeAffine(AffineMap map, ValueRange operands, bool isMin);
  Result computeExpr(AffineExpr expr, ValueRange operands, unsigned numDims);
  Result computeDelinearized(affine::AffineDelinearizeIndexOp op,
                             unsigned result);
  Result computeLinearized(affine::AffineLinearizeIndexOp op);
  Result fold(Operation *op, unsigned result);
  bool applyBinary(AffineExprKind kind, ThreadValues &lhs, AffineExpr rhs,
                   ValueRange operands, unsigned numDims);
  const ThreadValues *evaluateOperand(AffineExpr expr, ValueRange operands,
                                      unsigned numDims);
  Result generate(function_ref<int64_t(int64_t)> getValue) const;

  Operation *scope;
  std::array<int64_t, 3> shape;
  SmallVector<int64_t, 0> threads;
  Environment environment;
  unsigned depth = 0;
  // By pointer, so that what `evaluate` returns stays where it is.
  DenseMap<Value, std::unique_ptr<ThreadValues>> values;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_THREADEVALUATOR_H
