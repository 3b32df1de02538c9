//===- RingWarpLowering.cpp - Rings between warps -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each slot has two mbarriers. The first, `full`, is that of rings which one
// group of threads fills and reads. For the second, `empty`, each warp of the
// consumers arrives when it has read the slot; the thread that fills slots
// waits for it, at first for the phase before the first one, which is over.
// Slots and phases are carried on either side by itself, and agree as both
// sides execute the same iterations.
//
// Slots, and iterations of a known number, are counted in 32 bits: that is one
// instruction less for each step.
//
// That each warp arrives, and not one for four of them, keeps a slow one from
// missing a phase: nothing else makes warps wait for each other.
//
// Of a ring whose slots are released later than they are read, the last slot of
// a loop is released in the first iteration of the next one, if it is entered
// again: so all iterations are alike, and nobody waits for a slot behind it.
//
//===----------------------------------------------------------------------===//

#include "RingWarpLowering.h"
#include "RingCounter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

Value RingWarpLowering::asIndex(Value slot) {
  return arith::IndexCastUIOp::create(rewriter, loc, rewriter.getIndexType(),
                                      slot);
}

/// `loop` with an induction variable of 32 bits, if all of its bounds are
/// constants that fit.
static scf::ForOp narrowIterations(scf::ForOp loop, RewriterBase &rewriter) {
  SmallVector<Value> bounds;
  rewriter.setInsertionPoint(loop);
  for (Value bound :
       {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) {
    constexpr int64_t kMost = int64_t(1) << 30;
    std::optional<int64_t> number = getConstantIntValue(bound);
    if (!bound.getType().isIndex() || !number || *number < 0 || *number > kMost)
      return loop;
    bounds.push_back(
        arith::ConstantIntOp::create(rewriter, loop.getLoc(), *number, 32));
  }
  auto narrow = scf::ForOp::create(
      rewriter, loop.getLoc(), bounds[0], bounds[1], bounds[2],
      loop.getInitArgs(), [](OpBuilder &, Location, Value, ValueRange) {});
  rewriter.setInsertionPointToStart(narrow.getBody());
  SmallVector<Value> arguments = {arith::IndexCastUIOp::create(
      rewriter, loop.getLoc(), rewriter.getIndexType(),
      narrow.getInductionVar())};
  llvm::append_range(arguments, narrow.getRegionIterArgs());
  rewriter.mergeBlocks(loop.getBody(), narrow.getBody(), arguments);
  rewriter.replaceOp(loop, narrow.getResults());
  return narrow;
}

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

void RingWarpLowering::lowerProducers(Value start, Value phase) {
  RingCounter counter(rewriter, loop, {start, phase});
  SmallVector<Value> carried = counter.carryInto(loop);
  Value counted = carried[0];
  phase = carried[1];

  rewriter.setInsertionPoint(ring.put);
  Value slot = asIndex(counted);
  emitWait(rewriter, loc, {empties, slot}, phase);
  SmallVector<Value> tiles = getTiles(slot);
  std::vector<Copy> copies;
  for (Operation *op : ring.copies) {
    Copy &copy = copies.emplace_back(makeCopy(op));
    copy.target = getTile(op, tiles);
  }
  std::vector<TensorCopy> tensors = matchCopies(copies);
  expectBytes(tensors, slot);
  for (auto [copy, tensor] : llvm::zip_equal(copies, tensors)) {
    rewriter.setInsertionPoint(copy.op);
    emitLoads(copy, tensor, slot);
  }

  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  Value next = flipAfterLast(phase, counted);
  counter.stepTo({advance(counted, 1), next}, loop);
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

/// Lets the thread of each warp for which `isElected` holds say that the warp
/// has read `slot`.
void RingWarpLowering::arrive(Value isElected, Value slot) {
  OpBuilder::InsertionGuard guard(rewriter);
  auto branch = scf::IfOp::create(rewriter, loc, isElected);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  nvgpu::MBarrierArriveOp::create(rewriter, loc, empties, slot);
}

/// True for one thread of each warp of the consumers.
Value RingWarpLowering::electThread() {
  OpFoldResult thread =
      index.threadId(getBlockShape(getExecutionScope(ring.op)));
  Value lane = index.value(index.rem(thread, rewriter.getIndexAttr(kWarpSize)));
  return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, lane,
                               index.value(rewriter.getIndexAttr(0)));
}

void RingWarpLowering::lowerConsumers(Value start, Value phase) {
  rewriter.setInsertionPointToStart(
      &ring.getSpecialize().getConsumer().front());
  Value isElected = electThread();
  Value isNobody = arith::ConstantIntOp::create(rewriter, loc, 0, 1);
  loop = narrowIterations(cast<scf::ForOp>(ring.get->getParentOp()), rewriter);
  // Who releases a slot, and, of those before the first one, nobody.
  int64_t lag = ring.getLag();
  SmallVector<Value> initial = {start, phase};
  initial.append(lag, isNobody);
  RingCounter counter(rewriter, loop, initial);
  SmallVector<Value> carried = counter.carryInto(loop);
  Value counted = carried[0];
  phase = carried[1];

  rewriter.setInsertionPoint(ring.get);
  Value slot = asIndex(counted);
  emitWait(rewriter, loc, {mbarriers, slot}, phase);
  SmallVector<Value> tiles = getTiles(slot);

  rewriter.setInsertionPoint(ring.release);
  if (lag == 0)
    arrive(isElected, slot);
  else
    arrive(carried.back(), asIndex(advance(counted, numSlots - lag)));

  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  Value flipped = flipAfterLast(phase, counted);
  SmallVector<Value> next = {advance(counted, 1), flipped};
  for (int64_t i = 0; i < lag; ++i)
    next.push_back(i == 0 ? isElected : carried[1 + i]);
  counter.stepTo(next, loop);
  rewriter.replaceOp(ring.get, tiles);
  rewriter.eraseOp(ring.release);
}

void RingWarpLowering::run() {
  allocate(ring.getType().getSlots());
  enterKernel();
  Value start = arith::ConstantIntOp::create(rewriter, loc, 0, 32);
  Value even = arith::ConstantIntOp::create(rewriter, loc, 0, 1);
  Value odd = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
  Operation *scope = getExecutionScope(ring.op);
  int64_t numWarps = ring.getSpecialize().getConsumers() / kWarpSize;
  empties = createMBarriers(rewriter, loc, scope, numSlots,
                            /*addBarrier=*/true, numWarps);
  // In front of those, and of their barrier.
  mbarriers = createMBarriers(rewriter, loc, scope, numSlots,
                              /*addBarrier=*/false);
  lowerProducers(start, odd);
  lowerConsumers(start, even);
  for (Operation *copy : ring.copies)
    rewriter.eraseOp(copy);
  for (Operation *op : {ring.put.getOperation(), ring.commit.getOperation(),
                        ring.op.getOperation()})
    rewriter.eraseOp(op);
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// Moves what is in `region` to the start of `block`.
static void moveOps(Region &region, Block *block, RewriterBase &rewriter) {
  if (region.empty())
    return;
  for (Operation &op : llvm::make_early_inc_range(region.front()))
    rewriter.moveOpBefore(&op, block->getTerminator());
}

/// Goes to where one thread of the first warp of the producers executes what
/// follows.
static void enterProducer(SpecializeOp op, IndexBuilder index,
                          OpFoldResult thread, RewriterBase &rewriter) {
  Location loc = op.getLoc();
  int64_t first = op.getConsumers();
  if (op.getProducers() != kWarpSize) {
    Value end = index.value(rewriter.getIndexAttr(first + kWarpSize));
    Value isFirst = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ult, index.value(thread), end);
    auto branch = scf::IfOp::create(rewriter, loc, isFirst);
    rewriter.setInsertionPointToStart(branch.thenBlock());
  }
  Value isElected = NVVM::ElectSyncOp::create(
      rewriter, loc, rewriter.getI1Type(), /*membermask=*/Value());
  auto branch = scf::IfOp::create(rewriter, loc, isElected);
  rewriter.setInsertionPointToStart(branch.thenBlock());
}

static void lowerSpecialize(SpecializeOp op, RewriterBase &rewriter) {
  using Action = NVVM::SetMaxRegisterAction;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  IndexBuilder index{rewriter, loc};
  OpFoldResult thread = index.threadId(getBlockShape(getExecutionScope(op)));
  Value end = index.value(rewriter.getIndexAttr(op.getConsumers()));
  Value isConsumer = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::ult, index.value(thread), end);
  auto branch = scf::IfOp::create(rewriter, loc, isConsumer,
                                  /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  std::optional<ArrayRef<int64_t>> registers = op.getRegisters();
  if (registers)
    NVVM::SetMaxRegisterOp::create(rewriter, loc, (*registers)[0],
                                   Action::increase);
  moveOps(op.getConsumer(), branch.thenBlock(), rewriter);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  if (registers)
    NVVM::SetMaxRegisterOp::create(rewriter, loc, (*registers)[1],
                                   Action::decrease);
  enterProducer(op, index, thread, rewriter);
  moveOps(op.getProducer(), rewriter.getInsertionBlock(), rewriter);
  rewriter.eraseOp(op);
}

void lowerSpecialized(Operation *root, RewriterBase &rewriter) {
  SmallVector<SpecializeOp> ops;
  root->walk([&](SpecializeOp op) { ops.push_back(op); });
  for (SpecializeOp op : ops)
    lowerSpecialize(op, rewriter);
}

} // namespace mlir::workgroup
