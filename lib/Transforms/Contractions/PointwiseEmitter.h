//===- PointwiseEmitter.h - What is around the products ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations on each element of a result that is in registers: where it starts
// from, and what is computed of it and stored. Whole tiles go by vectors,
// ragged ones by elements that are there.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_POINTWISEEMITTER_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_POINTWISEEMITTER_H

#include "PieceAccess.h"
#include "TileLimits.h"

namespace mlir::workgroup {

class StoreRing;

/// Emits what a thread does with its part of the result before the products are
/// added, and after that.
class PointwiseEmitter {
public:
  /// What a thread has in registers of an operand for a piece: an element or a
  /// vector; null if the operand is in memory.
  using Registers = std::function<Value(OpOperand *, const Piece &)>;

  /// With `mayExchange`, a lane may write what another one has of the result.
  PointwiseEmitter(ContractionPart &part, bool mayExchange,
                   Registers registers = {})
      : part(part), tile(part.tile), rewriter(part.rewriter), loc(part.loc),
        index(part.index), mayExchange(mayExchange),
        registers(std::move(registers)) {}

  /// The result as `value` everywhere.
  SmallVector<Value> fill(Value value);
  /// The result as `init` makes it.
  SmallVector<Value> initialize(const Pointwise &init) {
    return make(init, {});
  }
  /// The result as `update` changes it, which is `sums` before.
  SmallVector<Value> update(const Pointwise &update, ValueRange sums) {
    return make(update, sums);
  }
  /// Does `sink` on the result. TMA stores what `slots`, if given, contain.
  void finish(const Pointwise &sink, ValueRange sums,
              StoreRing *slots = nullptr);

  /// What `op` makes of `sum`, its accumulator: one result for each output,
  /// vectors, or scalars where all elements are the same.
  SmallVector<Value> compute(const Pointwise &op, Value sum, const Piece &piece,
                             PieceCache *cache);
  /// What `piece` has of `value`, in the body of `op`.
  Value computeValue(const Pointwise &op, Value value, const Piece &piece,
                     PieceCache *cache);

private:
  IRMapping readAll(const Pointwise &op, Value sum, const Piece &piece,
                    PieceCache *cache);
  SmallVector<Value> computeAll(const Pointwise &op, ValueRange values,
                                IRMapping arguments, const Piece &piece);
  SmallVector<Value> computeElements(const Pointwise &op, ValueRange values,
                                     const IRMapping &arguments,
                                     const Piece &piece);
  void emitIf(Value condition, function_ref<void()> body);
  Value makeOrZero(Value condition, Type type, function_ref<Value()> make);
  SmallVector<Value> make(const Pointwise &op, ValueRange sums);
  Value makePart(const Pointwise &op, Value sum, int64_t row, int64_t column,
                 const TileLimits &limits);
  void finishPiece(const Pointwise &sink, Value sum, const Piece &piece,
                   PieceCache *cache);
  void finishWhole(const Pointwise &sink, ValueRange sums);
  void finishBySlots(const Pointwise &sink, ValueRange sums, StoreRing &slots);
  Value select(Value vector, Value number);
  void forEachColumn(int64_t column, const TileLimits &limits,
                     function_ref<void(Value)> body);
  void finishPart(const Pointwise &sink, ValueRange sums,
                  const TileLimits &limits, bool isMasked);

  ContractionPart &part;
  const ThreadTile &tile;
  RewriterBase &rewriter;
  const Location loc;
  IndexBuilder &index;
  const bool mayExchange;
  Registers registers;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_POINTWISEEMITTER_H
