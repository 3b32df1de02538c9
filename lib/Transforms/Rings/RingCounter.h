//===- RingCounter.h - Values that never start again ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The slot that a loop uses first is the one after the last that it used
// before, should it be entered several times. So a counter is handed on from
// the kernel's entry through everything around the loop.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_RINGS_RINGCOUNTER_H
#define WORKGROUP_LIB_TRANSFORMS_RINGS_RINGCOUNTER_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Values that are made at a kernel's entry, change in one loop only, and keep
/// what they are in between.
class RingCounter {
public:
  /// True if all that is around `loop` in its kernel are loops and branches
  /// that values can be handed through.
  static bool canReach(Operation *loop);

  /// Hands `initial`, defined at the kernel's entry, on to `loop`, which
  /// `canReach`. Everything around the loop is replaced, what is in it is kept.
  RingCounter(RewriterBase &rewriter, Operation *loop, ValueRange initial);

  /// The values of the counters when the loop is entered.
  ValueRange getValues() const { return values; }

  /// Has `loop`, which may be replaced, carry the counters as its last values.
  /// Returns them as they are in an iteration.
  SmallVector<Value> carryInto(scf::ForOp &loop);

  /// Has `loop`, which carries the counters, go on with `next` of them.
  void stepTo(ValueRange next, scf::ForOp loop);

  /// Hands on `results`, what the counters are after the loop. `inner` is what
  /// the loop is now.
  void handOn(Operation *inner, ValueRange results);

  /// The outermost operation around the loop, or `inner` if there is none.
  Operation *getOutermost(Operation *inner) const {
    return around.empty() ? inner : around.front();
  }

private:
  RewriterBase &rewriter;
  /// Outermost first.
  SmallVector<Operation *> around;
  SmallVector<Value> values;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_RINGS_RINGCOUNTER_H
