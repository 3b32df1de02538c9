//===- PartialSums.cpp - What a thread has of shared sums ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops in which each thread of a cooperative reduction sums up its part:
// several accesses under way, of several results. Of the form whose neighbours
// in memory belong to different results, all that is particular to it.
//
//===----------------------------------------------------------------------===//

#include "CooperativeReduction.h"
#include "ThreadLoops.h"
#include "ThreadVectors.h"
#include "Transforms/Utils/BufferTypes.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/AccessWidth.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

/// Accesses that a thread has under way: of global memory, and of what is near.
static constexpr int64_t kLoadsUnderWay = 8;
static constexpr int64_t kNearLoadsUnderWay = 1;
/// More operations than this are not repeated.
static constexpr int64_t kMaxRepeatedOps = 1024;

/// Puts the loop along which most of the inputs lie last.
void CooperativeReduction::sortSerialLoops() {
  auto countInputs = [&](unsigned loop) {
    return llvm::count_if(op.getDpsInputOperands(), [&](OpOperand *input) {
      return getLaneAccess(op, *input, loop) == LaneAccess::Contiguous;
    });
  };
  auto *fastest = serial.begin();
  for (auto *loop = serial.begin(); loop != serial.end(); ++loop)
    if (countInputs(*loop) >= countInputs(*fastest))
      fastest = loop;
  std::rotate(fastest, fastest + 1, serial.end());
}

std::optional<int64_t> CooperativeReduction::countConstantSerial() const {
  int64_t count = 1;
  for (unsigned loop : serial) {
    std::optional<int64_t> extent = getConstantIntValue(extents[loop]);
    if (!extent || llvm::MulOverflow(count, *extent, count))
      return std::nullopt;
  }
  return count;
}

/// What a thread has of the last serial loop: with several of them, no
/// iteration is left over at its end.
ThreadVector
CooperativeReduction::chooseSerialVector(int64_t most,
                                         AlignmentAnalysis &alignment) {
  ThreadVector vector = chooseLongVector(
      op, serial.back(), extents[serial.back()], most, alignment);
  return serial.size() > 1 && vector.hasRest ? ThreadVector() : vector;
}

/// Chooses how many parts of the sums follow each other without a loop.
void CooperativeReduction::chooseUnroll() {
  int64_t loads = std::max<int64_t>(countTileLoads(op, share.lengths), 1);
  bool isNear = llvm::none_of(op.getDpsInputs(), [](Value input) {
    return isa<MemRefType>(input.getType()) &&
           !isWorkgroupMemory(input.getType());
  });
  int64_t most = isNear ? kNearLoadsUnderWay : kLoadsUnderWay, numOps = 0;
  int64_t unroll =
      llvm::bit_floor<uint64_t>(std::max<int64_t>(most / loads, 1));
  op.getBlock()->walk([&](Operation *) { ++numOps; });
  for (int64_t length : share.lengths)
    numOps *= length;
  std::optional<int64_t> count = countConstantSerial();
  while (unroll > 1 &&
         (unroll * numOps > kMaxRepeatedOps ||
          (count && unroll * share.step * share.vector.length > *count)))
    unroll /= 2;
  share.unroll = unroll;
}

/// Calls `body` with the offsets of each result of a thread along the shared
/// loops.
void CooperativeReduction::forEachPoint(
    function_ref<void(ArrayRef<int64_t>)> body) const {
  SmallVector<int64_t> offsets(shared.size());
  while (true) {
    body(offsets);
    size_t number = shared.size();
    while (number > 0 && ++offsets[number - 1] == getLength(number - 1))
      offsets[--number] = 0;
    if (number == 0)
      return;
  }
}

static bool isMultiple(OpFoldResult index, int64_t of,
                       AlignmentAnalysis &alignment) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant % of == 0;
  return alignment.getDivisor(index) % of == 0;
}

/// Adds to `sums` the `length` iterations of the sums from a multiple of that
/// on.
LaneValues CooperativeReduction::emitTile(OpBuilder &builder,
                                          OpFoldResult iteration,
                                          int64_t length,
                                          ArrayRef<Value> firsts,
                                          const LaneValues &sums,
                                          AlignmentAnalysis &alignment) {
  IndexBuilder index{builder, op.getLoc()};
  RegisterTile tile(builder, op, share.vector, alignment);
  for (auto [number, first] : llvm::enumerate(firsts)) {
    unsigned loop = shared[number];
    bool isWhole = (columns && number == columns->position) ||
                   isMultiple(extents[loop], getStride(number), alignment);
    Value last;
    if (!isWhole)
      last = index.value(
          index.create<arith::SubIOp>(extents[loop], builder.getIndexAttr(1)));
    tile.setLoop(loop, first, getLength(number), last);
  }
  for (size_t number = serial.size(); number-- > 0;) {
    OpFoldResult extent = extents[serial[number]];
    OpFoldResult value = number == 0 ? iteration : index.rem(iteration, extent);
    tile.setLoop(serial[number], index.value(value),
                 number + 1 == serial.size() ? length : 1);
    iteration = number == 0 ? iteration : index.div(iteration, extent);
  }
  if (privateElement)
    tile.setPrivate(serial.back(), *privateElement);
  return tile.emit(sums);
}

static SmallVector<Value> flatten(const LaneValues &values) {
  SmallVector<Value> flat;
  for (const SmallVector<Value> &ofResult : values)
    llvm::append_range(flat, ofResult);
  return flat;
}

/// A loop that carries `sums`; none for no iterations.
static LaneValues emitLoop(OpBuilder &builder, OpFoldResult from,
                           OpFoldResult to, OpFoldResult step,
                           const LaneValues &sums,
                           function_ref<LaneValues(Value, LaneValues)> body) {
  if (isZeroInteger(to))
    return sums;
  Location loc = sums.front().front().getLoc();
  IndexBuilder index{builder, loc};
  size_t points = sums.front().size();
  auto unflatten = [&](ValueRange flat) {
    LaneValues values;
    for (size_t number = 0; number < sums.size(); ++number)
      values.push_back(llvm::to_vector(flat.slice(number * points, points)));
    return values;
  };
  Value first = index.value(from), last = index.value(to),
        stride = index.value(step);
  auto loop =
      scf::ForOp::create(builder, loc, first, last, stride, flatten(sums));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  LaneValues after =
      body(loop.getInductionVar(), unflatten(loop.getRegionIterArgs()));
  scf::YieldOp::create(builder, loc, flatten(after));
  return unflatten(loop.getResults());
}

void CooperativeReduction::keepParts(int64_t length, int64_t parts) {
  hasParts = true;
  share.vector = ThreadVector();
  share.vector.length = length;
  share.lengths.assign(op.getNumLoops(), 1);
  share.lengths[serial.back()] = length;
  share.step = threads;
  share.unroll = parts;
}

/// Adds to `sums` the parts that a thread has; the last one only if there is
/// so much of the sum.
LaneValues CooperativeReduction::emitKeptParts(OpBuilder &builder, Value thread,
                                               ArrayRef<Value> firsts,
                                               LaneValues sums,
                                               AlignmentAnalysis &alignment) {
  Location loc = op.getLoc();
  IndexBuilder index{builder, loc};
  int64_t length = share.vector.length,
          count = countConstantSerial().value_or(0);
  for (int64_t part = 0; part < share.unroll; ++part) {
    privateElement = part * length;
    OpFoldResult place =
        index.mul(index.add(builder.getIndexAttr(part * share.step), thread),
                  builder.getIndexAttr(length));
    if ((part + 1) * share.step * length <= count) {
      sums = emitTile(builder, place, length, firsts, sums, alignment);
      continue;
    }
    Value first = index.value(place),
          end = index.value(builder.getIndexAttr(count));
    Value isIn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       first, end);
    SmallVector<Value> before = flatten(sums);
    auto branch = scf::IfOp::create(builder, loc, TypeRange(before), isIn,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(
        builder, loc,
        flatten(emitTile(builder, first, length, firsts, sums, alignment)));
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, before);
    for (auto [number, value] : llvm::enumerate(branch.getResults()))
      sums[number] = {value};
  }
  privateElement.reset();
  return sums;
}

LaneValues CooperativeReduction::emitSums(OpBuilder &builder, Value thread,
                                          ArrayRef<Value> firsts,
                                          AlignmentAnalysis &alignment) {
  Location loc = op.getLoc();
  IndexBuilder index{builder, loc};
  auto constant = [&](int64_t value) -> OpFoldResult {
    return builder.getIndexAttr(value);
  };
  size_t points = 0;
  forEachPoint([&](ArrayRef<int64_t>) { ++points; });
  LaneValues sums;
  for (Operation *combiner : combiners)
    sums.push_back(SmallVector<Value>(
        points, arith::ConstantOp::create(
                    builder, loc, *arith::getNeutralElement(combiner))));
  if (hasParts)
    return emitKeptParts(builder, thread, firsts, sums, alignment);
  int64_t length = share.vector.length, step = share.step;
  OpFoldResult count = countSerial(builder);
  OpFoldResult vectors = index.div(count, constant(length));
  OpFoldResult turns = index.div(vectors, constant(share.unroll * step));
  // Whole turns of all threads.
  sums = emitLoop(builder, constant(0), turns, constant(1), sums,
                  [&](Value turn, LaneValues values) {
                    for (int64_t part = 0; part < share.unroll; ++part) {
                      OpFoldResult place = index.add(
                          index.mul(turn, constant(share.unroll * step)),
                          index.add(constant(part * step), thread));
                      values =
                          emitTile(builder, index.mul(place, constant(length)),
                                   length, firsts, values, alignment);
                    }
                    return values;
                  });
  // What is left of vectors, then of elements.
  if (!isMultiple(vectors, share.unroll * step, alignment))
    sums = emitLoop(
        builder,
        index.add(index.mul(turns, constant(share.unroll * step)), thread),
        vectors, constant(step), sums, [&](Value place, LaneValues values) {
          return emitTile(builder, index.mul(place, constant(length)), length,
                          firsts, values, alignment);
        });
  if (share.vector.hasRest)
    sums = emitLoop(
        builder, index.add(index.mul(vectors, constant(length)), thread), count,
        constant(step), sums, [&](Value place, LaneValues values) {
          return emitTile(builder, place, /*length=*/1, firsts, values,
                          alignment);
        });
  return sums;
}

//===----------------------------------------------------------------------===//
// Sums across memory
//===----------------------------------------------------------------------===//

/// As few neighbours as this are not worth rows of threads.
static constexpr int64_t kFewColumns = 8;
/// The most workgroup memory for what rows of threads exchange.
static constexpr int64_t kMaxSlotBytes = 32768;
/// The most steps of the sums of which a thread loads an input together.
static constexpr int64_t kMaxColumnSteps = 4;

/// The number of the shared loop along which an input lies that each step of
/// the sums reads anew.
std::optional<unsigned> CooperativeReduction::findColumnLoop() const {
  linalg::LinalgOp reduction = op;
  for (OpOperand *input : reduction.getDpsInputOperands()) {
    AffineMap map = reduction.getMatchingIndexingMap(input);
    if (!llvm::all_of(serial,
                      [&](unsigned loop) { return map.isFunctionOfDim(loop); }))
      continue;
    for (auto [number, loop] : llvm::enumerate(shared))
      if (getLaneAccess(reduction, *input, loop) == LaneAccess::Contiguous)
        return maxPoints[number] >= kFewColumns
                   ? std::optional<unsigned>(number)
                   : std::nullopt;
  }
  return std::nullopt;
}

/// True if more results than threads could have one each of are no reason
/// against rows of threads: these read long runs of memory, and have enough to
/// add up.
bool CooperativeReduction::isWide(const Columns &chosen) const {
  linalg::LinalgOp reduction = op;
  std::optional<int64_t> count = countConstantSerial();
  return chosen.length > 1 && chosen.lanes >= kFewColumns &&
         (!count || *count >= kFewColumns * chosen.rows) &&
         llvm::all_of(reduction.getDpsInputOperands(), [&](OpOperand *input) {
           return reduction.getMatchingIndexingMap(input)
               .isProjectedPermutation();
         });
}

bool CooperativeReduction::chooseColumns(AlignmentAnalysis &alignment) {
  std::optional<unsigned> position = findColumnLoop();
  if (!position)
    return false;
  OpFoldResult extent = extents[shared[*position]];
  ThreadVector vector = chooseLongVector(op, shared[*position], extent,
                                         maxPoints[*position], alignment);
  Columns chosen{*position};
  if (!vector.hasRest && vector.conditions.empty())
    chosen.length = vector.length;
  chosen.lanes = llvm::divideCeil(maxPoints[*position], chosen.length);
  int64_t bytes = 0, others = 1;
  for (BlockArgument result : op.getRegionOutputArgs())
    bytes += result.getType().getIntOrFloatBitWidth() / 8;
  for (auto [number, points] : llvm::enumerate(maxPoints))
    others *= number == *position ? 1 : points;
  chosen.rows =
      std::min(threads / chosen.lanes,
               kMaxSlotBytes / (others * chosen.lanes * chosen.length * bytes));
  chosen.isWhole = getConstantIntValue(extent) == chosen.lanes * chosen.length;
  if (chosen.rows <= 1 || (2 * countPoints() > threads && !isWide(chosen)))
    return false;
  columns = chosen;
  chooseColumnShare(alignment);
  return true;
}

/// Chooses what a thread has of the other loops: all results that fit, of
/// several steps if something lies along these and all results fit, too.
void CooperativeReduction::chooseColumnShare(AlignmentAnalysis &alignment) {
  unsigned column = shared[columns->position];
  share.step = columns->rows;
  for (int64_t steps = kMaxColumnSteps; steps > 0; steps /= 2) {
    share.vector = chooseSerialVector(steps, alignment);
    if (!share.vector.conditions.empty())
      share.vector = ThreadVector();
    SmallVector<int64_t> limits(op.getNumLoops(), 1);
    for (auto [number, points] : llvm::enumerate(maxPoints))
      limits[shared[number]] = points;
    limits[column] = columns->length;
    limits[serial.back()] = share.vector.length;
    share.lengths.assign(op.getNumLoops(), 1);
    share.lengths[column] = columns->length;
    share.lengths[serial.back()] = share.vector.length;
    share.lengths = growTile(op, share.lengths, limits);
    if (llvm::equal(share.lengths, limits))
      break;
  }
  chooseUnroll();
}

static void storeNeighbours(OpBuilder &builder, Location loc,
                            ArrayRef<Value> values, Value buffer,
                            ValueRange indices) {
  if (values.size() == 1) {
    memref::StoreOp::create(builder, loc, values.front(), buffer, indices);
    return;
  }
  Type element = values.front().getType();
  auto type = VectorType::get({static_cast<int64_t>(values.size())}, element);
  int64_t bytes = std::min<int64_t>(
      values.size() * element.getIntOrFloatBitWidth() / 8, kMinBufferAlignment);
  Value vector = vector::FromElementsOp::create(builder, loc, type, values);
  vector::StoreOp::create(builder, loc, vector, buffer, indices,
                          /*nontemporal=*/false, llvm::Align(bytes));
}

/// What a thread of row `row` does for the results from `firsts` on.
void CooperativeReduction::emitColumnPart(OpBuilder &builder, Value row,
                                          ArrayRef<Value> firsts,
                                          AlignmentAnalysis &alignment) {
  Location loc = op.getLoc();
  IndexBuilder index{builder, loc};
  LaneValues sums = emitSums(builder, row, firsts, alignment);
  size_t point = 0, stride = 1;
  for (size_t number = columns->position + 1; number < shared.size(); ++number)
    stride *= getLength(number);
  // Neighbours along the columns are stored together.
  forEachPoint([&](ArrayRef<int64_t> offsets) {
    size_t current = point++;
    if (offsets[columns->position] != 0)
      return;
    SmallVector<Value> indices;
    for (auto [number, first] : llvm::enumerate(firsts))
      if (number != columns->position)
        indices.push_back(index.value(
            index.add(first, builder.getIndexAttr(offsets[number]))));
    indices.append({row, firsts[columns->position]});
    for (auto [values, buffer] : llvm::zip_equal(sums, slots)) {
      SmallVector<Value> neighbours;
      for (int64_t lane = 0; lane < columns->length; ++lane)
        neighbours.push_back(values[current + lane * stride]);
      storeNeighbours(builder, loc, neighbours, buffer, indices);
    }
  });
}

void CooperativeReduction::emitColumnParts(OpBuilder &builder,
                                           AlignmentAnalysis &alignment) {
  Location loc = op.getLoc();
  IndexBuilder index{builder, loc};
  SmallVector<OpFoldResult> counts{builder.getIndexAttr(columns->rows),
                                   builder.getIndexAttr(columns->lanes)};
  createThreadLoop(builder, loc, counts, [&](ValueRange ids) {
    Value first =
        index.value(index.mul(ids[1], builder.getIndexAttr(columns->length)));
    if (!columns->isWhole) {
      Value end = index.value(extents[shared[columns->position]]);
      Value isIn = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::slt, first, end);
      builder.setInsertionPointToStart(
          scf::IfOp::create(builder, loc, isIn).thenBlock());
    }
    createSerialLoops(builder, loc, countChunks(builder), [&](ValueRange ivs) {
      SmallVector<Value> firsts;
      auto next = ivs.begin();
      for (size_t number = 0; number < shared.size(); ++number)
        firsts.push_back(
            number == columns->position
                ? first
                : index.value(index.mul(
                      *next++, builder.getIndexAttr(getLength(number)))));
      emitColumnPart(builder, ids[0], firsts, alignment);
    });
  });
}

/// Adds up what the rows of threads have for the result at `ivs`.
Value CooperativeReduction::emitColumnTotal(OpBuilder &builder,
                                            ArrayRef<Value> ivs,
                                            unsigned number, Value start) {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto loop = scf::ForOp::create(builder, loc, constant(0),
                                 constant(columns->rows), constant(1), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> indices(ivs);
  indices.erase(indices.begin() + columns->position);
  indices.append({loop.getInductionVar(), ivs[columns->position]});
  Value part = memref::LoadOp::create(builder, loc, slots[number], indices);
  Value sum = combine(builder, number, loop.getRegionIterArg(0), part);
  scf::YieldOp::create(builder, loc, sum);
  return loop.getResult(0);
}

} // namespace mlir::workgroup
