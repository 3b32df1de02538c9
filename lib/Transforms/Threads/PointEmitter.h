//===- PointEmitter.h - Points of structured operations ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a thread computes of a structured operation on buffers: the results at
// one point of the loops that are shared out, or at several neighbours along
// one of them, which are loaded and stored together where they lie together.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_THREADS_POINTEMITTER_H
#define WORKGROUP_LIB_TRANSFORMS_THREADS_POINTEMITTER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::workgroup {

/// The loops of `op` of which each iteration writes elements of its own, in the
/// order of the first result, the fastest last.
SmallVector<unsigned> getSharedLoops(linalg::LinalgOp op);

/// The distance of the elements of an operand that neighbours along a loop
/// access.
enum class LaneAccess { Same, Contiguous, Scattered };

LaneAccess getLaneAccess(linalg::LinalgOp op, OpOperand &operand,
                         unsigned loop);

/// Values of several points, one after the other.
using LaneValues = SmallVector<SmallVector<Value>>;

class PointEmitter {
public:
  /// Emits for `length` points at a time along loop `vectorLoop` of `op`, the
  /// extents of which are `extents`.
  PointEmitter(OpBuilder &builder, linalg::LinalgOp op,
               ArrayRef<OpFoldResult> extents, unsigned vectorLoop = 0,
               int64_t length = 1)
      : builder(builder), op(op), extents(extents), vectorLoop(vectorLoop),
        length(length), ivs(op.getNumLoops()), starts(op.getNumDpsInits()) {}

  /// The value of a loop; for `vectorLoop`, that of the first point.
  void setLoop(unsigned loop, Value value) { ivs[loop] = value; }

  /// Makes result `number` start from `value` instead of what is in memory.
  void setInit(unsigned number, Value value) { starts[number] = value; }

  /// Of buffers in private memory, the first point is element `element` along
  /// the vector.
  void setPrivate(int64_t element) { privateElement = element; }

  /// Goes through all loops without a value, from the results so far, and
  /// stores what comes out.
  void emit();

  /// The values that the body makes of `results` at each of the points.
  LaneValues emitBody(const LaneValues &results);
  LaneValues emitIteration(const LaneValues &results);
  bool isCarried(unsigned number);

  /// The value that the result `number` starts from, at the first point.
  Value getStart(unsigned number);
  /// Stores result `number` of the first point.
  void storeResult(unsigned number, Value value);

private:
  SmallVector<Value> getIndices(OpOperand &operand, int64_t lane);
  bool isPrivate(OpOperand &operand) const;
  Value getLoop(unsigned loop, int64_t lane);
  SmallVector<Value> load(OpOperand &operand);
  LaneValues loadInputs();
  void store(OpOperand &operand, ArrayRef<Value> values);
  LaneValues emitLoops(ArrayRef<unsigned> loops, const LaneValues &results);
  SmallVector<Value> cloneBody(ArrayRef<Value> arguments, int64_t lane);
  VectorType getVectorType(Type element) const;
  Location getLoc() { return op.getLoc(); }

  OpBuilder &builder;
  linalg::LinalgOp op;
  ArrayRef<OpFoldResult> extents;
  unsigned vectorLoop;
  int64_t length;
  SmallVector<Value> ivs;
  SmallVector<Value> starts;
  std::optional<int64_t> privateElement;
  /// Results that the loops without a value go along.
  SmallVector<bool> inner;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_THREADS_POINTEMITTER_H
