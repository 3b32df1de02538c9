//===- ColumnReduction.cpp - Sums of all threads, across memory -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The form of cooperative reductions whose neighbours in memory belong to
// different results.
//
//===----------------------------------------------------------------------===//

#include "CooperativeReduction.h"
#include "ThreadLoops.h"
#include "ThreadVectors.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

/// As few neighbours as this are not worth rows of threads.
static constexpr int64_t kFewColumns = 8;
/// The most workgroup memory for what rows of threads exchange.
static constexpr int64_t kMaxSlotBytes = 16384;

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

void CooperativeReduction::chooseColumns(AlignmentAnalysis &alignment) {
  std::optional<unsigned> position = findColumnLoop();
  if (!position)
    return;
  OpFoldResult extent = extents[shared[*position]];
  ThreadVector vector = chooseThreadVector(
      op, op.getDpsInputOperands(), shared[*position], extent,
      /*numPoints=*/std::nullopt, threads, alignment);
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
  if (chosen.rows > 1)
    columns = chosen;
}

/// The extents of the shared loops but that of neighbours.
SmallVector<OpFoldResult> CooperativeReduction::getOuterExtents() const {
  SmallVector<OpFoldResult> counts;
  for (auto [number, loop] : llvm::enumerate(shared))
    if (number != columns->position)
      counts.push_back(extents[loop]);
  return counts;
}

/// What a thread of row `row` sums up of the neighbours from `first` on.
LaneValues CooperativeReduction::emitColumnSums(OpBuilder &builder, Value row,
                                                Value first,
                                                ArrayRef<Value> ivs) {
  Location loc = op.getLoc();
  IndexBuilder index{builder, loc};
  int64_t length = columns->length;
  SmallVector<Value> starts;
  for (Operation *combiner : combiners)
    starts.append(
        length, arith::ConstantOp::create(builder, loc,
                                          *arith::getNeutralElement(combiner)));
  Value to = index.value(countSerial(builder));
  Value step = arith::ConstantIndexOp::create(builder, loc, columns->rows);
  auto loop = scf::ForOp::create(builder, loc, row, to, step, starts);
  auto unflatten = [&](ValueRange flat) {
    LaneValues values;
    for (size_t number = 0; number < combiners.size(); ++number)
      values.push_back(llvm::to_vector(flat.slice(number * length, length)));
    return values;
  };
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  PointEmitter emitter(builder, op, extents, shared[columns->position], length);
  const Value *next = ivs.begin();
  for (auto [number, sharedLoop] : llvm::enumerate(shared))
    emitter.setLoop(sharedLoop, number == columns->position ? first : *next++);
  setSerialLoops(builder, emitter, loop.getInductionVar());
  SmallVector<Value> sums;
  for (const SmallVector<Value> &values :
       emitter.emitBody(unflatten(loop.getRegionIterArgs())))
    llvm::append_range(sums, values);
  scf::YieldOp::create(builder, loc, sums);
  return unflatten(loop.getResults());
}

/// What a thread does where the loops but that of neighbours have the values
/// `ivs`.
void CooperativeReduction::emitColumnPart(OpBuilder &builder, Value row,
                                          Value first, ArrayRef<Value> ivs) {
  Location loc = op.getLoc();
  SmallVector<Value> indices(ivs);
  indices.append({row, first});
  LaneValues sums = emitColumnSums(builder, row, first, ivs);
  for (auto [values, buffer] : llvm::zip_equal(sums, slots)) {
    if (columns->length == 1) {
      memref::StoreOp::create(builder, loc, values.front(), buffer, indices);
      continue;
    }
    Type element = values.front().getType();
    auto type = VectorType::get({columns->length}, element);
    int64_t bytes = columns->length * element.getIntOrFloatBitWidth() / 8;
    Value vector = vector::FromElementsOp::create(builder, loc, type, values);
    vector::StoreOp::create(builder, loc, vector, buffer, indices,
                            /*nontemporal=*/false, llvm::Align(bytes));
  }
}

void CooperativeReduction::emitColumnParts(OpBuilder &builder) {
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
    createSerialLoops(builder, loc, getOuterExtents(), [&](ValueRange ivs) {
      emitColumnPart(builder, ids[0], first, llvm::to_vector(ivs));
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
