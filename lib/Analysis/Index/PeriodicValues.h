//===- PeriodicValues.h - Arithmetic on numbers of iterations ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What follows from the number of the iteration of a loop by constants alone,
// such as `iteration mod 3` or `iteration / 3 mod 2`, for all iterations there
// may be: for each residue of the iteration, as a linear function of how often
// it came before. Of what the loop carries, that it goes on like that is proved
// by induction.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_PERIODICVALUES_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_PERIODICVALUES_H

#include "IterationValues.h"
#include "mlir/IR/AffineExpr.h"
#include <optional>

namespace mlir::workgroup {

/// In iteration `period * k + r`, where `period` is the size of `at`, it is
/// `slope * k + at[r]`. Booleans are 0 or 1.
struct PeriodicValue {
  int64_t slope = 0;
  SmallVector<int64_t> at;

  bool isPeriodic() const { return slope == 0; }
  bool isNonNegative() const {
    return slope >= 0 &&
           llvm::all_of(at, [](int64_t value) { return value >= 0; });
  }
};

class PeriodicValues {
public:
  /// `loop`: an `scf.for` or a natural loop.
  PeriodicValues(const KernelLoop *loop, const KernelLoops &loops,
                 Operation *scope, int64_t period)
      : loop(loop), loops(loops), period(period),
        iterations(loop, loops, scope) {}

  /// `value`; nothing if it is anything else, or may overflow.
  std::optional<PeriodicValue> evaluate(Value value);

private:
  using Result = std::optional<PeriodicValue>;

  PeriodicValue make(function_ref<int64_t(int64_t)> get,
                     int64_t slope = 0) const;
  Result compute(Value value);
  Result evaluateCounter(scf::ForOp counted) const;
  Result evaluateCarried(BlockArgument argument);
  Result evaluateArith(Operation *op, const Result &lhs,
                       const Result &rhs) const;
  Result evaluateRepeated(Operation *op, const Result &lhs, const Result &rhs);
  Result evaluateOp(Operation *op);
  Result evaluateCast(Operation *op);
  Result evaluateExpr(AffineExpr expr, ValueRange operands, unsigned numDims);
  Result combine(AffineExprKind kind, const Result &lhs,
                 const Result &rhs) const;

  bool canWrap(Operation *op, const PeriodicValue &value) const;
  bool isTestedCount(Operation *op) const;

  const KernelLoop *loop;
  const KernelLoops &loops;
  int64_t period;
  IterationValues iterations;
  DenseMap<Value, Result> known;
  /// Something was assumed that is not so: nothing is known.
  bool isWrong = false;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_PERIODICVALUES_H
