//===- LoopForms.h - How often loops iterate --------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The iteration of a loop is an atom, counted from 0, and what bounds it is a
// condition: in each iteration i of `scf.for %j = %a to %b step %c`, j is a + c
// * i, and b - a - c * i - 1 is not negative. Loops that do not count have a
// test, which was passed in all iterations before.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_LOOPFORMS_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_LOOPFORMS_H

#include "AffineForms.h"
#include "Substitution.h"
#include "mlir/IR/Dominance.h"

namespace mlir::workgroup {

/// No loop has as many iterations, which would take weeks. So what starts near
/// zero and goes on by small steps stays far from the ends of 64 bits.
constexpr int64_t kMaxIterations = int64_t(1) << 50;
constexpr int64_t kMaxStep = int64_t(1) << 10;
constexpr int64_t kMaxStart = int64_t(1) << 60;

/// How near the end of a loop something in it is executed.
struct LoopEnd {
  const KernelLoop *loop = nullptr;
  /// How often it is executed from now on, this time included: at most.
  int64_t most = 1;
  /// What stands before the test of the loop is executed once more than what
  /// stands behind it.
  bool isBeforeTest = false;
  /// From when the loop is entered on, not from now on;
  bool isFromStart = false;
  /// and then as often more as this loop had iterations before.
  const KernelLoop *other = nullptr;
  /// More often than that.
  bool isNot = false;

  bool operator==(const LoopEnd &end) const {
    return loop == end.loop && most == end.most &&
           isBeforeTest == end.isBeforeTest && isFromStart == end.isFromStart &&
           other == end.other && isNot == end.isNot;
  }
};

/// The loops of one kernel.
class LoopForms {
public:
  LoopForms(FormAlgebra &algebra, ValueForms &values, AffineForms &affine,
            DominanceInfo &dominance)
      : algebra(algebra), values(values), affine(affine), dominance(dominance) {
  }

  /// The iteration of `loop`.
  SymbolicForm getIteration(const KernelLoop *loop);
  /// Where a loop that counts begins, how far it goes, and by which steps.
  struct Span {
    SymbolicForm lower, length, step;
  };
  std::optional<Span> getSpan(const KernelLoop *loop);
  /// How often a loop of that span iterates, which may be the same for threads
  /// with bounds of their own; nothing if its step may not be positive.
  std::optional<SymbolicForm> getTrips(const Span &span);
  /// How often `test` of `loop` holds before it fails for the first time, if
  /// that is known: once it fails, it does not hold again.
  std::optional<SymbolicForm> getTrips(const KernelLoop *loop,
                                       const SymbolicCondition &test);
  /// What `loop`, which counts, has got to; nothing if that is not known.
  std::optional<SymbolicForm> getCounter(const KernelLoop *loop);
  /// What decides how often `op`, a loop that counts, iterates.
  SmallVector<SymbolicForm> getDecisive(Operation *op);

  /// What holds in each iteration of `loop`: the number of iterations.
  SymbolicCondition getBounds(const KernelLoop *loop);
  /// When the test of `loop` was passed in all iterations before this one.
  SymbolicCondition getReached(const KernelLoop *loop);
  /// What holds where a loop is as near its end as `end` says, as far as that
  /// is known.
  std::optional<SymbolicCondition> getCondition(const LoopEnd &end);

  /// True if how often `loop` iterates is the same for all threads, at any
  /// time.
  bool isSteady(const KernelLoop *loop);
  /// How many iterations `loop` has, if that is always the same.
  std::optional<int64_t> getNumIterations(const KernelLoop *loop);
  /// True if `loop` has an iteration whenever it is reached.
  bool hasIteration(const KernelLoop *loop);

private:
  std::optional<SymbolicForm> getUnsignedCounter(const KernelLoop *loop);
  std::optional<int64_t> countShifts(const KernelLoop *loop,
                                     const SymbolicCondition &test);
  std::optional<SymbolicCondition> getTest(const KernelLoop *loop);
  std::optional<SymbolicCondition>
  getFailure(const KernelLoop *loop, const SymbolicForm &first, int64_t count);

  FormAlgebra &algebra;
  ValueForms &values;
  AffineForms &affine;
  DominanceInfo &dominance;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_LOOPFORMS_H
