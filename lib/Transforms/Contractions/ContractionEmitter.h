//===- ContractionEmitter.h - What a thread multiplies ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread holds `rows` x `columns` elements of the result in registers. Its
// rows come in runs of neighbours, and so do its columns; between two runs are
// those of all other threads, so that the threads of a warp read neighbouring
// vectors.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CONTRACTIONEMITTER_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CONTRACTIONEMITTER_H

#include "ContractionShape.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Analysis/Alignment.h"

namespace mlir::workgroup {

/// What of a tile each thread computes.
struct ThreadTile {
  int64_t rows = 1, columns = 1;
  /// Neighbours in a run: the columns are one vector.
  int64_t rowRun = 1, columnRun = 1;
  /// Along rows and along columns.
  int64_t numThreads[2] = {1, 1};

  int64_t getNumThreads() const { return numThreads[0] * numThreads[1]; }
  int64_t getNumRuns() const { return columns / columnRun; }
  /// The number of vectors that hold the thread's part of the result.
  int64_t getNumVectors() const { return rows * getNumRuns(); }
  /// The least row, or column, of those of a thread whose first is 0.
  int64_t getRow(int64_t i) const {
    return i / rowRun * numThreads[0] * rowRun + i % rowRun;
  }
  int64_t getColumn(int64_t j) const {
    return j / columnRun * numThreads[1] * columnRun + j % columnRun;
  }
};

/// The most bytes of one access of a thread.
constexpr int64_t kMaxAccessBytes = 16;

/// The largest power of two that divides `number`, up to `limit`.
int64_t getRun(int64_t number, int64_t limit);

/// Sets `tile` to the best tile of a thread if `numThreads` of them share
/// `contraction`. Returns the reason why there is none, or empty.
std::string chooseThreadTile(Contraction &contraction, int64_t numThreads,
                             ThreadTile &tile);

/// An operation on each element of the result: a generic or a copy.
struct Pointwise {
  /// `accumulator` is what `op` reads the result from, or writes it to.
  Pointwise(Operation *op, OpOperand *accumulator);

  AffineMap getMap(OpOperand *operand) const;

  Operation *op;
  OpOperand *accumulator;
  SmallVector<OpOperand *> inputs, outputs;
  /// Null for a copy.
  Block *body = nullptr;
};

class ContractionEmitter {
public:
  ContractionEmitter(Contraction &contraction, const ThreadTile &tile,
                     int64_t numThreads, RewriterBase &rewriter,
                     AlignmentAnalysis &alignment)
      : contraction(contraction), tile(tile), numThreads(numThreads),
        rewriter(rewriter), alignment(alignment), loc(contraction.op.getLoc()),
        index{rewriter, loc} {}

  /// Computes, where the rewriter stands, what dominates all the rest.
  void prepare();

  /// The result as `value` everywhere.
  SmallVector<Value> fill(Value value);
  /// The result as `init` makes it.
  SmallVector<Value> initialize(const Pointwise &init);
  /// The result `sums` with the products of the tile's operands added.
  SmallVector<Value> multiply(ValueRange sums);
  /// Does `sink` on the result.
  void finish(const Pointwise &sink, ValueRange sums);

private:
  // Indices.
  SmallVector<OpFoldResult> split(OpFoldResult linear, const LoopGroup &group);
  void splitThreadId();
  OpFoldResult getIndex(unsigned loop, int64_t row, int64_t column);

  // Products.
  struct Factor;
  void splitBody();
  int64_t getLength(const Factor &factor, unsigned loop, int64_t limit);
  Factor makeFactor(OpOperand *operand, const LoopGroup &group, int64_t run);
  SmallVector<Value> getIndices(const Factor &factor, int64_t at, int64_t k);
  Value load(const Factor &factor, int64_t at, int64_t k, int64_t length);
  Value getElement(Factor &factor, int64_t at, int64_t k);
  Value getVector(Factor &factor, int64_t at, int64_t k);
  int64_t getUnrolling();
  SmallVector<Value> multiplySteps(ValueRange sums, Value first,
                                   int64_t numSteps);

  // Bodies on vectors.
  Value widen(Value value, int64_t length);
  void apply(Operation &op, IRMapping &mapping, int64_t length);
  Value fuse(IRMapping &mapping, Value sum);

  // Operations on the result.
  struct Limit {
    unsigned loop;
    OpFoldResult size;
    bool isRow;
  };
  /// Neighbouring elements of the thread's part of the result: those that
  /// `mask` has, all if it is null.
  struct Piece {
    int64_t row, column, length;
    Value mask;
  };
  /// Loads of bias and the like, that several pieces share.
  using Cache =
      DenseMap<std::pair<OpOperand *, std::pair<int64_t, int64_t>>, Value>;
  unsigned getLoop(const Pointwise &op, unsigned dim) const;
  SmallVector<Limit> getLimits(const Pointwise &op);
  Value isWhole(ArrayRef<Limit> limits);
  Value isInside(ArrayRef<Limit> limits, bool ofRows, int64_t at);
  SmallVector<Value> getPlace(const Pointwise &op, OpOperand *operand,
                              int64_t row, int64_t column);
  bool isAlong(const Pointwise &op, OpOperand *operand, const LoopGroup &group);
  bool isContiguous(const Pointwise &op, OpOperand *operand);
  int64_t getRunAlignment(OpOperand *operand);
  bool canMask(const Pointwise &op);
  Value load(const Pointwise &op, OpOperand *operand, const Piece &piece);
  Value loadShared(const Pointwise &op, OpOperand *operand, const Piece &piece,
                   Cache *cache);
  void store(const Pointwise &op, OpOperand *operand, Value value,
             const Piece &piece);
  SmallVector<Value> compute(const Pointwise &op, Value sum, const Piece &piece,
                             Cache *cache);
  Value makeOrZero(Value condition, Type type, function_ref<Value()> make);
  Value makeMask(ArrayRef<Limit> limits, int64_t column);
  Value initializePart(const Pointwise &init, int64_t row, int64_t column,
                       ArrayRef<Limit> limits);
  void finishPiece(const Pointwise &sink, Value sum, const Piece &piece,
                   Cache *cache);
  void finishWhole(const Pointwise &sink, ValueRange sums);
  Value select(Value vector, Value number);
  void forEachColumn(int64_t column, ArrayRef<Limit> limits,
                     function_ref<void(Value)> body);
  void finishPart(const Pointwise &sink, ValueRange sums,
                  ArrayRef<Limit> limits, bool isMasked);
  void emitIf(Value condition, function_ref<void()> body);

  Type getElementType() {
    return getElementTypeOrSelf(contraction.getResult()->get());
  }
  VectorType getVectorType() {
    return VectorType::get({tile.columnRun}, getElementType());
  }

  Contraction &contraction;
  const ThreadTile tile;
  int64_t numThreads;
  RewriterBase &rewriter;
  AlignmentAnalysis &alignment;
  Location loc;
  IndexBuilder index;

  /// The number of the thread among those that have a part.
  OpFoldResult thread;
  /// Of each row and column of the thread, the index of each loop.
  SmallVector<SmallVector<OpFoldResult>> rowIndices, columnIndices;

  /// What the body does with one operand only, and with both.
  SmallVector<Operation *> ofLhs, ofRhs, ofBoth;
  /// Values of the body that are the same for all elements.
  IRMapping constants;
  /// The first of the steps that are emitted, and the indices of each.
  Value firstStep;
  /// Factors of one step as vectors, which all products share.
  DenseMap<Value, Value> widened;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CONTRACTIONEMITTER_H
