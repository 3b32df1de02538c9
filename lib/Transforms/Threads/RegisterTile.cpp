//===- RegisterTile.cpp - What a thread sums up at once -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegisterTile.h"
#include "ThreadVectors.h"
#include "Transforms/Utils/SumsOfProducts.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/AccessWidth.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Its size
//===----------------------------------------------------------------------===//

/// Registers of 32 bits that sums and what is multiplied may take.
static constexpr int64_t kMaxRegisters = 96;
/// The most iterations, as each is code.
static constexpr int64_t kMaxPoints = 512;
/// A tile has to save one byte in so many to be worth its code.
static constexpr int64_t kWorthwhile = 8;

static int64_t getBits(Type type) {
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
}

/// The elements of `operand` that a box of `lengths` has.
static int64_t countElements(linalg::LinalgOp op, OpOperand &operand,
                             ArrayRef<int64_t> lengths) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  int64_t elements = 1;
  for (auto [loop, length] : llvm::enumerate(lengths))
    if (map.isFunctionOfDim(loop))
      elements *= length;
  return elements;
}

static int64_t countInputBits(linalg::LinalgOp op, ArrayRef<int64_t> lengths) {
  int64_t bits = 0;
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<MemRefType>(input->get().getType()))
      bits += countElements(op, *input, lengths) *
              getBits(getElementTypeOrSelf(input->get().getType()));
  return bits;
}

static int64_t countRegisters(linalg::LinalgOp op, ArrayRef<int64_t> lengths) {
  int64_t registers = llvm::divideCeil(countInputBits(op, lengths), 32);
  for (OpOperand &init : op.getDpsInitsMutable())
    registers += countElements(op, init, lengths) *
                 llvm::divideCeil(
                     getBits(getElementTypeOrSelf(init.get().getType())), 32);
  return registers;
}

static int64_t countPoints(ArrayRef<int64_t> lengths) {
  int64_t points = 1;
  for (int64_t length : lengths)
    points *= length;
  return points;
}

SmallVector<int64_t> growTile(linalg::LinalgOp op, ArrayRef<int64_t> lengths,
                              ArrayRef<int64_t> limits) {
  SmallVector<int64_t> best(lengths);
  while (true) {
    SmallVector<int64_t> next;
    // Bits for each iteration, compared without division.
    int64_t points = countPoints(best), bits = countInputBits(op, best);
    int64_t leastBits = bits * (kWorthwhile - 1),
            leastPoints = points * kWorthwhile, leastLimit = 0;
    for (auto [loop, limit] : llvm::enumerate(limits)) {
      if (best[loop] >= limit)
        continue;
      SmallVector<int64_t> grown(best);
      grown[loop] = std::min(2 * grown[loop], limit);
      int64_t grownPoints = countPoints(grown),
              grownBits = countInputBits(op, grown);
      int64_t worse = grownBits * leastPoints - leastBits * grownPoints;
      // What the shortest loop does not index is then read just once.
      if (countRegisters(op, grown) > kMaxRegisters ||
          grownPoints > kMaxPoints || worse > 0 ||
          (worse == 0 && leastLimit != 0 && limit >= leastLimit))
        continue;
      leastBits = grownBits, leastPoints = grownPoints, leastLimit = limit;
      next = grown;
    }
    if (next.empty())
      return best;
    best = next;
  }
}

int64_t countTileLoads(linalg::LinalgOp op, ArrayRef<int64_t> lengths) {
  int64_t loads = 0;
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<MemRefType>(input->get().getType()))
      loads += llvm::divideCeil(
          countElements(op, *input, lengths) *
              getBits(getElementTypeOrSelf(input->get().getType())),
          8 * kWidestAccessBytes);
  return loads;
}

//===----------------------------------------------------------------------===//
// What depends on what
//===----------------------------------------------------------------------===//

RegisterTile::RegisterTile(OpBuilder &builder, linalg::LinalgOp op,
                           const ThreadVector &assumed,
                           AlignmentAnalysis &alignment)
    : builder(builder), op(op), assumed(assumed), alignment(alignment),
      shared(getSharedLoops(op)), sides(op.getNumLoops()) {
  findLoops();
}

/// Finds the loops that each value of the body depends on. One that depends on
/// the sums, or that is made by an operation with effects, has none: it is made
/// for each point.
void RegisterTile::findLoops() {
  Block *body = op.getBlock();
  for (BlockArgument argument : op.getRegionInputArgs()) {
    AffineMap map =
        op.getMatchingIndexingMap(op.getMatchingOpOperand(argument));
    llvm::SmallBitVector loops(op.getNumLoops());
    for (unsigned loop = 0; loop < loops.size(); ++loop)
      loops[loop] = map.isFunctionOfDim(loop);
    loopsOf[argument] = loops;
  }
  for (Operation &inner : body->without_terminator()) {
    llvm::SmallBitVector loops(op.getNumLoops());
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      loops.set(index.getDim());
    else if (inner.getNumRegions() || !isMemoryEffectFree(&inner))
      continue;
    bool dependsOnSums = false;
    for (Value operand : inner.getOperands()) {
      if (operand.getParentBlock() != body)
        continue;
      auto known = loopsOf.find(operand);
      dependsOnSums |= known == loopsOf.end();
      if (!dependsOnSums)
        loops |= known->second;
    }
    if (!dependsOnSums)
      for (Value result : inner.getResults())
        loopsOf[result] = loops;
  }
}

//===----------------------------------------------------------------------===//
// Values of a point
//===----------------------------------------------------------------------===//

void RegisterTile::setLoop(unsigned loop, Value first, int64_t length,
                           Value last) {
  sides[loop] = {first, last, length, SmallVector<Value>(length)};
}

/// The value of `loop` at `offset` in the box.
Value RegisterTile::getLoop(unsigned loop, int64_t offset) {
  Side &side = sides[loop];
  Value &value = side.values[offset];
  if (value)
    return value;
  Location loc = getLoc();
  value = side.first;
  if (offset > 0) {
    Value distance = arith::ConstantIndexOp::create(builder, loc, offset);
    value = arith::AddIOp::create(builder, loc, value, distance);
  }
  if (side.last)
    value = arith::MinSIOp::create(builder, loc, value, side.last);
  return value;
}

/// True if a thread has some elements of `operand` for itself.
bool RegisterTile::isPrivate(OpOperand &operand) const {
  return privateElement && isPrivateMemory(operand.get().getType());
}

SmallVector<Value> RegisterTile::getIndices(OpOperand &operand,
                                            const Lane &lane) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<OpFoldResult> operands;
  SmallVector<AffineExpr> shifted;
  for (auto [loop, side] : llvm::enumerate(sides)) {
    AffineExpr dim = builder.getAffineDimExpr(loop);
    bool isUsed = map.isFunctionOfDim(loop);
    operands.push_back(isUsed && side.last ? getLoop(loop, lane[loop])
                                           : side.first);
    shifted.push_back(side.last ? dim : dim + lane[loop]);
  }
  if (isPrivate(operand))
    operands[privateLoop] = builder.getIndexAttr(*privateElement);
  SmallVector<Value> indices;
  for (AffineExpr index : map.getResults()) {
    AffineMap single =
        AffineMap::get(map.getNumDims(), 0, index.replaceDims(shifted));
    indices.push_back(getValueOrCreateConstantIndexOp(
        builder, getLoc(),
        affine::makeComposedFoldedAffineApply(builder, getLoc(), single,
                                              operands)));
  }
  return indices;
}

/// Where the value that `ofBody` has at `lane` is kept.
Value &RegisterTile::find(Value ofBody, const Lane &lane) {
  const llvm::SmallBitVector &loops = loopsOf.find(ofBody)->second;
  size_t index = 0, count = 1;
  for (unsigned loop : loops.set_bits()) {
    index = index * sides[loop].length + lane[loop];
    count *= sides[loop].length;
  }
  SmallVector<Value> &values = known[ofBody];
  values.resize(count);
  return values[index];
}

/// The loop along which neighbours of `operand` lie together, if the box has
/// several; else the number of loops.
unsigned RegisterTile::findVectorLoop(OpOperand &operand) {
  for (auto [loop, side] : llvm::enumerate(sides))
    if (side.length > 1 && !side.last &&
        getLaneAccess(op, operand, loop) == LaneAccess::Contiguous)
      return loop;
  return sides.size();
}

/// Loads the `length` neighbours of `lane` along `loop`.
void RegisterTile::loadVector(OpOperand &operand, unsigned loop, int64_t length,
                              const Lane &lane) {
  BlockArgument argument = op.getMatchingBlockArgument(&operand);
  Lane first(lane);
  first[loop] -= first[loop] % length;
  Type element = argument.getType();
  int64_t bytes = length * element.getIntOrFloatBitWidth() / 8;
  Value loaded = vector::LoadOp::create(
      builder, getLoc(), VectorType::get({length}, element), operand.get(),
      getIndices(operand, first), /*nontemporal=*/false, llvm::Align(bytes));
  for (int64_t offset = 0; offset < length; ++offset) {
    Lane next(first);
    next[loop] += offset;
    find(argument, next) =
        vector::ExtractOp::create(builder, getLoc(), loaded, offset);
  }
}

/// What the body is given for `argument` at `lane`.
Value RegisterTile::load(BlockArgument argument, const Lane &lane) {
  OpOperand &operand = *op.getMatchingOpOperand(argument);
  if (!isa<MemRefType>(operand.get().getType()))
    return operand.get();
  if (Value value = find(argument, lane))
    return value;
  unsigned loop = findVectorLoop(operand);
  int64_t length = 1;
  if (loop < sides.size() && !isPrivate(operand))
    length = getAccessLength(op, operand, loop, sides[loop].length, assumed,
                             alignment);
  if (length > 1) {
    loadVector(operand, loop, length, lane);
    return find(argument, lane);
  }
  Value value = memref::LoadOp::create(builder, getLoc(), operand.get(),
                                       getIndices(operand, lane));
  return find(argument, lane) = value;
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// A copy of `inner`, an operation of the body, for `lane`.
Operation *RegisterTile::clone(Operation *inner, const Lane &lane,
                               IRMapping &mapping) {
  Operation *cloned = builder.clone(*inner, mapping);
  SmallVector<linalg::IndexOp> nested;
  cloned->walk([&](linalg::IndexOp index) { nested.push_back(index); });
  for (linalg::IndexOp index : nested) {
    index.replaceAllUsesWith(getLoop(index.getDim(), lane[index.getDim()]));
    index.erase();
  }
  return cloned;
}

/// Computes what the body makes at `lane`, and keeps it in `sums`.
void RegisterTile::emitPoint(const Lane &lane, LaneValues &sums, size_t point) {
  IRMapping mapping;
  for (BlockArgument argument : op.getRegionInputArgs())
    if (!argument.use_empty())
      mapping.map(argument, load(argument, lane));
  for (auto [argument, values] :
       llvm::zip_equal(op.getRegionOutputArgs(), sums))
    mapping.map(argument, values[point]);
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (isAddedProduct(op, &inner))
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(),
                  getLoop(index.getDim(), lane[index.getDim()]));
    } else if (arith::MulFOp product = getAddedProduct(op, &inner)) {
      mapping.map(inner.getResult(0),
                  createMultiplyAdd(builder, &inner, product, mapping));
    } else if (inner.getNumResults() == 0 ||
               !loopsOf.contains(inner.getResult(0))) {
      clone(&inner, lane, mapping); // maps its results, too
    } else {
      evaluate(&inner, lane, mapping);
    }
  }
  Operation *end = op.getBlock()->getTerminator();
  for (auto [values, result] : llvm::zip_equal(sums, end->getOperands()))
    values[point] = mapping.lookupOrDefault(result);
}

/// Maps the results of `inner`, which are the same for several points.
void RegisterTile::evaluate(Operation *inner, const Lane &lane,
                            IRMapping &mapping) {
  if (!find(inner->getResult(0), lane)) {
    Operation *cloned = clone(inner, lane, mapping);
    for (auto [result, value] :
         llvm::zip_equal(inner->getResults(), cloned->getResults()))
      find(result, lane) = value;
  }
  for (Value result : inner->getResults())
    mapping.map(result, find(result, lane));
}

LaneValues RegisterTile::emit(const LaneValues &sums) {
  LaneValues after = sums;
  int64_t steps = 1, points = 1;
  SmallVector<unsigned> serial;
  for (unsigned loop = 0; loop < sides.size(); ++loop) {
    if (llvm::is_contained(shared, loop))
      continue;
    serial.push_back(loop);
    steps *= sides[loop].length;
  }
  for (unsigned loop : shared)
    points *= sides[loop].length;
  // Sets the offsets along `loops`, of which `number` is the linear index.
  auto place = [&](ArrayRef<unsigned> loops, int64_t number, Lane &lane) {
    for (unsigned loop : llvm::reverse(loops)) {
      lane[loop] = number % sides[loop].length;
      number /= sides[loop].length;
    }
  };
  // Sums of different points follow each other, as they need not wait.
  Lane lane(sides.size());
  for (int64_t step = 0; step < steps; ++step) {
    place(serial, step, lane);
    for (int64_t point = 0; point < points; ++point) {
      place(shared, point, lane);
      emitPoint(lane, after, point);
    }
  }
  return after;
}

} // namespace mlir::workgroup
