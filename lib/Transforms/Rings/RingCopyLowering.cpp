//===- RingCopyLowering.cpp - Rings that threads fill ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RingCopyLowering.h"
#include "Analysis/Program/OpEffects.h"
#include "RingCounter.h"
#include "Transforms/Copies/CopyEmitter.h"
#include "Transforms/Utils/CarriedValues.h"
#include "Transforms/Utils/ConservativeBarriers.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "workgroup/IR/Workgroup.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

RingCopyLowering::RingCopyLowering(Ring &ring, Operation *root,
                                   const LowerRingsOptions &options,
                                   bool mayBeAsync, RewriterBase &rewriter)
    : RingLowering(ring, root, options, rewriter, kSlotAlignment),
      alignment(makeAlignment(options.copies.vectorBytes)) {
  this->mayBeAsync = mayBeAsync;
}

void RingCopyLowering::emit(const Copy &copy) {
  EmittedCopy emitted = emitCopy(rewriter, copy, alignment, options.copies);
  isAsync |= emitted.isAsync;
  rewriter.setInsertionPointAfter(copy.op);
}

/// Does `ops`, copies, of the iteration of `iteration`, if `condition` holds or
/// is missing.
void RingCopyLowering::copyIteration(ArrayRef<Operation *> ops,
                                     std::optional<Value> condition,
                                     Value iteration, OpFoldResult slot) {
  OpBuilder::InsertionGuard guard(rewriter);
  enterIf(condition);
  for (const Copy &copy : cloneCopies(ops, iteration, slot)) {
    emit(copy);
    dead.push_back(copy.op);
  }
}

/// Starts the copies of the iteration `distance` iterations ahead if
/// `condition` says that there is one: what cannot be asynchronous is loaded
/// now and stored when the slot in use is released.
void RingCopyLowering::startIteration(Value condition, int64_t distance,
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
bool RingCopyLowering::stageCopy(Operation *op, Value condition, Value later,
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

void RingCopyLowering::closeGroup() {
  if (isAsync)
    NVVM::CpAsyncCommitGroupOp::create(rewriter, loc);
}

void RingCopyLowering::waitForGroups(int64_t numPending) {
  if (isAsync)
    NVVM::CpAsyncWaitGroupOp::create(rewriter, loc, numPending);
}

//===----------------------------------------------------------------------===//
// In the iteration that reads them
//===----------------------------------------------------------------------===//

void RingCopyLowering::lowerInPlace() {
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

//===----------------------------------------------------------------------===//
// In earlier iterations
//===----------------------------------------------------------------------===//

/// True if `op` does nothing to memory but read it.
static bool isReadOnly(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && effects.onlyHasEffect<MemoryEffects::Read>();
}

/// The operation before which copies of a later iteration are started: the
/// loads that the first products wait for are under way then. Products are
/// what depends on loads and on what the loop carries; where there are none,
/// or more than loads before them, that is where the slot is got.
Operation *RingCopyLowering::findPlaceOfCopies() {
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

bool RingCopyLowering::decideAsync() {
  AlignmentAnalysis alignment = makeAlignment(options.copies.vectorBytes);
  assumeSlots(alignment);
  for (Operation *op : ring.copies)
    if (mayBeAsync &&
        isAsyncCopy(rewriter, makeCopy(op), alignment, options.copies))
      asyncCopies.insert(op);
  mayBeAsync = !asyncCopies.empty();
  return mayBeAsync;
}

/// Waits for the slot `read`, and starts copies to the slot `written`. Returns
/// the tiles that are read.
SmallVector<Value> RingCopyLowering::lowerIteration(Value written, Value read) {
  Operation *place = findPlaceOfCopies();
  int64_t distance = getDistance();
  rewriter.setInsertionPoint(ring.get);
  waitForGroups(distance - 1);
  gpu::BarrierOp::create(rewriter, loc);
  SmallVector<Value> tiles = getTiles(read);
  rewriter.setInsertionPoint(place);
  Value hasLater = hasIterationAfter(loop.getInductionVar(), distance);
  startIteration(hasLater, distance, written);
  closeGroup();
  return tiles;
}

void RingCopyLowering::lowerAhead() {
  // Through registers, copies are one iteration ahead at most.
  allocate(mayBeAsync ? ring.getType().getSlots() : 2 + ring.getLag());
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
      first, getDistance(),
      [&](std::optional<Value> condition, Value iteration, Value slot) {
        copyIteration(ring.copies, condition, iteration, slot);
        closeGroup();
      });
  loop = addCarriedValues(rewriter, loop, {ahead, first});
  Value written = loop.getRegionIterArgs().end()[-2];
  Value read = loop.getRegionIterArgs().back();
  SmallVector<Value> tiles = lowerIteration(written, read);

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
