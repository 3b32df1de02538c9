//===- ContractionEmitter.cpp - What a thread multiplies ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of the tiles' elements, added to registers. What a thread needs of
// an operand is loaded by vectors along the operand's contiguous dimension:
// rows or columns, or several steps of the sum at once.
//
//===----------------------------------------------------------------------===//

#include "ContractionEmitter.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/IR/Workgroup.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

namespace mlir::workgroup {

int64_t getRun(int64_t number, int64_t limit) {
  int64_t run = 1;
  while (run * 2 <= limit && number % (run * 2) == 0)
    run *= 2;
  return run;
}

/// The loop along which the elements of `operand` are neighbours in memory.
static std::optional<unsigned> getContiguousLoop(Contraction &contraction,
                                                 OpOperand *operand) {
  auto type = cast<MemRefType>(operand->get().getType());
  // Strides that no layout states take long to find.
  bool isContiguous =
      type.getLayout().isIdentity() || type.isLastDimUnitStride();
  if (type.getRank() == 0 || !isContiguous)
    return std::nullopt;
  return Contraction::getLoop(contraction.getMap(operand), type.getRank() - 1);
}

static int64_t getOperandElementBytes(Value memref) {
  return getElementTypeOrSelf(memref).getIntOrFloatBitWidth() / 8;
}

/// The elements that one access may take of `operand`.
static int64_t getMaxLength(OpOperand *operand) {
  return kMaxAccessBytes / getOperandElementBytes(operand->get());
}

//===----------------------------------------------------------------------===//
// The tile of a thread
//===----------------------------------------------------------------------===//

/// `tile` with runs as vectors of the operands ask for.
static void setRuns(Contraction &contraction, ThreadTile &tile) {
  auto isAlong = [&](OpOperand *operand, const LoopGroup &group) {
    return getContiguousLoop(contraction, operand) == group.loops.back();
  };
  int64_t rows = std::gcd(tile.rows, contraction.rows.getLastSize());
  tile.rowRun = isAlong(contraction.lhs, contraction.rows)
                    ? getRun(rows, getMaxLength(contraction.lhs))
                    : 1;
  OpOperand *vectors = isAlong(contraction.rhs, contraction.columns)
                           ? contraction.rhs
                           : contraction.getResult();
  int64_t columns = std::gcd(tile.columns, contraction.columns.getLastSize());
  tile.columnRun = getRun(columns, getMaxLength(vectors));
}

/// Instructions of a thread for each step of the sum, in multiply-adds.
static double getCost(Contraction &contraction, const ThreadTile &tile) {
  constexpr double kLoad = 4;
  auto getLoads = [&](OpOperand *operand, int64_t count, int64_t run) {
    auto loop = getContiguousLoop(contraction, operand);
    int64_t length = run;
    if (loop && contraction.sums.find(*loop))
      length = getRun(contraction.sums.getLastSize(), getMaxLength(operand));
    return static_cast<double>(count) / length;
  };
  return tile.rows * tile.columns +
         kLoad * (getLoads(contraction.lhs, tile.rows, tile.rowRun) +
                  getLoads(contraction.rhs, tile.columns, tile.columnRun));
}

std::string chooseThreadTile(Contraction &contraction, int64_t numThreads,
                             ThreadTile &tile) {
  int64_t rows = contraction.rows.getSize();
  int64_t columns = contraction.columns.getSize();
  auto make = [&](int64_t ofRows, int64_t ofColumns) {
    ThreadTile made{ofRows, ofColumns};
    made.numThreads[0] = rows / ofRows;
    made.numThreads[1] = columns / ofColumns;
    setRuns(contraction, made);
    return made;
  };
  // Half of the registers, as there are operands and addresses besides.
  constexpr int64_t kMaxBytes = 512, kMaxSide = 32;
  int64_t bytes = getOperandElementBytes(contraction.getResult()->get());
  double least = 0;
  for (int64_t i = 1; i <= std::min(rows, kMaxSide); ++i)
    for (int64_t j = 1; j <= std::min(columns, kMaxSide); ++j) {
      if (rows % i != 0 || columns % j != 0 || i * j * bytes > kMaxBytes)
        continue;
      ThreadTile made = make(i, j);
      double cost = getCost(contraction, made);
      if (made.getNumThreads() > numThreads || (least > 0 && cost >= least))
        continue;
      least = cost;
      tile = made;
    }
  if (least > 0)
    return "";
  return llvm::formatv("{0} threads have no registers for a tile of {1}x{2} "
                       "elements",
                       numThreads, rows, columns)
      .str();
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// The index of each loop of `group` when `linear` counts through it.
SmallVector<OpFoldResult> ContractionEmitter::split(OpFoldResult linear,
                                                    const LoopGroup &group) {
  SmallVector<OpFoldResult> indices(group.loops.size());
  for (unsigned i = indices.size(); i-- > 0;) {
    OpFoldResult size = rewriter.getIndexAttr(group.sizes[i]);
    indices[i] = i == 0 ? linear : index.rem(linear, size);
    if (i > 0)
      linear = index.div(linear, size);
  }
  return indices;
}

/// Neighbouring lanes have the same columns, and those two apart the same rows:
/// then a warp loads 16 bytes a lane in two iterations of the memory's banks,
/// not four. Few digits of the thread's number keep the places of accesses easy
/// to tell apart.
void ContractionEmitter::splitThreadId() {
  auto number = [&](int64_t value) { return rewriter.getIndexAttr(value); };
  thread = index.threadId(getBlockShape(getExecutionScope(contraction.op)));
  OpFoldResult id = thread;
  auto [numRows, numColumns] = tile.numThreads;
  if (tile.getNumThreads() < numThreads)
    id = index.rem(id, number(tile.getNumThreads()));
  auto takeDigit = [&](int64_t base) {
    OpFoldResult digit = index.rem(id, number(base));
    id = index.div(id, number(base));
    return digit;
  };
  int64_t pair = numRows % 2 == 0 ? 2 : 1;
  OpFoldResult low = takeDigit(pair);
  OpFoldResult column = takeDigit(numColumns);
  OpFoldResult row = index.add(index.mul(id, number(pair)), low);
  row = index.mul(row, number(tile.rowRun));
  column = index.mul(column, number(tile.columnRun));
  for (int64_t i = 0; i < tile.rows; ++i)
    rowIndices.push_back(
        split(index.add(row, number(tile.getRow(i))), contraction.rows));
  for (int64_t j = 0; j < tile.columns; ++j)
    columnIndices.push_back(split(index.add(column, number(tile.getColumn(j))),
                                  contraction.columns));
}

void ContractionEmitter::prepare() {
  splitBody();
  splitThreadId();
}

/// The index of `loop`, not one of the sum, at element (row, column) of the
/// thread.
OpFoldResult ContractionEmitter::getIndex(unsigned loop, int64_t row,
                                          int64_t column) {
  if (std::optional<unsigned> i = contraction.rows.find(loop))
    return rowIndices[row][*i];
  if (std::optional<unsigned> i = contraction.columns.find(loop))
    return columnIndices[column][*i];
  return rewriter.getIndexAttr(0);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// One operand of the products. `at` is a row or a column of the thread.
struct ContractionEmitter::Factor {
  OpOperand *operand;
  AffineMap map;
  /// Elements of one access, along the sum or not.
  int64_t length = 1;
  bool isAlongSum = false;
  /// What was loaded, from which element on.
  DenseMap<std::pair<int64_t, int64_t>, Value> loaded{};
};

/// The most elements, up to `limit`, that an access along `loop`, the operand's
/// last, can take: what comes before it steps by multiples of them.
int64_t ContractionEmitter::getLength(const Factor &factor, unsigned loop,
                                      int64_t limit) {
  Value memref = factor.operand->get();
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  // A slot of a ring is aligned as its buffer will be.
  int64_t alignment = memref.getDefiningOp<GetOp>()
                          ? kSlotAlignment
                          : this->alignment.getAlignment(memref);
  int64_t length = std::min(limit, getMaxLength(factor.operand));
  auto fits = [&] {
    return alignment >= length * getOperandElementBytes(memref) &&
           llvm::all_of(llvm::seq<int64_t>(0, type.getRank() - 1),
                        [&](int64_t i) {
                          return type.getDimSize(i) == 1 ||
                                 (!ShapedType::isDynamic(strides[i]) &&
                                  strides[i] % length == 0);
                        });
  };
  while (length > 1 && !fits())
    length /= 2;
  return length;
}

ContractionEmitter::Factor
ContractionEmitter::makeFactor(OpOperand *operand, const LoopGroup &group,
                               int64_t run) {
  Factor factor{operand, contraction.getMap(operand)};
  std::optional<unsigned> loop = getContiguousLoop(contraction, operand);
  if (!loop)
    return factor;
  if (*loop == group.loops.back()) {
    factor.length = getLength(factor, *loop, run);
  } else if (!contraction.sums.empty() &&
             *loop == contraction.sums.loops.back()) {
    factor.isAlongSum = true;
    factor.length = getLength(
        factor, *loop,
        getRun(std::gcd(getUnrolling(), contraction.sums.getLastSize()),
               kMaxAccessBytes));
  }
  return factor;
}

SmallVector<Value> ContractionEmitter::getIndices(const Factor &factor,
                                                  int64_t at, int64_t k) {
  OpFoldResult step = rewriter.getIndexAttr(k);
  if (firstStep)
    step = index.add(firstStep, step);
  SmallVector<OpFoldResult> ofSum = split(step, contraction.sums);
  SmallVector<Value> indices;
  for (unsigned i = 0; i < factor.map.getNumResults(); ++i) {
    unsigned loop = Contraction::getLoop(factor.map, i);
    std::optional<unsigned> inSum = contraction.sums.find(loop);
    indices.push_back(
        index.value(inSum ? ofSum[*inSum] : getIndex(loop, at, at)));
  }
  return indices;
}

Value ContractionEmitter::load(const Factor &factor, int64_t at, int64_t k,
                               int64_t length) {
  Value memref = factor.operand->get();
  SmallVector<Value> indices = getIndices(factor, at, k);
  if (length == 1)
    return memref::LoadOp::create(rewriter, loc, memref, indices);
  auto type = VectorType::get({length}, getElementTypeOrSelf(memref));
  return vector::LoadOp::create(
      rewriter, loc, type, memref, indices,
      /*nontemporal=*/false,
      llvm::Align(length * getOperandElementBytes(memref)));
}

Value ContractionEmitter::getElement(Factor &factor, int64_t at, int64_t k) {
  int64_t length = factor.length;
  int64_t place = (factor.isAlongSum ? k : at) % length;
  (factor.isAlongSum ? k : at) -= place;
  Value &loaded = factor.loaded[{at, k}];
  if (!loaded)
    loaded = load(factor, at, k, length);
  if (length == 1)
    return loaded;
  return vector::ExtractOp::create(rewriter, loc, loaded, place);
}

/// A run of columns, of which `at` is the first.
Value ContractionEmitter::getVector(Factor &factor, int64_t at, int64_t k) {
  int64_t length = tile.columnRun;
  if (!factor.isAlongSum && factor.length == length && length > 1)
    return load(factor, at, k, length);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < length; ++i)
    elements.push_back(getElement(factor, at + i, k));
  auto type = VectorType::get({length}, elements.front().getType());
  return vector::FromElementsOp::create(rewriter, loc, type, elements);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Sorts what the body does by the operands that it depends on.
void ContractionEmitter::splitBody() {
  enum { kLhs = 1, kRhs = 2, kSum = 4 };
  Block &body = *contraction.op.getBlock();
  DenseMap<Value, unsigned> uses;
  uses[contraction.op.getMatchingBlockArgument(contraction.lhs)] |= kLhs;
  uses[contraction.op.getMatchingBlockArgument(contraction.rhs)] |= kRhs;
  uses[body.getArguments().back()] |= kSum;
  for (Operation &op : body.without_terminator()) {
    unsigned used = 0;
    for (Value operand : op.getOperands())
      used |= uses.lookup(operand);
    uses[op.getResult(0)] = used;
    if (used == kLhs)
      ofLhs.push_back(&op);
    else if (used == kRhs)
      ofRhs.push_back(&op);
    else if (used != 0)
      ofBoth.push_back(&op);
  }
}

/// `value`, if it is a scalar, in each of `length` elements of a vector.
Value ContractionEmitter::widen(Value value, int64_t length) {
  if (isa<VectorType>(value.getType()))
    return value;
  // Of an element of a vector one operation, where it takes LLVM three.
  auto element = value.getDefiningOp<vector::ExtractOp>();
  if (element && !element.hasDynamicPosition() &&
      element.getSourceVectorType().getRank() == 1) {
    SmallVector<int64_t> places(length, element.getStaticPosition().front());
    return vector::ShuffleOp::create(rewriter, loc, element.getSource(),
                                     element.getSource(), places);
  }
  return vector::BroadcastOp::create(
      rewriter, loc, VectorType::get({length}, value.getType()), value);
}

/// Does `op`, on vectors of `length` elements if any operand is one.
void ContractionEmitter::apply(Operation &op, IRMapping &mapping,
                               int64_t length) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(mapping.lookupOrDefault(operand));
  bool isOnVectors = llvm::any_of(operands, [](Value operand) {
    return isa<VectorType>(operand.getType());
  });
  if (isOnVectors)
    for (Value &operand : operands)
      operand = widen(operand, length);
  Operation *done = rewriter.clone(op);
  done->setOperands(operands);
  Value result = done->getResult(0);
  if (isOnVectors)
    result.setType(VectorType::get({length}, result.getType()));
  mapping.map(op.getResult(0), result);
}

/// A product and its addition to `sum` as one operation; null if the body is
/// another one. f32 and the like are rounded once, which is more exact.
Value ContractionEmitter::fuse(IRMapping &mapping, Value sum) {
  auto product =
      ofBoth.size() == 2 ? dyn_cast<arith::MulFOp>(ofBoth[0]) : nullptr;
  if (!product || !isa<arith::AddFOp>(contraction.combiner) ||
      ofBoth[1] != contraction.combiner)
    return {};
  auto widenOnce = [&](Value value) {
    Value &wide = widened[value];
    if (!wide)
      wide = widen(value, tile.columnRun);
    return wide;
  };
  Value lhs = widenOnce(mapping.lookupOrDefault(product.getLhs()));
  Value rhs = widenOnce(mapping.lookupOrDefault(product.getRhs()));
  return vector::FMAOp::create(rewriter, loc, lhs, rhs, sum);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The number of steps of the sum that are emitted one after the other: all,
/// unless the code would not fit into the cache of instructions.
int64_t ContractionEmitter::getUnrolling() {
  constexpr int64_t kMaxProducts = 4096;
  int64_t limit =
      std::max<int64_t>(kMaxProducts / (tile.rows * tile.columns), 1);
  if (contraction.sums.getSize() <= limit)
    return contraction.sums.getSize();
  int64_t size = contraction.sums.getLastSize();
  int64_t steps = std::min(size, limit);
  while (size % steps != 0)
    --steps;
  return steps;
}

SmallVector<Value> ContractionEmitter::multiplySteps(ValueRange sums,
                                                     Value first,
                                                     int64_t numSteps) {
  firstStep = first;
  Factor lhs = makeFactor(contraction.lhs, contraction.rows, tile.rowRun);
  Factor rhs = makeFactor(contraction.rhs, contraction.columns, tile.columnRun);
  SmallVector<Value> results(sums);
  Block &body = *contraction.op.getBlock();
  Value ofLhsElement = contraction.op.getMatchingBlockArgument(contraction.lhs);
  Value ofRhsElement = contraction.op.getMatchingBlockArgument(contraction.rhs);
  for (int64_t k = 0; k < numSteps; ++k) {
    widened.clear();
    SmallVector<IRMapping> rows;
    for (int64_t i = 0; i < tile.rows; ++i) {
      IRMapping &row = rows.emplace_back(constants);
      row.map(ofLhsElement, getElement(lhs, i, k));
      for (Operation *op : ofLhs)
        apply(*op, row, 1);
    }
    SmallVector<IRMapping> columns;
    for (int64_t j = 0; j < tile.columns; j += tile.columnRun) {
      IRMapping &column = columns.emplace_back(constants);
      column.map(ofRhsElement, getVector(rhs, j, k));
      for (Operation *op : ofRhs)
        apply(*op, column, tile.columnRun);
    }
    Value *sum = results.begin();
    for (IRMapping &row : rows)
      for (IRMapping &column : columns) {
        IRMapping both = column;
        for (auto [from, to] : row.getValueMap())
          both.map(from, to);
        Value fused = fuse(both, *sum);
        both.map(body.getArguments().back(), *sum);
        for (Operation *op : fused ? ArrayRef<Operation *>() : ofBoth)
          apply(*op, both, tile.columnRun);
        *sum++ =
            fused ? fused : both.lookup(contraction.combiner->getResult(0));
      }
  }
  firstStep = {};
  return results;
}

SmallVector<Value> ContractionEmitter::multiply(ValueRange sums) {
  // What all elements share.
  constants.clear();
  Block &body = *contraction.op.getBlock();
  for (OpOperand *input : contraction.op.getDpsInputOperands()) {
    if (input == contraction.lhs || input == contraction.rhs)
      continue;
    Value value = input->get();
    if (isa<MemRefType>(value.getType()))
      value = memref::LoadOp::create(rewriter, loc, value);
    constants.map(contraction.op.getMatchingBlockArgument(input), value);
  }
  auto depends = [&](Operation &op) {
    return llvm::is_contained(ofLhs, &op) || llvm::is_contained(ofRhs, &op) ||
           llvm::is_contained(ofBoth, &op);
  };
  for (Operation &op : body.without_terminator())
    if (!depends(op))
      apply(op, constants, 1);

  int64_t numSteps = contraction.sums.getSize(), unrolling = getUnrolling();
  if (unrolling == numSteps)
    return multiplySteps(sums, Value(), numSteps);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto loop = scf::ForOp::create(rewriter, loc, number(0), number(numSteps),
                                 number(unrolling), sums);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results = multiplySteps(loop.getRegionIterArgs(),
                                             loop.getInductionVar(), unrolling);
  scf::YieldOp::create(rewriter, loc, results);
  return loop.getResults();
}

} // namespace mlir::workgroup
