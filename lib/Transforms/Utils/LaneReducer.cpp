//===- LaneReducer.cpp - Reductions over the lanes of a warp --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneReducer.h"
#include "mlir/Dialect/GPU/Utils/GPUUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

bool isShuffled(Type type, bool isWideToo) {
  return type.isInteger(32) || type.isF32() ||
         (isWideToo && (type.isInteger(64) || type.isF64()));
}

//===----------------------------------------------------------------------===//
// Combining two values
//===----------------------------------------------------------------------===//

Value Combiner::combine(OpBuilder &builder, Location loc, Value lhs,
                        Value rhs) const {
  if (operation)
    return vector::makeArithReduction(
        builder, loc, gpu::convertReductionKind(*operation), lhs, rhs);
  IRMapping mapping;
  mapping.map(body->getArguments(), ValueRange{lhs, rhs});
  if (body->hasOneBlock()) {
    for (Operation &op : body->front().without_terminator())
      builder.clone(op, mapping);
    return mapping.lookup(body->front().getTerminator()->getOperand(0));
  }
  auto execute = scf::ExecuteRegionOp::create(builder, loc, lhs.getType());
  body->cloneInto(&execute.getRegion(), mapping);
  OpBuilder::InsertionGuard guard(builder);
  for (Block &block : execute.getRegion())
    if (auto yield = dyn_cast<gpu::YieldOp>(block.getTerminator())) {
      builder.setInsertionPoint(yield);
      scf::YieldOp::create(builder, yield.getLoc(), yield.getOperands());
      yield.erase();
    }
  return execute.getResult(0);
}

Value Combiner::combineIf(OpBuilder &builder, Location loc, Value condition,
                          Value lhs, Value rhs) const {
  if (operation) {
    Value combined = combine(builder, loc, lhs, rhs);
    return arith::SelectOp::create(builder, loc, condition, combined, lhs);
  }
  // A region may divide or load: it is for values that exist.
  auto emitThen = [&](OpBuilder &nested, Location loc) {
    scf::YieldOp::create(nested, loc, combine(nested, loc, lhs, rhs));
  };
  auto emitElse = [&](OpBuilder &nested, Location loc) {
    scf::YieldOp::create(nested, loc, lhs);
  };
  return scf::IfOp::create(builder, loc, condition, emitThen, emitElse)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

Lanes getFirstLanes(IndexBuilder &index, OpFoldResult count, int64_t maxCount) {
  Lanes lanes;
  lanes.count = index.i32(count);
  lanes.maxCount = maxCount;
  if (std::optional<int64_t> known = getConstantIntValue(count))
    lanes.divisor = *known;
  return lanes;
}

Lanes getLanesOfWarp(IndexBuilder &index, const BlockShape &block,
                     OpFoldResult id) {
  std::optional<int64_t> known = block.getNumThreads();
  if (known && (*known < kWarpSize || *known % kWarpSize == 0)) {
    int64_t count = std::min(*known, kWarpSize);
    return getFirstLanes(index, index.builder.getIndexAttr(count), count);
  }
  OpFoldResult numThreads = index.numThreads(block);
  OpFoldResult warpSize = index.builder.getIndexAttr(kWarpSize);
  OpFoldResult first = index.mul(index.div(id, warpSize), warpSize);
  OpFoldResult rest = index.create<arith::SubIOp>(numThreads, first);
  OpFoldResult count = index.create<arith::MinUIOp>(rest, warpSize);
  Lanes lanes = getFirstLanes(index, count, kWarpSize);
  if (known)
    lanes.divisor = std::gcd(*known, kWarpSize);
  return lanes;
}

/// The integer that carries values of `type` through shuffles.
static IntegerType getCarrier(Type type) {
  return IntegerType::get(type.getContext(),
                          type.getIntOrFloatBitWidth() <= 32 ? 32 : 64);
}

Value toCarrier(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  if (isShuffled(type, /*isWideToo=*/true))
    return value;
  Type bits = builder.getIntegerType(type.getIntOrFloatBitWidth());
  if (type != bits)
    value = arith::BitcastOp::create(builder, loc, bits, value);
  return builder.createOrFold<arith::ExtUIOp>(loc, getCarrier(type), value);
}

Value fromCarrier(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  Type bits = builder.getIntegerType(type.getIntOrFloatBitWidth());
  value = arith::TruncIOp::create(builder, loc, bits, value);
  if (type != bits)
    value = arith::BitcastOp::create(builder, loc, type, value);
  return value;
}

std::pair<Value, Value> LaneReducer::shuffle(gpu::ShuffleMode mode, Value value,
                                             Value lane) {
  auto shuffle = gpu::ShuffleOp::create(
      builder, loc, toCarrier(builder, loc, value), lane, lanes.count, mode);
  Value result =
      fromCarrier(builder, loc, shuffle.getShuffleResult(), value.getType());
  return {result, shuffle.getValid()};
}

bool LaneReducer::isComplete() const {
  auto span = static_cast<int64_t>(llvm::PowerOf2Ceil(getSpan()));
  return lanes.divisor % span == 0;
}

Value LaneReducer::reduceToFirst(Value value) {
  for (int64_t step = cluster.stride; step < getSpan(); step *= 2) {
    auto [other, isValid] =
        shuffle(gpu::ShuffleMode::XOR, value, constant(step));
    value = isComplete()
                ? combiner.combine(builder, loc, value, other)
                : combiner.combineIf(builder, loc, isValid, value, other);
  }
  return value;
}

Value LaneReducer::reduceToAll(Value value, OpFoldResult id) {
  value = reduceToFirst(value);
  // A region may make something else of the same values in another order.
  if (cluster.stride >= getSpan() || (isComplete() && combiner.operation))
    return value;
  // The first lane of a cluster has no bit of its other ones.
  Value first = constant(0);
  if (cluster.stride != 1 || getSpan() < lanes.maxCount) {
    int64_t others = (cluster.size - 1) * cluster.stride;
    first = arith::AndIOp::create(builder, loc, index.i32(id),
                                  constant((kWarpSize - 1) & ~others));
  }
  return shuffle(gpu::ShuffleMode::IDX, value, first).first;
}

} // namespace mlir::workgroup
