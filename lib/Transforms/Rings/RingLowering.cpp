//===- RingLowering.cpp - Slots and iterations of a ring
//-------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RingLowering.h"
#include "Analysis/Program/OpEffects.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <limits>

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Slots and iterations
//===----------------------------------------------------------------------===//

/// Allocates `count` slots at the kernel's entry.
void RingLowering::allocate(int64_t count) {
  numSlots = count;
  Operation *scope = getExecutionScope(ring.op);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&getBody(scope)->front());
  for (MemRefType tile : ring.getType().getTiles()) {
    auto type =
        MemRefType::get({numSlots * getSlotBytes(tile, scope, slotAlignment)},
                        rewriter.getI8Type(), MemRefLayoutAttrInterface(),
                        tile.getMemorySpace());
    storage.push_back(memref::AllocOp::create(
        rewriter, loc, type, rewriter.getI64IntegerAttr(slotAlignment)));
  }
}

/// The tiles of a slot.
SmallVector<Value> RingLowering::getTiles(OpFoldResult slot) {
  SmallVector<Value> tiles;
  Operation *scope = getExecutionScope(ring.op);
  for (auto [buffer, type] :
       llvm::zip_equal(storage, ring.getType().getTiles())) {
    int64_t bytes = getSlotBytes(type, scope, slotAlignment);
    OpFoldResult shift = index.mul(slot, rewriter.getIndexAttr(bytes));
    tiles.push_back(memref::ViewOp::create(rewriter, loc, type, buffer,
                                           index.value(shift), ValueRange()));
  }
  return tiles;
}

/// The one of `tiles`, of a slot, that `copy` fills.
Value RingLowering::getTile(Operation *copy, ArrayRef<Value> tiles) {
  return tiles[llvm::find(ring.put.getTiles(), getFillOperands(copy)->target) -
               ring.put.getTiles().begin()];
}

Value RingLowering::makeNumber(Type type, int64_t number) {
  return arith::ConstantOp::create(rewriter, loc,
                                   rewriter.getIntegerAttr(type, number));
}

/// True if `slot` is the last one, after which comes the first.
Value RingLowering::isLast(Value slot) {
  Value last = makeNumber(slot.getType(), numSlots - 1);
  return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, slot,
                               last);
}

/// The slot `by` after `slot`, which is less than the number of slots.
Value RingLowering::advance(Value slot, int64_t by) {
  if (by == 0)
    return slot;
  Value end = makeNumber(slot.getType(), numSlots);
  constexpr auto kNoWrap =
      arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;
  Value next =
      slot.getType().isIndex()
          ? index.value(index.add(slot, rewriter.getIndexAttr(by)))
          : arith::AddIOp::create(rewriter, loc, slot,
                                  makeNumber(slot.getType(), by), kNoWrap)
                .getResult();
  Value wrapped = arith::SubIOp::create(rewriter, loc, next, end);
  Value isIn = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                     next, end);
  return arith::SelectOp::create(rewriter, loc, isIn, next, wrapped);
}

/// `distance` steps of the loop, in the type of its induction variable.
Value RingLowering::getSteps(int64_t distance) {
  Value step = loop.getStep();
  Value factor = arith::ConstantOp::create(
      rewriter, loc, rewriter.getIntegerAttr(step.getType(), distance));
  return arith::MulIOp::create(rewriter, loc, step, factor);
}

/// `value`, without a sign, in at least 64 bits.
Value RingLowering::widen(Value value) {
  if (value.getType().isIndex() ||
      value.getType().getIntOrFloatBitWidth() >= 64)
    return value;
  return arith::ExtUIOp::create(rewriter, loc, rewriter.getI64Type(), value);
}

/// True if there is an iteration `distance` iterations after that of
/// `iteration`, which there is: if what is left, a number without a sign, is
/// more than so many steps.
Value RingLowering::hasIterationAfter(Value iteration, int64_t distance) {
  Value left = widen(
      arith::SubIOp::create(rewriter, loc, loop.getUpperBound(), iteration));
  auto makeNumber = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(
        rewriter, loc, rewriter.getIntegerAttr(left.getType(), number));
  };
  if (std::optional<int64_t> step = getConstantIntValue(loop.getStep())) {
    std::optional<int64_t> steps = llvm::checkedMul(*step, distance);
    if (!steps)
      return arith::ConstantIntOp::create(rewriter, loc, 0, 1);
    return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ugt, left,
                                 makeNumber(*steps));
  }
  Value step = widen(loop.getStep());
  Value steps =
      arith::MulIOp::create(rewriter, loc, step, makeNumber(distance));
  Value isMore = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ugt,
                                       left, steps);
  // So large a step that the product does not fit leaves no iteration either.
  Value fits = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::ule, step,
      makeNumber(std::numeric_limits<int64_t>::max() / distance));
  return arith::AndIOp::create(rewriter, loc, isMore, fits);
}

/// True if the loop has an iteration number `number`; nothing if it is known to
/// have.
std::optional<Value> RingLowering::hasIteration(int64_t number) {
  std::optional<APInt> iterations = loop.getStaticTripCount();
  if (iterations && iterations->ugt(number))
    return std::nullopt;
  auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                    : arith::CmpIPredicate::slt;
  Value from = loop.getLowerBound();
  Value hasAny =
      arith::CmpIOp::create(rewriter, loc, less, from, loop.getUpperBound());
  if (number == 0)
    return hasAny;
  Value hasMore = hasIterationAfter(from, number);
  return arith::AndIOp::create(rewriter, loc, hasAny, hasMore).getResult();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// What is known of alignments, as far as `bytes`, while the operations are as
/// they are now.
AlignmentAnalysis RingLowering::makeAlignment(int64_t bytes) {
  return AlignmentAnalysis({options.copies.assumeAlignment, bytes, root});
}

/// Takes the tiles that are put for aligned as the slots will be, which are not
/// allocated yet.
void RingLowering::assumeSlots(AlignmentAnalysis &alignment) {
  for (Value tile : ring.put.getTiles())
    alignment.assume(tile, slotAlignment);
}

/// Those of `ops` that `iteration` has, to be done at the insertion point.
std::vector<Copy> RingLowering::cloneCopies(ArrayRef<Operation *> ops,
                                            Value iteration,
                                            OpFoldResult slot) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iteration);
  for (Operation *op : ring.slice)
    rewriter.clone(*op, mapping);
  mapping.map(ring.put.getTiles(), getTiles(slot));
  std::vector<Copy> copies;
  for (Operation *copy : ops)
    copies.push_back(makeCopy(rewriter.clone(*copy, mapping)));
  return copies;
}

Copy RingLowering::makeCopy(Operation *op) {
  auto [source, tile] = *getFillOperands(op);
  Copy copy{op, source, tile};
  if (auto gather = dyn_cast<GatherOp>(op))
    copy = makeGather(gather);
  else
    copy.isPadded =
        !getFilledLayout(op) && cast<MemRefType>(source.getType()).getShape() !=
                                    cast<MemRefType>(tile.getType()).getShape();
  copy.isCooperative = true;
  copy.mayBeAsync = mayBeAsync && getMemorySpace(source) == MemorySpace::Global;
  return copy;
}

//===----------------------------------------------------------------------===//
// Around the loop
//===----------------------------------------------------------------------===//

/// Goes to the entry of the kernel.
void RingLowering::enterKernel() {
  rewriter.setInsertionPointToStart(
      &getBody(getExecutionScope(ring.op))->front());
}

/// True if barriers stand in the loop.
bool RingLowering::hasBarriers() {
  bool result = false;
  loop.getBody()->walk([&](Operation *op) { result |= isBarrierInBlock(op); });
  return result;
}

/// Goes to where `condition` holds, if there is one.
void RingLowering::enterIf(std::optional<Value> condition) {
  if (!condition)
    return;
  auto branch = scf::IfOp::create(rewriter, loc, *condition);
  rewriter.setInsertionPointToStart(branch.thenBlock());
}

/// Lets `start` begin the copies of the first iterations before the loop, each
/// under a condition if there may be no such iteration. Returns the slot of the
/// next one.
Value RingLowering::enterLoop(
    Value first, int64_t distance,
    function_ref<void(std::optional<Value>, Value, Value)> start) {
  rewriter.setInsertionPoint(loop);
  Value slot = first;
  for (int64_t iteration = 0; iteration < distance; ++iteration) {
    std::optional<Value> condition = hasIteration(iteration);
    Value number = loop.getLowerBound();
    if (iteration > 0)
      number =
          arith::AddIOp::create(rewriter, loc, number, getSteps(iteration));
    start(condition, number, slot);
    slot = advance(slot, 1);
  }
  return slot;
}

/// Erases the operations on the ring; `tiles` are those that are got.
void RingLowering::eraseRing(ValueRange tiles) {
  rewriter.replaceOp(ring.get, tiles);
  for (Operation *copy : ring.copies)
    rewriter.eraseOp(copy);
  for (Operation *op : dead)
    rewriter.eraseOp(op);
  for (Operation *op : {ring.put.getOperation(), ring.commit.getOperation(),
                        ring.release.getOperation(), ring.op.getOperation()})
    rewriter.eraseOp(op);
}

} // namespace mlir::workgroup
