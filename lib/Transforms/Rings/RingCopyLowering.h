//===- RingCopyLowering.h - Rings that threads fill -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads of a block copy, by cp.async or through registers. One barrier in
// each iteration does for both hazards: all threads have waited for their part
// of the slot that is read next, and all have read the slot that is filled
// next.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_RINGS_RINGCOPYLOWERING_H
#define WORKGROUP_LIB_TRANSFORMS_RINGS_RINGCOPYLOWERING_H

#include "RingLowering.h"

namespace mlir::workgroup {

/// A ring that the threads which read it fill.
class RingCopyLowering : public RingLowering {
public:
  RingCopyLowering(Ring &ring, Operation *root,
                   const LowerRingsOptions &options, bool mayBeAsync,
                   RewriterBase &rewriter);

  /// The copies of an iteration are done in it.
  void lowerInPlace();
  /// True if cp.async does any of the copies. To be asked before `lowerAhead`.
  bool decideAsync();
  /// The copies of an iteration are started in earlier ones.
  void lowerAhead();

private:
  void emit(const Copy &copy);
  void copyIteration(ArrayRef<Operation *> ops, std::optional<Value> condition,
                     Value iteration, OpFoldResult slot);
  bool stageCopy(Operation *op, Value condition, Value later,
                 OpFoldResult slot);
  void startIteration(Value condition, int64_t distance, OpFoldResult slot);
  Operation *findPlaceOfCopies();
  void closeGroup();
  void waitForGroups(int64_t numPending);
  SmallVector<Value> lowerIteration(Value written, Value read);

  AlignmentAnalysis alignment;
  /// Copies that cp.async does, whole or in part.
  DenseSet<Operation *> asyncCopies;
  /// Whether any copy that was emitted is asynchronous.
  bool isAsync = false;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_RINGS_RINGCOPYLOWERING_H
