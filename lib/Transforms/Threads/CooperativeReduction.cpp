//===- CooperativeReduction.cpp - Sums of all threads ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CooperativeReduction.h"
#include "ThreadLoops.h"
#include "ThreadVectors.h"
#include "Transforms/Utils/BufferTypes.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

/// Sums of fewer elements are done by one thread.
static constexpr int64_t kFewElements = kWarpSize;

std::optional<CooperativeReduction>
CooperativeReduction::get(linalg::LinalgOp op, ArrayRef<OpFoldResult> extents,
                          int64_t threads) {
  CooperativeReduction reduction(op, extents, threads);
  if (!reduction.analyzeLoops() || !reduction.analyzeBody())
    return std::nullopt;
  return reduction;
}

bool CooperativeReduction::analyzeLoops() {
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (llvm::is_contained(shared, loop))
      continue;
    if (kind != utils::IteratorType::reduction)
      return false;
    serial.push_back(loop);
  }
  if (serial.empty() || threads % kWarpSize != 0 || threads < kWarpSize)
    return false;
  int64_t points = 1, sums = 1;
  for (unsigned loop : shared) {
    std::optional<int64_t> bound = getUpperBound(extents[loop]);
    if (!bound || *bound < 1 || *bound > threads)
      return false;
    maxPoints.push_back(*bound);
    points *= *bound;
    if (2 * points > threads)
      return false;
  }
  for (unsigned loop : serial) {
    std::optional<int64_t> count = getConstantIntValue(extents[loop]);
    sums = count ? std::min(sums * *count, kFewElements) : kFewElements;
  }
  return sums >= kFewElements &&
         llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
           AffineMap map = op.getMatchingIndexingMap(&init);
           return map.isProjectedPermutation() &&
                  map.getNumResults() == shared.size();
         });
}

static std::optional<gpu::AllReduceOperation> getReduction(Operation *op) {
  using Kind = gpu::AllReduceOperation;
  return llvm::TypeSwitch<Operation *, std::optional<Kind>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Kind::ADD; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Kind::MUL; })
      .Case<arith::MaximumFOp>([](auto) { return Kind::MAXIMUMF; })
      .Case<arith::MinimumFOp>([](auto) { return Kind::MINIMUMF; })
      .Case<arith::MaxNumFOp>([](auto) { return Kind::MAXNUMF; })
      .Case<arith::MinNumFOp>([](auto) { return Kind::MINNUMF; })
      .Case<arith::MaxSIOp>([](auto) { return Kind::MAXSI; })
      .Case<arith::MinSIOp>([](auto) { return Kind::MINSI; })
      .Case<arith::MaxUIOp>([](auto) { return Kind::MAXUI; })
      .Case<arith::MinUIOp>([](auto) { return Kind::MINUI; })
      .Case<arith::AndIOp>([](auto) { return Kind::AND; })
      .Case<arith::OrIOp>([](auto) { return Kind::OR; })
      .Case<arith::XOrIOp>([](auto) { return Kind::XOR; })
      .Default(std::nullopt);
}

bool CooperativeReduction::analyzeBody() {
  SmallVector<BlockArgument> results(op.getRegionOutputArgs());
  for (unsigned number = 0; number < results.size(); ++number) {
    SmallVector<Operation *, 4> combiner;
    Type type = results[number].getType();
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() < 8 ||
        !results[number].hasOneUse() ||
        !matchReduction(results, number, combiner) || combiner.size() != 1 ||
        *results[number].user_begin() != combiner.front() ||
        !getReduction(combiner.front()) ||
        !arith::getNeutralElement(combiner.front()))
      return false;
    combiners.push_back(combiner.front());
  }
  return true;
}

Value CooperativeReduction::combine(OpBuilder &builder, unsigned number,
                                    Value lhs, Value rhs) {
  IRMapping mapping;
  Operation *combiner = combiners[number];
  Value result = op.getRegionOutputArgs()[number];
  bool isFirst = combiner->getOperand(0) == result;
  mapping.map(combiner->getOperand(isFirst ? 0 : 1), lhs);
  mapping.map(combiner->getOperand(isFirst ? 1 : 0), rhs);
  return builder.clone(*combiner, mapping)->getResult(0);
}

void CooperativeReduction::createSlots(OpBuilder &builder) {
  SmallVector<int64_t> shape(maxPoints);
  if (columns) {
    shape.erase(shape.begin() + columns->position);
    shape.push_back(columns->rows);
    shape.push_back(columns->lanes * columns->length);
  } else {
    shape.push_back(threads / kWarpSize);
  }
  for (BlockArgument result : op.getRegionOutputArgs()) {
    auto type = MemRefType::get(shape, result.getType(), AffineMap(),
                                getWorkgroupSpace(op.getContext()));
    slots.push_back(memref::AllocOp::create(
        builder, op.getLoc(), type,
        builder.getI64IntegerAttr(kMinBufferAlignment)));
  }
}

/// The iterations of all loops of the sums.
OpFoldResult CooperativeReduction::countSerial(OpBuilder &builder) {
  IndexBuilder index{builder, op.getLoc()};
  OpFoldResult count = builder.getIndexAttr(1);
  for (unsigned loop : serial)
    count = index.mul(count, extents[loop]);
  return count;
}

/// Sets the loops of the sums to one of all their iterations.
void CooperativeReduction::setSerialLoops(OpBuilder &builder,
                                          PointEmitter &emitter,
                                          OpFoldResult iteration) {
  IndexBuilder index{builder, op.getLoc()};
  for (unsigned number = serial.size(); number-- > 1;) {
    OpFoldResult extent = extents[serial[number]];
    emitter.setLoop(serial[number], index.value(index.rem(iteration, extent)));
    iteration = index.div(iteration, extent);
  }
  emitter.setLoop(serial.front(), index.value(iteration));
}

/// What `thread` sums up by itself.
SmallVector<Value>
CooperativeReduction::emitThread(OpBuilder &builder, Value thread,
                                 ArrayRef<Value> ivs,
                                 AlignmentAnalysis &alignment) {
  Location loc = op.getLoc();
  IndexBuilder index{builder, loc};
  ThreadVector vector;
  OpFoldResult count = extents[serial.front()];
  if (serial.size() == 1)
    vector =
        chooseThreadVector(op, op.getDpsInputOperands(), serial.front(), count,
                           getConstantIntValue(count), threads, alignment);
  if (vector.hasRest || !vector.conditions.empty())
    vector = ThreadVector();
  count = index.div(countSerial(builder), builder.getIndexAttr(vector.length));

  SmallVector<Value> sums;
  for (Operation *combiner : combiners)
    sums.push_back(arith::ConstantOp::create(
        builder, loc, *arith::getNeutralElement(combiner)));
  Value to = index.value(count);
  Value step = arith::ConstantIndexOp::create(builder, loc, threads);
  auto loop = scf::ForOp::create(builder, loc, thread, to, step, sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  PointEmitter emitter(builder, op, extents, serial.back(), vector.length);
  for (auto [number, value] : llvm::enumerate(ivs))
    emitter.setLoop(shared[number], value);
  setSerialLoops(
      builder, emitter,
      index.mul(loop.getInductionVar(), builder.getIndexAttr(vector.length)));
  scf::YieldOp::create(
      builder, loc,
      emitter.emitChain(llvm::to_vector_of<Value>(loop.getRegionIterArgs())));
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// What `thread` does for the result at `ivs`.
void CooperativeReduction::emitPart(OpBuilder &builder, Value thread,
                                    ArrayRef<Value> ivs,
                                    AlignmentAnalysis &alignment) {
  Location loc = op.getLoc();
  IndexBuilder index{builder, loc};
  SmallVector<Value> sums = emitThread(builder, thread, ivs, alignment);
  for (auto [number, sum] : llvm::enumerate(sums))
    sum = gpu::SubgroupReduceOp::create(
        builder, loc, sum, *getReduction(combiners[number]), /*uniform=*/true);
  OpFoldResult warpSize = builder.getIndexAttr(kWarpSize);
  Value lane = index.value(index.rem(thread, warpSize));
  Value zero = index.value(builder.getIndexAttr(0));
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, zero);
  auto branch = scf::IfOp::create(builder, loc, isFirst);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> indices(ivs);
  indices.push_back(index.value(index.div(thread, warpSize)));
  for (auto [sum, buffer] : llvm::zip_equal(sums, slots))
    memref::StoreOp::create(builder, loc, sum, buffer, indices);
}

void CooperativeReduction::emitParts(OpBuilder &builder,
                                     AlignmentAnalysis &alignment) {
  chooseColumns(alignment);
  createSlots(builder);
  if (columns)
    return emitColumnParts(builder);
  Location loc = op.getLoc();
  createThreadLoop(
      builder, loc, OpFoldResult(builder.getIndexAttr(threads)),
      [&](ValueRange thread) {
        SmallVector<OpFoldResult> counts;
        for (unsigned loop : shared)
          counts.push_back(extents[loop]);
        createSerialLoops(builder, loc, counts, [&](ValueRange ivs) {
          emitPart(builder, thread.front(), llvm::to_vector(ivs), alignment);
        });
      });
}

Value CooperativeReduction::emitTotal(OpBuilder &builder, ArrayRef<Value> ivs,
                                      unsigned number, Value start) {
  if (columns)
    return emitColumnTotal(builder, ivs, number, start);
  Location loc = op.getLoc();
  IndexBuilder index{builder, loc};
  Type element = start.getType();
  int64_t warps = threads / kWarpSize;
  int64_t length = kMinBufferAlignment * 8 / element.getIntOrFloatBitWidth();
  if (warps % length != 0)
    length = 1;
  auto type = VectorType::get({length}, element);
  for (int64_t warp = 0; warp < warps; warp += length) {
    SmallVector<Value> indices(ivs);
    indices.push_back(index.value(builder.getIndexAttr(warp)));
    if (length == 1) {
      Value part = memref::LoadOp::create(builder, loc, slots[number], indices);
      start = combine(builder, number, start, part);
      continue;
    }
    Value parts = vector::LoadOp::create(builder, loc, type, slots[number],
                                         indices, /*nontemporal=*/false,
                                         llvm::Align(kMinBufferAlignment));
    for (int64_t lane = 0; lane < length; ++lane)
      start = combine(builder, number, start,
                      vector::ExtractOp::create(builder, loc, parts, lane));
  }
  return start;
}

} // namespace mlir::workgroup
