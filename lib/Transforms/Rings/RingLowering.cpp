//===- RingLowering.cpp - A ring to copies, waits, barriers ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RingLowering.h"
#include "Analysis/Program/OpEffects.h"
#include "RingCounter.h"
#include "Transforms/Utils/CarriedValues.h"
#include "Transforms/Utils/ConservativeBarriers.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
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

/// True if `op` does nothing to memory but read it.
static bool isReadOnly(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && effects.onlyHasEffect<MemoryEffects::Read>();
}

/// What is known of alignments, as far as `bytes`, while the operations are as
/// they are now.
AlignmentAnalysis RingLowering::makeAlignment(int64_t bytes) {
  return AlignmentAnalysis(
      {options.copies.assumeAlignment, bytes, alignment.getAnchor()});
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

void RingLowering::emit(const Copy &copy) {
  EmittedCopy emitted = emitCopy(rewriter, copy, alignment, options.copies);
  isAsync |= emitted.isAsync;
  rewriter.setInsertionPointAfter(copy.op);
}

/// Does `ops`, copies, of the iteration of `iteration`, if `condition` holds or
/// is missing.
void RingLowering::copyIteration(ArrayRef<Operation *> ops,
                                 std::optional<Value> condition,
                                 Value iteration, OpFoldResult slot) {
  OpBuilder::InsertionGuard guard(rewriter);
  if (condition) {
    auto branch = scf::IfOp::create(rewriter, loc, *condition);
    rewriter.setInsertionPointToStart(branch.thenBlock());
  }
  for (const Copy &copy : cloneCopies(ops, iteration, slot)) {
    emit(copy);
    dead.push_back(copy.op);
  }
}

/// Starts the copies of the iteration `distance` iterations ahead if
/// `condition` says that there is one: what cannot be asynchronous is loaded
/// now and stored when the slot in use is released.
void RingLowering::startIteration(Value condition, int64_t distance,
                                  OpFoldResult slot) {
  Value now = loop.getInductionVar();
  Value later = arith::AddIOp::create(rewriter, loc, now, getSteps(distance));
  SmallVector<Operation *> others;
  for (Operation *copy : ring.copies)
    if (asyncCopies.contains(copy) || !stageCopy(copy, condition, later, slot))
      others.push_back(copy);
  if (!others.empty())
    copyIteration(others, condition, later, slot);
}

/// Loads what `op` copies in the iteration `later`, and stores it when the slot
/// in use is released. False if that is not possible.
bool RingLowering::stageCopy(Operation *op, Value condition, Value later,
                             OpFoldResult slot) {
  OpBuilder::InsertionGuard guard(rewriter);
  // Views are of this iteration where there is no later one: they have to be
  // within what they are views of.
  Value iteration = arith::SelectOp::create(rewriter, loc, condition, later,
                                            loop.getInductionVar());
  std::vector<Copy> copies = cloneCopies(op, iteration, slot);
  Copy &copy = copies.front();
  Operation *clone = copy.op;
  bool isStaged = emitStagedCopy(rewriter, copy, alignment, options.copies,
                                 condition, ring.release);
  dead.push_back(clone);
  return isStaged;
}

/// The operation before which copies of a later iteration are started: the
/// loads that the first products wait for are under way then. Products are
/// what depends on loads and on what the loop carries; where there are none,
/// or more than loads before them, that is where the slot is got.
Operation *RingLowering::findPlaceOfCopies() {
  enum { kLoaded = 1, kCarried = 2, kBoth = 3 };
  DenseMap<Value, unsigned> kinds;
  for (Value carried : loop.getRegionIterArgs())
    kinds[carried] = kCarried;
  Operation *first = ring.get;
  for (Operation *op = first->getNextNode();
       op && op != ring.release && op->getNumRegions() == 0;
       op = op->getNextNode()) {
    bool isLoad = !isTransparent(op) && isReadOnly(op);
    unsigned kind = 0;
    for (Value operand : op->getOperands())
      kind |= kinds.lookup(operand);
    if (kind == kBoth)
      return op;
    if (!isLoad && !isTransparent(op))
      return first;
    for (Value result : op->getResults())
      kinds[result] = isLoad ? unsigned(kLoaded) : kind;
  }
  return first;
}

void RingLowering::closeGroup() {
  if (isAsync)
    NVVM::CpAsyncCommitGroupOp::create(rewriter, loc);
}

void RingLowering::waitForGroups(int64_t numPending) {
  if (isAsync)
    NVVM::CpAsyncWaitGroupOp::create(rewriter, loc, numPending);
}

//===----------------------------------------------------------------------===//
// The two forms
//===----------------------------------------------------------------------===//

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

void RingLowering::lowerInPlace() {
  allocate(1);
  rewriter.setInsertionPoint(ring.put);
  // Readers of the slot's last contents may still be busy, and what threads
  // have written to a source is to be copied.
  gpu::BarrierOp::create(rewriter, loc);
  SmallVector<Value> tiles = getTiles(rewriter.getIndexAttr(0));
  for (Operation *op : ring.copies) {
    Copy copy = makeCopy(op);
    copy.target = getTile(op, tiles);
    emit(copy);
  }
  rewriter.setInsertionPoint(ring.commit);
  closeGroup();
  waitForGroups(0);
  rewriter.setInsertionPoint(ring.get);
  gpu::BarrierOp::create(rewriter, loc);
  eraseRing(tiles);
}

bool RingLowering::decideAsync() {
  AlignmentAnalysis alignment = makeAlignment(options.copies.vectorBytes);
  assumeSlots(alignment);
  for (Operation *op : ring.copies)
    if (mayBeAsync &&
        isAsyncCopy(rewriter, makeCopy(op), alignment, options.copies))
      asyncCopies.insert(op);
  mayBeAsync = !asyncCopies.empty();
  return mayBeAsync;
}

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

void RingLowering::lowerAhead() {
  loop = ring.getLoop();
  // Through registers, copies are one iteration ahead at most.
  allocate(mayBeAsync ? ring.getType().getSlots() : 2 + ring.getLag());
  int64_t distance = getDistance();

  std::optional<RingCounter> counter;
  enterKernel();
  Value first = index.value(rewriter.getIndexAttr(0));
  if (RingCounter::canReach(loop)) {
    counter.emplace(rewriter, loop, first);
    first = counter->getValues()[0];
  }
  // The block copies what its threads have written before, or what barriers of
  // the loop would have made visible; and slots that start again may still be
  // read.
  if (ring.writer || hasBarriers() || !counter)
    insertBarrierBefore(rewriter, loop);

  Value ahead = enterLoop(
      first, distance,
      [&](std::optional<Value> condition, Value iteration, Value slot) {
        copyIteration(ring.copies, condition, iteration, slot);
        closeGroup();
      });
  Operation *place = findPlaceOfCopies();
  loop = addCarriedValues(rewriter, loop, {ahead, first});
  Value written = loop.getRegionIterArgs().end()[-2];
  Value read = loop.getRegionIterArgs().back();

  rewriter.setInsertionPoint(ring.get);
  waitForGroups(distance - 1);
  gpu::BarrierOp::create(rewriter, loc);
  SmallVector<Value> tiles = getTiles(read);
  rewriter.setInsertionPoint(place);
  Value hasLater = hasIterationAfter(loop.getInductionVar(), distance);
  startIteration(hasLater, distance, written);
  closeGroup();

  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  yieldLast(rewriter, loop, {advance(written, 1), advance(read, 1)});
  if (counter)
    counter->handOn(loop, loop.getResults().take_back());
  // Nothing is under way any more; this is where that can be seen.
  rewriter.setInsertionPointAfter(counter ? counter->getOutermost(loop) : loop);
  waitForGroups(0);
  eraseRing(tiles);
}

} // namespace mlir::workgroup
