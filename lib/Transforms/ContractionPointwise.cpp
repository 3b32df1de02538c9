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
#include "CopyShape.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

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
// Places
//===----------------------------------------------------------------------===//

/// The loop of the contraction that goes along `dim` of the accumulator, of
/// which an operation's loop with the number `dim` of its own is.
unsigned ContractionEmitter::getLoop(const Pointwise &op, unsigned dim) const {
  AffineMap map = op.getMap(op.accumulator);
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (map.getDimPosition(i) == dim)
      return Contraction::getLoop(contraction.getMap(contraction.getResult()),
                                  i);
  llvm_unreachable("all loops go along the accumulator");
}

/// Where the accumulator has more elements than the operation is on.
SmallVector<ContractionEmitter::Limit>
ContractionEmitter::getLimits(const Pointwise &op) {
  Value part = op.accumulator->get();
  auto whole = cast<MemRefType>(contraction.getResult()->get().getType());
  AffineMap map = contraction.getMap(contraction.getResult());
  SmallVector<Limit> limits;
  for (auto [i, size] :
       llvm::enumerate(memref::getMixedSizes(rewriter, loc, part))) {
    unsigned loop = Contraction::getLoop(map, i);
    if (getConstantIntValue(size) != whole.getDimSize(i))
      limits.push_back({loop, size, !contraction.columns.find(loop)});
  }
  return limits;
}

/// True for a tile that is not ragged.
Value ContractionEmitter::isWhole(ArrayRef<Limit> limits) {
  auto whole = cast<MemRefType>(contraction.getResult()->get().getType());
  AffineMap map = contraction.getMap(contraction.getResult());
  Value all;
  for (const Limit &limit : limits) {
    unsigned dim = 0;
    while (Contraction::getLoop(map, dim) != limit.loop)
      ++dim;
    Value full = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, index.value(limit.size),
        index.value(rewriter.getIndexAttr(whole.getDimSize(dim))));
    all = all ? arith::AndIOp::create(rewriter, loc, all, full).getResult()
              : full;
  }
  return all;
}

/// True if row, or column, `at` of the thread is within `limits`; null if it
/// always is.
Value ContractionEmitter::isInside(ArrayRef<Limit> limits, bool ofRows,
                                   int64_t at) {
  Value all;
  for (const Limit &limit : limits) {
    if (limit.isRow != ofRows)
      continue;
    Value one = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                      index.value(getIndex(limit.loop, at, at)),
                                      index.value(limit.size));
    all =
        all ? arith::AndIOp::create(rewriter, loc, all, one).getResult() : one;
  }
  return all;
}

SmallVector<Value> ContractionEmitter::getPlace(const Pointwise &op,
                                                OpOperand *operand, int64_t row,
                                                int64_t column) {
  AffineMap map = op.getMap(operand);
  SmallVector<Value> indices;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    indices.push_back(
        index.value(getIndex(getLoop(op, map.getDimPosition(i)), row, column)));
  return indices;
}

/// True if `operand` is indexed by a loop of `group`.
bool ContractionEmitter::isAlong(const Pointwise &op, OpOperand *operand,
                                 const LoopGroup &group) {
  AffineMap map = op.getMap(operand);
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (group.find(getLoop(op, map.getDimPosition(i))))
      return true;
  return false;
}

/// The number of neighbouring columns that an access to `operand` can take.
int64_t ContractionEmitter::getAccessLength(const Pointwise &op,
                                            OpOperand *operand) {
  auto type = cast<MemRefType>(operand->get().getType());
  AffineMap map = op.getMap(operand);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (map.getNumResults() == 0 ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 ||
      getLoop(op, map.getDimPosition(map.getNumResults() - 1)) !=
          contraction.columns.loops.back())
    return 1;
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t length = std::min(tile.columnRun, kMaxAccessBytes / bytes);
  int64_t aligned = alignment.getAlignment(operand->get());
  auto fits = [&] {
    for (int64_t i = 0; i + 1 < type.getRank(); ++i)
      if (type.getDimSize(i) != 1 &&
          (ShapedType::isDynamic(strides[i]) || strides[i] % length != 0))
        return false;
    return aligned >= length * bytes;
  };
  while (length > 1 && !fits())
    length /= 2;
  return length;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// `length` elements from column `column` on, or one if all are the same.
Value ContractionEmitter::loadPiece(const Pointwise &op, OpOperand *operand,
                                    int64_t row, int64_t column, int64_t length,
                                    Cache *cache) {
  Value memref = operand->get();
  bool ofColumns = isAlong(op, operand, contraction.columns);
  auto key = std::make_pair(
      operand, std::make_pair(isAlong(op, operand, contraction.rows) ? row : -1,
                              ofColumns ? column : -1));
  bool isShared = cache && llvm::none_of(op.outputs, [&](OpOperand *output) {
                    return mayAlias(output->get(), memref);
                  });
  if (isShared)
    if (Value value = cache->lookup(key))
      return value;
  int64_t count = ofColumns ? length : 1;
  int64_t access = count > 1 ? getAccessLength(op, operand) : 1;
  Type element = getElementTypeOrSelf(memref);
  auto load = [&](int64_t from) -> Value {
    SmallVector<Value> place = getPlace(op, operand, row, from);
    if (access == 1)
      return memref::LoadOp::create(rewriter, loc, memref, place);
    return vector::LoadOp::create(
        rewriter, loc, VectorType::get({access}, element), memref, place,
        /*nontemporal=*/false,
        llvm::Align(access * element.getIntOrFloatBitWidth() / 8));
  };
  Value value;
  if (access == count) {
    value = load(column);
  } else {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < count; i += access) {
      Value part = load(column + i);
      for (int64_t k = 0; k < access; ++k)
        elements.push_back(
            access == 1 ? part
                        : vector::ExtractOp::create(rewriter, loc, part, k)
                              .getResult());
    }
    value = vector::FromElementsOp::create(
        rewriter, loc, VectorType::get({count}, element), elements);
  }
  if (isShared)
    (*cache)[key] = value;
  return value;
}

void ContractionEmitter::storePiece(const Pointwise &op, OpOperand *operand,
                                    Value value, int64_t row, int64_t column,
                                    int64_t length) {
  Value memref = operand->get();
  int64_t access = length > 1 ? getAccessLength(op, operand) : 1;
  if (access > 1)
    value = widen(value, length);
  Type element = getElementTypeOrSelf(memref);
  for (int64_t i = 0; i < length; i += access) {
    SmallVector<Value> place = getPlace(op, operand, row, column + i);
    Value part = value;
    if (access < length && access > 1)
      part = vector::ExtractStridedSliceOp::create(
          rewriter, loc, value, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{access},
          ArrayRef<int64_t>{1});
    else if (isa<VectorType>(value.getType()) && access == 1)
      part = vector::ExtractOp::create(rewriter, loc, value, i);
    if (access == 1)
      memref::StoreOp::create(rewriter, loc, part, memref, place);
    else
      vector::StoreOp::create(
          rewriter, loc, part, memref, place, /*nontemporal=*/false,
          llvm::Align(access * element.getIntOrFloatBitWidth() / 8));
  }
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

/// What `op` makes of `sum`, one result for each output: vectors of `length`
/// elements, or scalars where all are the same.
SmallVector<Value> ContractionEmitter::compute(const Pointwise &op, Value sum,
                                               int64_t row, int64_t column,
                                               int64_t length, Cache *cache) {
  auto read = [&](OpOperand *operand) {
    if (operand->get() == op.accumulator->get())
      return sum;
    if (!isMemRef(operand))
      return operand->get();
    return loadPiece(op, operand, row, column, length, cache);
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
    apply(inner, mapping, length);
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

/// A piece of which some elements may not be there; those are zero.
Value ContractionEmitter::initializePart(const Pointwise &init, int64_t row,
                                         int64_t column,
                                         ArrayRef<Limit> limits) {
  SmallVector<Value> elements;
  Value ofRow = isInside(limits, /*ofRows=*/true, row);
  for (int64_t j = column; j < column + tile.columnRun; ++j) {
    Value isIn = isInside(limits, /*ofRows=*/false, j);
    if (isIn && ofRow)
      isIn = arith::AndIOp::create(rewriter, loc, isIn, ofRow);
    else if (!isIn)
      isIn = ofRow;
    auto branch = scf::IfOp::create(rewriter, loc, getElementType(), isIn,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    Value value = compute(init, Value(), row, j, 1, /*cache=*/nullptr)[0];
    scf::YieldOp::create(rewriter, loc, value);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(getElementType()));
    scf::YieldOp::create(rewriter, loc, zero);
    elements.push_back(branch.getResult(0));
  }
  return vector::FromElementsOp::create(rewriter, loc, getVectorType(),
                                        elements);
}

SmallVector<Value> ContractionEmitter::initialize(const Pointwise &init) {
  SmallVector<Limit> limits = getLimits(init);
  SmallVector<Value> results;
  Cache cache;
  auto emitAll = [&](bool isPart) {
    results.clear();
    for (int64_t i = 0; i < tile.rows; ++i)
      for (int64_t j = 0; j < tile.columns; j += tile.columnRun)
        results.push_back(isPart ? initializePart(init, i, j, limits)
                                 : widen(compute(init, Value(), i, j,
                                                 tile.columnRun, &cache)[0],
                                         tile.columnRun));
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
                                     int64_t row, int64_t column,
                                     int64_t length, Cache *cache) {
  SmallVector<Value> results = compute(sink, sum, row, column, length, cache);
  for (auto [output, result] : llvm::zip_equal(sink.outputs, results))
    storePiece(sink, output, result, row, column, length);
}

void ContractionEmitter::finishWhole(const Pointwise &sink, ValueRange sums) {
  Cache cache;
  unsigned number = 0;
  for (int64_t i = 0; i < tile.rows; ++i)
    for (int64_t j = 0; j < tile.columns; j += tile.columnRun)
      finishPiece(sink, sums[number++], i, j, tile.columnRun, &cache);
}

/// Element `number`, which is not constant, of `vector`.
Value ContractionEmitter::select(Value vector, Value number) {
  Value element = vector::ExtractOp::create(rewriter, loc, vector, 0);
  for (int64_t i = 1; i < tile.columnRun; ++i) {
    Value other = vector::ExtractOp::create(rewriter, loc, vector, i);
    Value isOther = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, number,
        index.value(rewriter.getIndexAttr(i)));
    element =
        arith::SelectOp::create(rewriter, loc, isOther, other, element);
  }
  return element;
}

/// Does `body` on each column of a run, of which `column` is the first, that is
/// within `limits`. It is one piece of code for all of them, so that there are
/// not too many accesses to reason about; LLVM unrolls it.
void ContractionEmitter::forEachColumn(int64_t column, ArrayRef<Limit> limits,
                                       function_ref<void(Value)> body) {
  Value zero = index.value(rewriter.getIndexAttr(0));
  if (tile.columnRun == 1)
    return emitIf(isInside(limits, /*ofRows=*/false, column),
                  [&] { body(zero); });
  auto loop = scf::ForOp::create(
      rewriter, loc, zero, index.value(rewriter.getIndexAttr(tile.columnRun)),
      index.value(rewriter.getIndexAttr(1)));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  columnOffset = loop.getInductionVar();
  emitIf(isInside(limits, /*ofRows=*/false, column),
         [&] { body(loop.getInductionVar()); });
  columnOffset = {};
}

void ContractionEmitter::finishPart(const Pointwise &sink, ValueRange sums,
                                    ArrayRef<Limit> limits) {
  for (int64_t i = 0; i < tile.rows; ++i)
    emitIf(isInside(limits, /*ofRows=*/true, i), [&] {
      for (int64_t run = 0; run < tile.getNumRuns(); ++run)
        forEachColumn(run * tile.columnRun, limits, [&](Value number) {
          Value sum = select(sums[i * tile.getNumRuns() + run], number);
          finishPiece(sink, sum, i, run * tile.columnRun, 1, /*cache=*/nullptr);
        });
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
    auto branch = scf::IfOp::create(rewriter, loc, isWhole(limits),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    finishWhole(sink, sums);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    finishPart(sink, sums, limits);
  });
}

} // namespace mlir::workgroup
