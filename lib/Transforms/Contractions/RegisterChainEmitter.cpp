//===- RegisterChainEmitter.cpp - What a warp does with rows --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The four lanes of a row of a matrix are neighbours: two exchanges combine
// what each has made of its elements; of sums that only grow, and are scaled,
// by the row, behind the loop. The vectors of the first result, rounded to 16
// bits, are the cells of the second product's first factor: lane l has columns
// 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of either (PTX ISA, "Matrix
// Fragments for mma.m16n8k16").
//
//===----------------------------------------------------------------------===//

#include "RegisterChainEmitter.h"
#include "Transforms/Utils/CarriedValues.h"
#include "Transforms/Utils/LaneReducer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace mlir::workgroup {

/// Lanes that have elements of the same row.
static constexpr int64_t kLanesOfRow = kWarpSize / kCellSize;

/// True if `op` is done with the columns of the first result.
static bool isOfFirst(const RegisterChain &chain, Operation *op) {
  return !llvm::is_contained(getTileDims(chain, op), ChainDim::Columns);
}

RegisterChainEmitter::Result &RegisterChainEmitter::getResult(Operation *op) {
  return isOfFirst(chain, op) ? *first : *second;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// What a thread has of `operand` for `piece`; null if it is in memory.
Value RegisterChainEmitter::getRegister(OpOperand *operand, const Piece &piece,
                                        const ThreadTile &tile) {
  Value buffer = chain.getBuffer(operand->get());
  if (!buffer)
    return {};
  ArrayRef<Value> values = registers.find(buffer)->second;
  return chain.isOfRows(buffer) ? values[piece.row]
                                : values[piece.row * tile.getNumRuns() +
                                         piece.column / tile.columnRun];
}

PointwiseEmitter::Registers
RegisterChainEmitter::getRegisters(const ThreadTile &tile) {
  return [&](OpOperand *operand, const Piece &piece) {
    return getRegister(operand, piece, tile);
  };
}

/// What `op`, a fill, puts everywhere.
static Value getFilling(linalg::LinalgOp op) {
  Value value = op.getBlock()->getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (argument.getOwner() == op.getBlock())
      return op.getMatchingOpOperand(argument)->get();
  return value;
}

static bool isFilledWithZeros(const RegisterChain &chain, linalg::LinalgOp op) {
  return getRole(chain, op) == ChainRole::Fill &&
         matchPattern(getFilling(op), m_PosZeroFloat());
}

SmallVector<Value> RegisterChainEmitter::fill(linalg::LinalgOp op) {
  Value value = getFilling(op);
  const ThreadTile &tile = getResult(op).part.tile;
  if (chain.isOfRows(chain.getBuffer(op.getDpsInits()[0])))
    return SmallVector<Value>(tile.rows, value);
  auto type = VectorType::get({tile.columnRun}, value.getType());
  Value vector =
      vector::BroadcastOp::create(rewriter, op.getLoc(), type, value);
  return SmallVector<Value>(tile.getNumVectors(), vector);
}

SmallVector<Value> RegisterChainEmitter::makeElements(linalg::LinalgOp op) {
  ContractionPart &part = getResult(op).part;
  PointwiseEmitter pointwise(part, /*mayExchange=*/false,
                             getRegisters(part.tile));
  return pointwise.initialize(Pointwise(op, op.getDpsInitOperand(0)));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// What the body of `op` makes of `row` of the thread; `mapping` gets what it
/// computes.
Value RegisterChainEmitter::makeRow(linalg::LinalgOp op, int64_t row,
                                    IRMapping &mapping) {
  ContractionPart &part = second->part;
  SmallVector<std::optional<ChainDim>> dims = chain.getDims(op);
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    Value value = getRegister(&operand, {row, 0, 1, {}}, part.tile);
    mapping.map(argument, value ? value : operand.get());
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    auto number = dyn_cast<linalg::IndexOp>(inner);
    if (!number) {
      rewriter.clone(inner, mapping);
      continue;
    }
    OpFoldResult at = rewriter.getIndexAttr(0);
    if (dims[number.getDim()] == ChainDim::Rows)
      at = part.getIndex(chain.second.rows.loops.front(), row, 0);
    mapping.map(number.getResult(), part.index.value(at));
  }
  return mapping.lookupOrDefault(op.getBlock()->getTerminator()->getOperand(0));
}

SmallVector<Value> RegisterChainEmitter::makeRows(linalg::LinalgOp op) {
  SmallVector<Value> results;
  Operation *made =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  bool isPower = isa_and_nonnull<math::ExpOp, math::Exp2Op>(made);
  SmallVector<Value> &powers = exponents[chain.getBuffer(op.getDpsInits()[0])];
  powers.clear();
  for (int64_t row = 0; row < second->part.tile.rows; ++row) {
    IRMapping mapping;
    results.push_back(makeRow(op, row, mapping));
    if (isPower)
      powers.push_back(mapping.lookupOrDefault(made->getOperand(0)));
  }
  return results;
}

/// `lhs` and `rhs` as `op` combines elements of a row.
Value RegisterChainEmitter::combine(linalg::LinalgOp op, Value lhs, Value rhs) {
  Operation *combiner = getFoldCombiner(op);
  IRMapping mapping;
  unsigned place =
      combiner->getOperand(0) == op.getBlock()->getArguments().back() ? 0 : 1;
  mapping.map(combiner->getOperand(place), lhs);
  mapping.map(combiner->getOperand(1 - place), rhs);
  return rewriter.clone(*combiner, mapping)->getResult(0);
}

/// The combination of `value` over the lanes that have elements of a row.
Value RegisterChainEmitter::reduceLanes(linalg::LinalgOp op, Value value) {
  Location loc = op.getLoc();
  for (int64_t distance = 1; distance < kLanesOfRow; distance *= 2) {
    Value carrier = toCarrier(rewriter, loc, value);
    Value other = gpu::ShuffleOp::create(rewriter, loc, carrier, distance,
                                         kWarpSize, gpu::ShuffleMode::XOR)
                      .getShuffleResult();
    other = fromCarrier(rewriter, loc, other, value.getType());
    value = combine(op, value, other);
  }
  return value;
}

/// What `op` combines of all elements of `row` of the thread, with `start`, if
/// that is given.
Value RegisterChainEmitter::foldRow(linalg::LinalgOp op, int64_t row,
                                    Value start, PieceCache &cache) {
  ContractionPart &part = getResult(op).part;
  const ThreadTile &tile = part.tile;
  PointwiseEmitter pointwise(part, /*mayExchange=*/false, getRegisters(tile));
  Operation *combiner = getFoldCombiner(op);
  BlockArgument sum = op.getBlock()->getArguments().back();
  Value term = combiner->getOperand(combiner->getOperand(0) == sum ? 1 : 0);
  Pointwise elements(op, findTile(chain, op));
  SmallVector<Value> results;
  if (start)
    results.push_back(start);
  for (int64_t column = 0; column < tile.columns; column += tile.columnRun) {
    Piece piece{row, column, tile.columnRun, {}};
    Value terms = pointwise.computeValue(elements, term, piece, &cache);
    for (int64_t i = 0; i < tile.columnRun; ++i) {
      Value element = terms;
      if (isa<VectorType>(terms.getType()))
        element = vector::ExtractOp::create(rewriter, op.getLoc(), terms, i);
      // As many sums at a time as a vector has elements.
      if (results.size() < static_cast<size_t>(tile.columnRun))
        results.push_back(element);
      else
        results[i] = combine(op, results[i], element);
    }
  }
  Value result = results.pop_back_val();
  for (Value other : llvm::reverse(results))
    result = combine(op, other, result);
  return result;
}

SmallVector<Value> RegisterChainEmitter::fold(linalg::LinalgOp op) {
  OpOperand *output = op.getDpsInitOperand(0);
  const ThreadTile &tile = second->part.tile;
  SmallVector<Value> results;
  PieceCache cache;
  for (int64_t row = 0; row < tile.rows; ++row) {
    Value before = getRegister(output, {row, 0, 1, {}}, tile);
    if (partial.contains(chain.getBuffer(output->get()))) {
      results.push_back(foldRow(op, row, before, cache));
      continue;
    }
    Value ofRow = reduceLanes(op, foldRow(op, row, /*start=*/{}, cache));
    results.push_back(combine(op, before, ofRow));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// The chain
//===----------------------------------------------------------------------===//

SmallVector<Value> RegisterChainEmitter::multiply(Operation *op) {
  bool isFirst = op == chain.first.op;
  Contraction &contraction = isFirst ? chain.first : chain.second;
  MatrixProductEmitter &products = (isFirst ? first : second)->products;
  auto get = [&](OpOperand *operand) -> ArrayRef<Value> {
    return registers.find(chain.getBuffer(operand->get()))->second;
  };
  return products.multiply(get(contraction.getResult()),
                           isFirst ? ArrayRef<Value>() : get(contraction.lhs));
}

void RegisterChainEmitter::sink(Operation *op) {
  Result &result = getResult(op);
  OpOperand *tile = findTile(chain, op);
  auto getRows = [&](OpOperand *operand, const Piece &piece) {
    return operand == tile ? Value()
                           : getRegister(operand, piece, result.part.tile);
  };
  PointwiseEmitter(result.part, /*mayExchange=*/false, getRows)
      .finish(Pointwise(op, tile),
              registers.find(chain.getBuffer(tile->get()))->second);
}

/// Stores what `op` makes of `row` of the thread, if that is there.
void RegisterChainEmitter::storeRow(Operation *op, int64_t row) {
  ContractionPart &part = second->part;
  auto copy = dyn_cast<memref::CopyOp>(op);
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  Value target =
      copy ? copy.getTarget() : Value(structured.getDpsInits().front());
  SmallVector<ChainDim> dims;
  if (copy)
    dims = chain.buffers.lookup(chain.getBuffer(copy.getSource()));
  else
    for (AffineExpr at :
         structured.getMatchingIndexingMap(structured.getDpsInitOperand(0))
             .getResults())
      dims.push_back(
          *chain.getDims(structured)[cast<AffineDimExpr>(at).getPosition()]);
  Location loc = op->getLoc();
  Value at = part.index.value(
      part.getIndex(chain.second.rows.loops.front(), row, /*column=*/0));
  Value zero = part.index.value(rewriter.getIndexAttr(0));
  Value isThere;
  SmallVector<OpFoldResult> sizes =
      memref::getMixedSizes(rewriter, loc, target);
  SmallVector<Value> indices;
  for (auto [dim, size] : llvm::zip_equal(dims, sizes)) {
    indices.push_back(dim == ChainDim::Rows ? at : zero);
    if (dim == ChainDim::Rows &&
        getConstantIntValue(size) != chain.getExtent(dim))
      isThere = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                      at, part.index.value(size));
  }
  OpBuilder::InsertionGuard guard(rewriter);
  if (isThere) {
    auto branch = scf::IfOp::create(rewriter, loc, isThere);
    rewriter.setInsertionPointToStart(branch.thenBlock());
  }
  IRMapping mapping;
  Value made = copy ? registers.lookup(chain.getBuffer(copy.getSource()))[row]
                    : makeRow(structured, row, mapping);
  memref::StoreOp::create(rewriter, loc, made, target, indices);
}

/// One lane of a row stores what all of them have.
void RegisterChainEmitter::sinkRows(Operation *op) {
  ContractionPart &part = second->part;
  Location loc = op->getLoc();
  Value column = part.index.value(part.getIndex(
      chain.second.columns.loops.front(), /*row=*/0, /*column=*/0));
  Value isFirst =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, column,
                            part.index.value(rewriter.getIndexAttr(0)));
  auto branch = scf::IfOp::create(rewriter, loc, isFirst);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  for (int64_t row = 0; row < part.tile.rows; ++row)
    storeRow(op, row);
}

void RegisterChainEmitter::emit(Operation *op) {
  if (done.contains(op))
    return;
  rewriter.setInsertionPoint(op);
  ChainRole role = *getRole(chain, op);
  if (role == ChainRole::Sink)
    return sink(op);
  if (role == ChainRole::RowSink)
    return sinkRows(op);
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    exponents.erase(chain.getBuffer(copy.getTarget()));
    registers[chain.getBuffer(copy.getTarget())] =
        registers.lookup(chain.getBuffer(copy.getSource()));
    return;
  }
  auto structured = cast<linalg::LinalgOp>(op);
  if (findRowFactor(chain, structured))
    return scale(findScalings(structured));
  exponents.erase(chain.getBuffer(structured.getDpsInits()[0]));
  auto make = [&] {
    switch (role) {
    case ChainRole::First:
    case ChainRole::Second:
      return multiply(op);
    case ChainRole::Fill:
      return fill(structured);
    case ChainRole::Elements:
      return makeElements(structured);
    case ChainRole::Rows:
      return makeRows(structured);
    case ChainRole::Fold:
      return fold(structured);
    case ChainRole::Copy:
    case ChainRole::Sink:
    case ChainRole::RowSink:
      break;
    }
    llvm_unreachable("copies and sinks make nothing");
  };
  registers[chain.getBuffer(structured.getDpsInits()[0])] = make();
}

/// What adds up `buffer`, a number for each row, or combines truth values, if
/// lanes may do so each for itself: a sum starts from zeros, others from any
/// value, and in the loop it is scaled besides, no more.
static Operation *findSum(const RegisterChain &chain, Value buffer) {
  linalg::LinalgOp sum, start;
  bool isInside = false;
  scf::ForOp loop = chain.loop;
  for (Operation *op : chain.ops) {
    isInside |= op->getBlock() == loop.getBody();
    bool isBehind = isInside && op->getBlock() != loop.getBody();
    if (!usesBuffer(chain, op, buffer) || isBehind)
      continue;
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured || chain.getBuffer(structured.getDpsInits()[0]) != buffer ||
        llvm::any_of(structured.getDpsInputs(), [&](Value input) {
          return chain.getBuffer(input) == buffer;
        }))
      return nullptr;
    ChainRole role = *getRole(chain, op);
    if (!isInside && role == ChainRole::Fill)
      start = structured;
    else if (role == ChainRole::Fold && !sum && isInside &&
             isa<arith::AddFOp, arith::AndIOp, arith::OrIOp>(
                 getFoldCombiner(structured)))
      sum = structured;
    else if (!isInside || !findRowFactor(chain, structured))
      return nullptr;
  }
  bool isFine = sum && start &&
                (!isa<arith::AddFOp>(getFoldCombiner(sum)) ||
                 isFilledWithZeros(chain, start));
  return isFine ? sum.getOperation() : nullptr;
}

/// Has the loop carry what is there before it.
void RegisterChainEmitter::enter() {
  exponents.clear();
  SmallVector<Value> initial;
  for (const auto &entry : chain.buffers) {
    auto it = registers.find(entry.first);
    if (it == registers.end())
      continue;
    carried.push_back(entry.first);
    llvm::append_range(initial, it->second);
    if (chain.isOfRows(entry.first))
      if (Operation *sum = findSum(chain, entry.first))
        partial[entry.first] = sum;
  }
  chain.loop = addCarriedValues(rewriter, chain.loop, initial);
  ValueRange values = chain.loop.getRegionIterArgs().take_back(initial.size());
  for (Value buffer : carried)
    for (Value &value : registers[buffer]) {
      value = values.front();
      values = values.drop_front();
    }
}

void RegisterChainEmitter::leave() {
  exponents.clear();
  SmallVector<Value> last;
  for (Value buffer : carried)
    llvm::append_range(last, registers[buffer]);
  yieldLast(rewriter, chain.loop, last);
  ValueRange values = chain.loop.getResults().take_back(last.size());
  for (Value buffer : carried)
    for (Value &value : registers[buffer]) {
      value = values.front();
      values = values.drop_front();
    }
  rewriter.setInsertionPointAfter(chain.loop);
  for (auto [buffer, sum] : partial)
    for (Value &value : registers[buffer])
      value = reduceLanes(cast<linalg::LinalgOp>(sum), value);
}

void RegisterChainEmitter::erase() {
  for (Operation *op : chain.ops)
    rewriter.eraseOp(op);
  for (Operation *view : llvm::reverse(chain.views))
    rewriter.eraseOp(view);
  for (const auto &entry : chain.buffers)
    rewriter.eraseOp(entry.first.getDefiningOp());
}

void RegisterChainEmitter::run() {
  Operation *start = chain.ops.front();
  rewriter.setInsertionPoint(start->getBlock() == chain.loop->getBlock()
                                 ? start
                                 : chain.loop.getOperation());
  // Sums of both results fill most of 255 registers.
  constexpr int64_t kMostSums = 128;
  auto countSums = [](const MatrixForm &form) {
    return form.tile.rows * form.tile.columns;
  };
  bool loadsAhead =
      countSums(chain.ofFirst) + countSums(chain.ofSecond) <= kMostSums;
  first.emplace(chain.first, chain.ofFirst, sharers, rewriter, alignment,
                loadsAhead);
  second.emplace(chain.second, chain.ofSecond, sharers, rewriter, alignment,
                 loadsAhead);
  bool isInside = false;
  for (Operation *op : chain.ops) {
    bool isOfLoop = op->getBlock() == chain.loop.getBody();
    if (isOfLoop != isInside)
      isOfLoop ? enter() : leave();
    isInside = isOfLoop;
    emit(op);
  }
  if (isInside)
    leave();
  erase();
}

} // namespace mlir::workgroup
