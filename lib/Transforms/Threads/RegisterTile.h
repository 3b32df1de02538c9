//===- RegisterTile.h - What a thread sums up at once -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A box of neighbouring iterations of a reduction on buffers, the sums of which
// a thread holds in registers. Each element is loaded once for the whole box,
// by the widest accesses along whatever loop its memory lies along, and each
// operation of the body is done once for all iterations that it is the same
// for.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_THREADS_REGISTERTILE_H
#define WORKGROUP_LIB_TRANSFORMS_THREADS_REGISTERTILE_H

#include "PointEmitter.h"
#include "ThreadVectors.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::workgroup {

/// Starts from boxes of `lengths` along the loops of `op`, and returns larger
/// ones, up to `limits`, for which a thread reads fewer bytes for each
/// iteration and still has registers.
SmallVector<int64_t> growTile(linalg::LinalgOp op, ArrayRef<int64_t> lengths,
                              ArrayRef<int64_t> limits);

/// The accesses that reading the inputs of a box of `lengths` takes, of 16
/// bytes where they are as long.
int64_t countTileLoads(linalg::LinalgOp op, ArrayRef<int64_t> lengths);

class RegisterTile {
public:
  /// The conditions of `assumed` hold.
  RegisterTile(OpBuilder &builder, linalg::LinalgOp op,
               const ThreadVector &assumed, AlignmentAnalysis &alignment);

  /// Loop `loop` has `length` iterations from `first` on, which is a multiple
  /// of `length`. With `last`, iterations behind it are iteration `last`.
  void setLoop(unsigned loop, Value first, int64_t length = 1,
               Value last = nullptr);

  /// Of buffers in private memory, the first iteration of `loop` is element
  /// `element`.
  void setPrivate(unsigned loop, int64_t element) {
    privateLoop = loop;
    privateElement = element;
  }

  /// What the body makes of `sums`, which has a value of each result for each
  /// point of the loops that are shared out, the last one fastest.
  LaneValues emit(const LaneValues &sums);

private:
  /// A loop of the box.
  struct Side {
    Value first, last;
    int64_t length = 1;
    SmallVector<Value> values; // of the iterations
  };
  using Lane = SmallVector<int64_t>;

  void findLoops();
  Value getLoop(unsigned loop, int64_t offset);
  bool isPrivate(OpOperand &operand) const;
  SmallVector<Value> getIndices(OpOperand &operand, const Lane &lane);
  Value &find(Value ofBody, const Lane &lane);
  Value load(BlockArgument argument, const Lane &lane);
  void loadVector(OpOperand &operand, unsigned loop, int64_t length,
                  const Lane &lane);
  unsigned findVectorLoop(OpOperand &operand);
  void emitPoint(const Lane &lane, LaneValues &sums, size_t point);
  void evaluate(Operation *inner, const Lane &lane, IRMapping &mapping);
  Operation *clone(Operation *inner, const Lane &lane, IRMapping &mapping);
  Location getLoc() { return op.getLoc(); }

  OpBuilder &builder;
  linalg::LinalgOp op;
  const ThreadVector &assumed;
  AlignmentAnalysis &alignment;
  SmallVector<unsigned> shared;
  SmallVector<Side> sides;
  std::optional<int64_t> privateElement;
  unsigned privateLoop = 0;
  /// The loops that a value of the body depends on.
  DenseMap<Value, llvm::SmallBitVector> loopsOf;
  /// The values that are made once for several points, for each combination of
  /// offsets along their loops.
  DenseMap<Value, SmallVector<Value>> known;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_THREADS_REGISTERTILE_H
