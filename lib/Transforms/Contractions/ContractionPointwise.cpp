//===- ContractionPointwise.cpp - What follows a contraction --------------===//
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

#include "ContractionEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::workgroup {

/// Up to so many accesses it is a matter of a moment to decide exactly whether
/// threads may race.
static constexpr int64_t kMaxExactPieces = 8;

static bool isMemRef(OpOperand *operand) {
  return isa<MemRefType>(operand->get().getType());
}

Pointwise::Pointwise(Operation *op, OpOperand *accumulator)
    : op(op), accumulator(accumulator) {
  if (auto generic = dyn_cast<linalg::LinalgOp>(op)) {
    inputs = generic.getDpsInputOperands();
    for (OpOperand &init : generic.getDpsInitsMutable())
      outputs.push_back(&init);
    body = generic.getBlock();
    return;
  }
  inputs.push_back(&op->getOpOperand(0));
  outputs.push_back(&op->getOpOperand(1));
}

AffineMap Pointwise::getMap(OpOperand *operand) const {
  if (auto generic = dyn_cast<linalg::LinalgOp>(op))
    return generic.getMatchingIndexingMap(operand);
  auto type = cast<MemRefType>(operand->get().getType());
  return AffineMap::getMultiDimIdentityMap(type.getRank(), op->getContext());
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

/// What `op` makes of `sum`, one result for each output: vectors, or scalars
/// where all elements are the same.
SmallVector<Value> ContractionEmitter::compute(const Pointwise &op, Value sum,
                                               const Piece &piece,
                                               Cache *cache) {
  auto read = [&](OpOperand *operand) {
    if (operand->get() == op.accumulator->get())
      return sum;
    if (!isMemRef(operand))
      return operand->get();
    return loadShared(op, operand, piece, cache);
  };
  if (!op.body)
    return {read(op.inputs[0])};
  IRMapping mapping;
  auto generic = cast<linalg::LinalgOp>(op.op);
  for (OpOperand &operand : op.op->getOpOperands()) {
    BlockArgument argument = generic.getMatchingBlockArgument(&operand);
    if (!argument.use_empty())
      mapping.map(argument, read(&operand));
  }
  for (Operation &inner : op.body->without_terminator())
    apply(inner, mapping, piece.length);
  SmallVector<Value> results;
  for (Value result : op.body->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(result));
  return results;
}

void ContractionEmitter::emitIf(Value condition, function_ref<void()> body) {
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

SmallVector<Value> ContractionEmitter::fill(Value value) {
  Value vector =
      vector::BroadcastOp::create(rewriter, loc, getVectorType(), value);
  return SmallVector<Value>(tile.getNumVectors(), vector);
}

/// A vector of what `make` makes if `condition` is true or null, else of zeros.
Value ContractionEmitter::makeOrZero(Value condition, Type type,
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
Value ContractionEmitter::initializePart(const Pointwise &init, int64_t row,
                                         int64_t column,
                                         ArrayRef<Limit> limits) {
  int64_t length = tile.columnRun;
  Value ofRow = isInside(limits, /*ofRows=*/true, row);
  return makeOrZero(ofRow, getVectorType(), [&]() -> Value {
    if (canMask(init)) {
      Piece piece{row, column, length, makeMask(limits, column)};
      return widen(compute(init, Value(), piece, /*cache=*/nullptr)[0], length);
    }
    SmallVector<Value> elements;
    for (int64_t j = column; j < column + length; ++j)
      elements.push_back(makeOrZero(
          isInside(limits, /*ofRows=*/false, j), getElementType(), [&] {
            return compute(init, Value(), {row, j, 1, {}},
                           /*cache=*/nullptr)[0];
          }));
    return vector::FromElementsOp::create(rewriter, loc, getVectorType(),
                                          elements);
  });
}

SmallVector<Value> ContractionEmitter::initialize(const Pointwise &init) {
  SmallVector<Limit> limits = getLimits(init);
  SmallVector<Value> results;
  Cache cache;
  auto emitAll = [&](bool isPart) {
    results.clear();
    int64_t length = tile.columnRun;
    for (int64_t i = 0; i < tile.rows; ++i)
      for (int64_t j = 0; j < tile.columns; j += length)
        results.push_back(isPart ? initializePart(init, i, j, limits)
                                 : widen(compute(init, Value(),
                                                 {i, j, length, {}}, &cache)[0],
                                         length));
  };
  if (limits.empty()) {
    emitAll(/*isPart=*/false);
    return results;
  }
  SmallVector<Type> types(tile.getNumVectors(), getVectorType());
  auto branch = scf::IfOp::create(rewriter, loc, types, isWhole(limits),
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

void ContractionEmitter::finishPiece(const Pointwise &sink, Value sum,
                                     const Piece &piece, Cache *cache) {
  SmallVector<Value> results = compute(sink, sum, piece, cache);
  for (auto [output, result] : llvm::zip_equal(sink.outputs, results))
    store(sink, output, result, piece);
}

void ContractionEmitter::finishWhole(const Pointwise &sink, ValueRange sums) {
  Cache cache;
  unsigned number = 0;
  for (int64_t i = 0; i < tile.rows; ++i)
    for (int64_t j = 0; j < tile.columns; j += tile.columnRun)
      finishPiece(sink, sums[number++], {i, j, tile.columnRun, {}}, &cache);
}

/// True for the columns of the run that starts at `column` that are within
/// `limits`.
Value ContractionEmitter::makeMask(ArrayRef<Limit> limits, int64_t column) {
  unsigned loop = contraction.columns.loops.back();
  auto type = VectorType::get({tile.columnRun}, rewriter.getI1Type());
  Value mask;
  for (const Limit &limit : limits) {
    if (limit.isRow)
      continue;
    Value one;
    if (limit.loop == loop) {
      Value left =
          arith::SubIOp::create(rewriter, loc, index.value(limit.size),
                                index.value(getIndex(loop, /*row=*/0, column)));
      one = vector::CreateMaskOp::create(rewriter, loc, type, left);
    } else {
      Value isIn = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::ult,
          index.value(getIndex(limit.loop, /*row=*/0, column)),
          index.value(limit.size));
      one = vector::BroadcastOp::create(rewriter, loc, type, isIn);
    }
    mask = mask ? arith::AndIOp::create(rewriter, loc, mask, one).getResult()
                : one;
  }
  return mask;
}

/// Element `number`, which is not constant, of `vector`.
Value ContractionEmitter::select(Value vector, Value number) {
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
void ContractionEmitter::forEachColumn(int64_t column, ArrayRef<Limit> limits,
                                       function_ref<void(Value)> body) {
  auto loop =
      scf::ForOp::create(rewriter, loc, index.value(rewriter.getIndexAttr(0)),
                         index.value(rewriter.getIndexAttr(tile.columnRun)),
                         index.value(rewriter.getIndexAttr(1)));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  OpFoldResult &at = columnIndices[column].back();
  OpFoldResult first = at;
  at = index.add(first, number);
  emitIf(isInside(limits, /*ofRows=*/false, column), [&] { body(number); });
  at = first;
}

/// Does `sink` on the elements within `limits`, by vectors with masks or one by
/// one. Whether threads may race is decided sooner of masked vectors, but not
/// as exactly.
void ContractionEmitter::finishPart(const Pointwise &sink, ValueRange sums,
                                    ArrayRef<Limit> limits, bool isMasked) {
  int64_t length = tile.columnRun;
  auto finishRun = [&](int64_t row, int64_t column) {
    Value sum = sums[row * tile.getNumRuns() + column / length];
    if (isMasked)
      return finishPiece(sink, sum,
                         {row, column, length, makeMask(limits, column)},
                         /*cache=*/nullptr);
    forEachColumn(column, limits, [&](Value number) {
      finishPiece(sink, select(sum, number), {row, column, 1, {}},
                  /*cache=*/nullptr);
    });
  };
  for (int64_t i = 0; i < tile.rows; ++i)
    emitIf(isInside(limits, /*ofRows=*/true, i), [&] {
      for (int64_t j = 0; j < tile.columns; j += length)
        finishRun(i, j);
    });
}

void ContractionEmitter::finish(const Pointwise &sink, ValueRange sums) {
  Value hasPart;
  if (tile.getNumThreads() < numThreads)
    hasPart = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ult, index.value(thread),
        index.value(rewriter.getIndexAttr(tile.getNumThreads())));
  emitIf(hasPart, [&] {
    SmallVector<Limit> limits = getLimits(sink);
    if (limits.empty())
      return finishWhole(sink, sums);
    // Without vectors, whole tiles gain nothing.
    bool isAligned = llvm::any_of(sink.outputs, [&](OpOperand *output) {
      Type element = getElementTypeOrSelf(output->get());
      return isContiguous(sink, output) &&
             getRunAlignment(output) * 8 > element.getIntOrFloatBitWidth();
    });
    if (!isAligned && tile.getNumVectors() <= kMaxExactPieces)
      return finishPart(sink, sums, limits, /*isMasked=*/false);
    if (!isAligned && canMask(sink))
      return finishPart(sink, sums, limits, /*isMasked=*/true);
    auto branch = scf::IfOp::create(rewriter, loc, isWhole(limits),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    finishWhole(sink, sums);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    finishPart(sink, sums, limits, /*isMasked=*/false);
  });
}

} // namespace mlir::workgroup
