//===- PointwiseEmitter.cpp - What is around the products -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each run of columns of each row is a piece. Of a tile that may be ragged
// there is code for whole tiles, and code for those of which some elements are
// not there.
//
//===----------------------------------------------------------------------===//

#include "PointwiseEmitter.h"
#include "ColumnExchange.h"
#include "StoreRing.h"
#include "VectorBody.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::workgroup {

/// Up to so many accesses it is a matter of a moment to decide exactly whether
/// threads may race.
static constexpr int64_t kMaxExactPieces = 8;

/// Of more accesses beside whole tiles' it takes too long, and they have masks.
static constexpr int64_t kMaxExactRuns = 16;

static bool isMemRef(OpOperand *operand) {
  return isa<MemRefType>(operand->get().getType());
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

/// What the body of `op` gets of `piece`.
IRMapping PointwiseEmitter::readAll(const Pointwise &op, Value sum,
                                    const Piece &piece, PieceCache *cache) {
  PieceAccess access(part, op);
  auto read = [&](OpOperand *operand) {
    if (Value value = registers ? registers(operand, piece) : Value())
      return value;
    if (operand->get() == op.accumulator->get())
      return sum;
    if (!isMemRef(operand))
      return operand->get();
    return access.load(operand, piece, cache);
  };
  IRMapping mapping;
  auto generic = cast<linalg::LinalgOp>(op.op);
  for (OpOperand &operand : op.op->getOpOperands()) {
    BlockArgument argument = generic.getMatchingBlockArgument(&operand);
    if (!argument.use_empty())
      mapping.map(argument, read(&operand));
  }
  return mapping;
}

/// `values` of the body of `op`, which asks for the numbers of iterations,
/// element by element.
SmallVector<Value> PointwiseEmitter::computeElements(const Pointwise &op,
                                                     ValueRange values,
                                                     const IRMapping &arguments,
                                                     const Piece &piece) {
  SmallVector<SmallVector<Value>> elements(values.size());
  for (int64_t i = 0; i < piece.length; ++i) {
    IRMapping mapping;
    for (BlockArgument argument : op.body->getArguments()) {
      Value value = arguments.lookupOrNull(argument);
      if (value && isa<VectorType>(value.getType()))
        value = vector::ExtractOp::create(rewriter, loc, value, i);
      if (value)
        mapping.map(argument, value);
    }
    for (Operation &inner : op.body->without_terminator()) {
      auto number = dyn_cast<linalg::IndexOp>(inner);
      if (!number) {
        rewriter.clone(inner, mapping);
        continue;
      }
      unsigned loop = op.getLoop(part.contraction, number.getDim());
      OpFoldResult at = part.getIndex(loop, piece.row, piece.column + i);
      mapping.map(number.getResult(), index.value(at));
    }
    for (auto [list, value] : llvm::zip_equal(elements, values))
      list.push_back(mapping.lookupOrDefault(value));
  }
  return llvm::map_to_vector(elements, [&](ArrayRef<Value> list) -> Value {
    if (list.size() == 1)
      return list.front();
    auto type = VectorType::get({piece.length}, list.front().getType());
    return vector::FromElementsOp::create(rewriter, loc, type, list);
  });
}

/// `values` of the body of `op`, the arguments of which are given.
SmallVector<Value> PointwiseEmitter::computeAll(const Pointwise &op,
                                                ValueRange values,
                                                IRMapping arguments,
                                                const Piece &piece) {
  if (cast<linalg::LinalgOp>(op.op).hasIndexSemantics())
    return computeElements(op, values, arguments, piece);
  for (Operation &inner : op.body->without_terminator())
    cloneOnVectors(rewriter, inner, arguments, piece.length);
  return llvm::map_to_vector(
      values, [&](Value value) { return arguments.lookupOrDefault(value); });
}

SmallVector<Value> PointwiseEmitter::compute(const Pointwise &op, Value sum,
                                             const Piece &piece,
                                             PieceCache *cache) {
  if (op.body)
    return computeAll(op, op.body->getTerminator()->getOperands(),
                      readAll(op, sum, piece, cache), piece);
  // A copy of the accumulator, or to it.
  if (op.inputs[0]->get() == op.accumulator->get())
    return {sum};
  return {PieceAccess(part, op).load(op.inputs[0], piece, cache)};
}

Value PointwiseEmitter::computeValue(const Pointwise &op, Value value,
                                     const Piece &piece, PieceCache *cache) {
  return computeAll(op, value, readAll(op, /*sum=*/{}, piece, cache), piece)
      .front();
}

void PointwiseEmitter::emitIf(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(rewriter, loc, condition);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  body();
}

//===----------------------------------------------------------------------===//
// Before the products
//===----------------------------------------------------------------------===//

SmallVector<Value> PointwiseEmitter::fill(Value value) {
  Value vector =
      vector::BroadcastOp::create(rewriter, loc, part.getVectorType(), value);
  return SmallVector<Value>(tile.getNumVectors(), vector);
}

/// A vector of what `make` makes if `condition` is true or null, else of zeros.
Value PointwiseEmitter::makeOrZero(Value condition, Type type,
                                   function_ref<Value()> make) {
  if (!condition)
    return make();
  auto branch = scf::IfOp::create(rewriter, loc, type, condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(rewriter, loc, make());
  rewriter.setInsertionPointToStart(branch.elseBlock());
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
  scf::YieldOp::create(rewriter, loc, zero);
  return branch.getResult(0);
}

/// A piece of which some elements may not be there; those are zero.
Value PointwiseEmitter::makePart(const Pointwise &op, Value sum, int64_t row,
                                 int64_t column, const TileLimits &limits) {
  int64_t length = tile.columnRun;
  Value ofRow = limits.hasRow(row);
  return makeOrZero(ofRow, part.getVectorType(), [&]() -> Value {
    if (PieceAccess(part, op).canMask()) {
      Piece piece{row, column, length, limits.makeMask(column)};
      return widen(rewriter, loc, compute(op, sum, piece, /*cache=*/nullptr)[0],
                   length);
    }
    SmallVector<Value> elements;
    for (int64_t j = column; j < column + length; ++j)
      elements.push_back(
          makeOrZero(limits.hasColumn(j), part.getElementType(), [&] {
            Value element =
                sum ? vector::ExtractOp::create(rewriter, loc, sum, j - column)
                          .getResult()
                    : Value();
            return compute(op, element, {row, j, 1, {}}, /*cache=*/nullptr)[0];
          }));
    return vector::FromElementsOp::create(rewriter, loc, part.getVectorType(),
                                          elements);
  });
}

SmallVector<Value> PointwiseEmitter::make(const Pointwise &op,
                                          ValueRange sums) {
  TileLimits limits(part, op.accumulator->get());
  SmallVector<Value> results;
  PieceCache cache;
  auto emitAll = [&](bool isPart) {
    results.clear();
    int64_t length = tile.columnRun;
    for (int64_t i = 0; i < tile.rows; ++i)
      for (int64_t j = 0; j < tile.columns; j += length) {
        Value sum = sums.empty() ? Value() : sums[results.size()];
        Value made = isPart ? makePart(op, sum, i, j, limits)
                            : compute(op, sum, {i, j, length, {}}, &cache)[0];
        results.push_back(widen(rewriter, loc, made, length));
      }
  };
  if (limits.empty()) {
    emitAll(/*isPart=*/false);
    return results;
  }
  SmallVector<Type> types(tile.getNumVectors(), part.getVectorType());
  auto branch = scf::IfOp::create(rewriter, loc, types, limits.isWhole(),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  for (bool isPart : {false, true}) {
    rewriter.setInsertionPointToStart(isPart ? branch.elseBlock()
                                             : branch.thenBlock());
    emitAll(isPart);
    scf::YieldOp::create(rewriter, loc, results);
  }
  return branch.getResults();
}

//===----------------------------------------------------------------------===//
// After the products
//===----------------------------------------------------------------------===//

void PointwiseEmitter::finishPiece(const Pointwise &sink, Value sum,
                                   const Piece &piece, PieceCache *cache) {
  SmallVector<Value> results = compute(sink, sum, piece, cache);
  PieceAccess access(part, sink);
  for (auto [output, result] : llvm::zip_equal(sink.outputs, results))
    access.store(output, result, piece);
}

void PointwiseEmitter::finishWhole(const Pointwise &sink, ValueRange sums) {
  PieceCache cache;
  unsigned number = 0;
  ColumnExchange exchange(part, sink);
  constexpr int64_t kStep = ColumnExchange::kColumns;
  if (mayExchange && exchange.isPossible()) {
    auto computeRun = [&](int64_t row, int64_t column) {
      Piece piece{row, column, tile.columnRun, {}};
      Value made = compute(sink, sums[number++], piece, &cache)[0];
      return widen(rewriter, loc, made, tile.columnRun);
    };
    for (int64_t i = 0; i < tile.rows; ++i)
      for (int64_t j = 0; j < tile.columns; j += kStep) {
        Value low = computeRun(i, j);
        exchange.store(low, computeRun(i, j + tile.columnRun), i, j);
      }
    return;
  }
  for (int64_t i = 0; i < tile.rows; ++i)
    for (int64_t j = 0; j < tile.columns; j += tile.columnRun)
      finishPiece(sink, sums[number++], {i, j, tile.columnRun, {}}, &cache);
}

void PointwiseEmitter::finishBySlots(const Pointwise &sink, ValueRange sums,
                                     StoreRing &slots) {
  PieceCache cache;
  slots.store(sink, [&](int64_t row, int64_t run) {
    Piece piece{row, run * tile.columnRun, tile.columnRun, {}};
    Value sum = sums[row * tile.getNumRuns() + run];
    Value made = compute(sink, sum, piece, &cache)[0];
    return widen(rewriter, loc, made, tile.columnRun);
  });
}

/// Element `number`, which is not constant, of `vector`.
Value PointwiseEmitter::select(Value vector, Value number) {
  Value element = vector::ExtractOp::create(rewriter, loc, vector, 0);
  for (int64_t i = 1; i < tile.columnRun; ++i) {
    Value other = vector::ExtractOp::create(rewriter, loc, vector, i);
    Value isOther =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, number,
                              index.value(rewriter.getIndexAttr(i)));
    element = arith::SelectOp::create(rewriter, loc, isOther, other, element);
  }
  return element;
}

/// Does `body` on each element that is there of the run of columns from
/// `column` on. The code is the same for all, which LLVM unrolls: fewer
/// accesses are quicker to reason about.
void PointwiseEmitter::forEachColumn(int64_t column, const TileLimits &limits,
                                     function_ref<void(Value)> body) {
  auto loop =
      scf::ForOp::create(rewriter, loc, index.value(rewriter.getIndexAttr(0)),
                         index.value(rewriter.getIndexAttr(tile.columnRun)),
                         index.value(rewriter.getIndexAttr(1)));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  OpFoldResult first =
      part.getIndex(part.contraction.columns.loops.back(), /*row=*/0, column);
  part.exchangeLastIndex(column, index.add(first, number));
  emitIf(limits.hasColumn(column), [&] { body(number); });
  part.exchangeLastIndex(column, first);
}

/// Does `sink` on the elements within `limits`, by vectors with masks or one by
/// one. Whether threads may race is decided sooner of masked vectors, but not
/// as exactly.
void PointwiseEmitter::finishPart(const Pointwise &sink, ValueRange sums,
                                  const TileLimits &limits, bool isMasked) {
  int64_t length = tile.columnRun;
  auto finishRun = [&](int64_t row, int64_t column) {
    Value sum = sums[row * tile.getNumRuns() + column / length];
    if (isMasked)
      return finishPiece(sink, sum,
                         {row, column, length, limits.makeMask(column)},
                         /*cache=*/nullptr);
    forEachColumn(column, limits, [&](Value number) {
      finishPiece(sink, select(sum, number), {row, column, 1, {}},
                  /*cache=*/nullptr);
    });
  };
  for (int64_t i = 0; i < tile.rows; ++i)
    emitIf(limits.hasRow(i), [&] {
      for (int64_t j = 0; j < tile.columns; j += length)
        finishRun(i, j);
    });
}

void PointwiseEmitter::finish(const Pointwise &sink, ValueRange sums,
                              StoreRing *slots) {
  if (slots && slots->contains(sink.op))
    return finishBySlots(sink, sums, *slots);
  emitIf(part.hasPart(), [&] {
    TileLimits limits(part, sink.accumulator->get());
    if (limits.empty())
      return finishWhole(sink, sums);
    // Without vectors, whole tiles gain nothing.
    PieceAccess access(part, sink);
    bool isAligned = llvm::any_of(sink.outputs, [&](OpOperand *output) {
      Type element = getElementTypeOrSelf(output->get());
      return access.isContiguous(output) && access.getRunAlignment(output) * 8 >
                                                element.getIntOrFloatBitWidth();
    });
    if (!isAligned && tile.getNumVectors() <= kMaxExactPieces)
      return finishPart(sink, sums, limits, /*isMasked=*/false);
    if (!isAligned && access.canMask())
      return finishPart(sink, sums, limits, /*isMasked=*/true);
    auto branch = scf::IfOp::create(rewriter, loc, limits.isWhole(),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    finishWhole(sink, sums);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    finishPart(sink, sums, limits,
               /*isMasked=*/tile.getNumVectors() > kMaxExactRuns &&
                   access.canMask());
  });
}

} // namespace mlir::workgroup
