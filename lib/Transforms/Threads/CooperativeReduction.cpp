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
#include "workgroup/Target/AccessWidth.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

/// Sums of fewer elements are done by one thread.
static constexpr int64_t kFewElements = kWarpSize;
/// The most results of a block that threads have parts of.
static constexpr int64_t kMaxResults = 1 << 13;

std::optional<CooperativeReduction>
CooperativeReduction::get(linalg::LinalgOp op, ArrayRef<OpFoldResult> extents,
                          int64_t threads, AlignmentAnalysis &alignment) {
  CooperativeReduction reduction(op, extents, threads);
  if (!reduction.analyzeLoops() || !reduction.analyzeBody())
    return std::nullopt;
  reduction.sortSerialLoops();
  if (reduction.chooseColumns(alignment))
    return reduction;
  if (2 * reduction.countPoints() > threads)
    return std::nullopt;
  reduction.chooseRows(alignment);
  return reduction;
}

/// The most results that there are.
int64_t CooperativeReduction::countPoints() const {
  int64_t points = 1;
  for (int64_t number : maxPoints)
    points *= number;
  return points;
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
    if (!bound || *bound < 1 || *bound > kMaxResults)
      return false;
    maxPoints.push_back(*bound);
    points *= *bound;
    if (points > kMaxResults)
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

std::optional<gpu::AllReduceOperation> getReduction(Operation *op) {
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
  SmallVector<int64_t> shape;
  for (auto [number, points] : llvm::enumerate(maxPoints))
    if (!columns || number != columns->position)
      shape.push_back(llvm::alignTo(points, getStride(number)));
  if (columns) {
    shape.push_back(columns->rows);
    shape.push_back(columns->lanes * columns->length);
  } else {
    shape.push_back(share.step / kWarpSize);
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

/// How often a thread goes through the sums: the chunks of results along each
/// shared loop, but that of neighbours.
SmallVector<OpFoldResult>
CooperativeReduction::countChunks(OpBuilder &builder) {
  IndexBuilder index{builder, op.getLoc()};
  SmallVector<OpFoldResult> counts;
  for (auto [number, loop] : llvm::enumerate(shared)) {
    if (columns && number == columns->position)
      continue;
    int64_t stride = getStride(number);
    counts.push_back(
        index.div(index.add(extents[loop], builder.getIndexAttr(stride - 1)),
                  builder.getIndexAttr(stride)));
  }
  return counts;
}

//===----------------------------------------------------------------------===//
// Sums along memory
//===----------------------------------------------------------------------===//

/// The most results of a thread along a dimension.
static constexpr int64_t kMaxResultsAlong = 16;

/// Chooses groups of threads for what results a thread does not have at once.
void CooperativeReduction::chooseGroups() {
  int64_t most = 1;
  for (auto [number, points] : llvm::enumerate(maxPoints)) {
    int64_t chunks = llvm::divideCeil(points, getLength(number));
    if (chunks <= most)
      continue;
    most = chunks;
    groups.position = number;
  }
  groups.count = llvm::bit_floor<uint64_t>(most);
  while (threads % (groups.count * kWarpSize) != 0)
    groups.count /= 2;
}

void CooperativeReduction::chooseRows(AlignmentAnalysis &alignment) {
  std::optional<int64_t> count = countConstantSerial();
  int64_t mostResults = kMaxResultsAlong, mostElements = kWidestAccessBytes;
  while (true) {
    SmallVector<int64_t> limits(op.getNumLoops(), 1);
    for (auto [number, points] : llvm::enumerate(maxPoints))
      limits[shared[number]] = std::min(points, mostResults);
    share.vector = chooseSerialVector(mostElements, alignment);
    share.lengths.assign(op.getNumLoops(), 1);
    share.lengths[serial.back()] = limits[serial.back()] = share.vector.length;
    share.lengths = growTile(op, share.lengths, limits);
    chooseGroups();
    share.step = threads / groups.count;
    // Half of the threads at least are to have something to do.
    if (!count || 2 * (*count / share.vector.length) >= share.step)
      break;
    int64_t longest = 1; // of what is not done at once anyway
    for (auto [number, points] : llvm::enumerate(maxPoints))
      if (getLength(number) < points)
        longest = std::max(longest, getLength(number));
    if (longest > 1)
      mostResults = longest / 2;
    else if (share.vector.length > 1)
      mostElements = share.vector.length / 2;
    else
      break;
  }
  chooseUnroll();
}

/// What `thread` of a group does for the results from `firsts` on.
void CooperativeReduction::emitRowPart(OpBuilder &builder, Value thread,
                                       ArrayRef<Value> firsts,
                                       AlignmentAnalysis &alignment) {
  Location loc = op.getLoc();
  IndexBuilder index{builder, loc};
  LaneValues sums = emitSums(builder, thread, firsts, alignment);
  for (auto [number, values] : llvm::enumerate(sums))
    for (Value &sum : values)
      sum = gpu::SubgroupReduceOp::create(builder, loc, sum,
                                          *getReduction(combiners[number]),
                                          /*uniform=*/true);
  OpFoldResult warpSize = builder.getIndexAttr(kWarpSize);
  Value lane = index.value(index.rem(thread, warpSize));
  Value zero = index.value(builder.getIndexAttr(0));
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, zero);
  auto branch = scf::IfOp::create(builder, loc, isFirst);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value warp = index.value(share.step == kWarpSize
                               ? OpFoldResult(builder.getIndexAttr(0))
                               : index.div(thread, warpSize));
  size_t point = 0;
  forEachPoint([&](ArrayRef<int64_t> offsets) {
    SmallVector<Value> indices;
    for (auto [first, offset] : llvm::zip_equal(firsts, offsets))
      indices.push_back(
          index.value(index.add(first, builder.getIndexAttr(offset))));
    indices.push_back(warp);
    for (auto [values, buffer] : llvm::zip_equal(sums, slots))
      memref::StoreOp::create(builder, loc, values[point], buffer, indices);
    ++point;
  });
}

void CooperativeReduction::emitRowParts(OpBuilder &builder,
                                        AlignmentAnalysis &alignment) {
  Location loc = op.getLoc();
  IndexBuilder index{builder, loc};
  createThreadLoop(
      builder, loc, OpFoldResult(builder.getIndexAttr(threads)),
      [&](ValueRange ids) {
        OpFoldResult step = builder.getIndexAttr(share.step);
        OpFoldResult group, thread = ids.front();
        if (groups.count > 1) {
          group = index.div(thread, step);
          thread = index.rem(thread, step);
        }
        createSerialLoops(
            builder, loc, countChunks(builder), [&](ValueRange ivs) {
              SmallVector<Value> firsts;
              for (auto [number, iv] : llvm::enumerate(ivs)) {
                OpFoldResult chunk = iv;
                if (group && number == groups.position)
                  chunk = index.add(
                      index.mul(chunk, builder.getIndexAttr(groups.count)),
                      group);
                firsts.push_back(index.value(
                    index.mul(chunk, builder.getIndexAttr(getLength(number)))));
              }
              emitRowPart(builder, index.value(thread), firsts, alignment);
            });
      });
}

void CooperativeReduction::emitParts(OpBuilder &builder,
                                     AlignmentAnalysis &alignment) {
  createSlots(builder);
  if (columns)
    return emitColumnParts(builder, alignment);
  if (share.vector.conditions.empty())
    return emitRowParts(builder, alignment);
  Location loc = op.getLoc();
  Value holds = createCheck(builder, loc, share.vector);
  auto branch = scf::IfOp::create(builder, loc, holds, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitRowParts(builder, alignment);
  builder.setInsertionPointToStart(branch.elseBlock());
  share.vector = ThreadVector();
  share.lengths[serial.back()] = 1;
  emitRowParts(builder, alignment);
}

Value CooperativeReduction::emitTotal(OpBuilder &builder, ArrayRef<Value> ivs,
                                      unsigned number, Value start) {
  if (columns)
    return emitColumnTotal(builder, ivs, number, start);
  Location loc = op.getLoc();
  IndexBuilder index{builder, loc};
  Type element = start.getType();
  int64_t warps = share.step / kWarpSize;
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
