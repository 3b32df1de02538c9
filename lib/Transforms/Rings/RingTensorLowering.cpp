//===- RingTensorLowering.cpp - Rings that TMA fills ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RingTensorLowering.h"
#include "RingCounter.h"
#include "Transforms/Copies/TensorClipping.h"
#include "Transforms/Copies/TensorSwizzle.h"
#include "Transforms/Copies/TensorTransfers.h"
#include "Transforms/Utils/CarriedValues.h"
#include "Transforms/Utils/ConservativeBarriers.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Target/Chip.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// The layout of the tile that `copy` fills, which may be to get that of
/// `layouts`; null if it is row-major.
static TileLayoutAttr getLayout(Operation *copy,
                                ArrayRef<TileLayoutAttr> layouts) {
  TileLayoutAttr layout = getFilledLayout(copy);
  if (layout || layouts.empty())
    return layout;
  Value tile = getFillOperands(copy)->target;
  return layouts[cast<OpResult>(tile).getResultNumber()];
}

/// The alignment in bytes that all slots of `ring` need.
static int64_t getTensorAlignment(Ring &ring,
                                  ArrayRef<TileLayoutAttr> layouts) {
  int64_t bytes = kTensorCopyAlignment;
  Operation *scope = getExecutionScope(ring.op);
  for (Operation *copy : ring.copies)
    if (TileLayoutAttr layout = getLayout(copy, layouts)) {
      auto tile = cast<MemRefType>(getFillOperands(copy)->target.getType());
      int64_t element = getElementBytes(tile, scope).value_or(1);
      bytes = std::max(bytes,
                       getTensorPatternBytes(layout.getSwizzleBytes(element)));
    }
  return bytes;
}

RingTensorLowering::RingTensorLowering(Ring &ring, Operation *root,
                                       const LowerRingsOptions &options,
                                       TensorMaps &maps, RewriterBase &rewriter,
                                       ArrayRef<TileLayoutAttr> layouts)
    : RingLowering(ring, root, options, rewriter,
                   getTensorAlignment(ring, layouts)),
      maps(maps), layouts(layouts) {}

/// Why TMA cannot do one of the copies; empty if it can do all.
std::string RingTensorLowering::findObstacleInCopies() {
  AlignmentAnalysis alignment = makeAlignment(slotAlignment);
  assumeSlots(alignment);
  for (Operation *op : ring.copies) {
    Copy copy = makeCopy(op);
    TileLayoutAttr layout = getLayout(op, layouts);
    if (copy.gather)
      return "it gathers elements by a map";
    if (copy.isPadded && !layout)
      return "it fills a tile that may be ragged";
    std::string why;
    std::optional<TensorCopy> tensor =
        matchTensorCopy(copy.source, copy.target, maps, alignment, why, layout);
    if (tensor && layout)
      why = getClippingObstacle(*tensor);
    if (!why.empty())
      return why;
  }
  return "";
}

/// True if the kernel has memory for the ring, but none for what TMA needs
/// besides.
bool RingTensorLowering::isOutOfMemory() {
  Operation *scope = getExecutionScope(ring.op);
  KernelBuffers memory = collectKernelBuffers(scope);
  int64_t used = memory.getStaticBytes() + memory.dynamicBytes;
  int64_t slots = ring.getType().getSlots();
  int64_t more = slots * kMBarrierBytes;
  for (MemRefType tile : ring.getType().getTiles())
    more += slotAlignment - kSlotAlignment +
            slots * (getSlotBytes(tile, scope, slotAlignment) -
                     getSlotBytes(tile, scope));
  int64_t limit = resolveChip(scope, options.copies.chip)->maxWorkgroupBytes;
  return used <= limit && used + more > limit;
}

std::string RingTensorLowering::findObstacle() {
  if (!RingCounter::canReach(loop))
    return "phases cannot be carried through what is around the loop";
  if (!isKernel(getExecutionScope(loop)))
    return "it stands in a function that kernels call";
  if (ring.writer)
    return getProxyObstacle(ring.writer);
  std::string why = findObstacleInCopies();
  // Nothing else can fill tiles that have their layout already.
  if (why.empty() && !ring.hasLayouts() && isOutOfMemory())
    why = "mbarriers, and slots aligned as it needs them, take more workgroup "
          "memory than there is";
  return why;
}

//===----------------------------------------------------------------------===//
// Slots by TMA
//===----------------------------------------------------------------------===//

/// The phase after `phase`, that of `slot`: another one when the ring has gone
/// around.
Value RingTensorLowering::flipAfterLast(Value phase, Value slot) {
  return arith::XOrIOp::create(rewriter, loc, phase, isLast(slot));
}

/// `copies`, of which `findObstacle` has found none, as TMA does them.
std::vector<TensorCopy> RingTensorLowering::matchCopies(ArrayRef<Copy> copies) {
  AlignmentAnalysis alignment = makeAlignment(slotAlignment);
  std::vector<TensorCopy> tensors;
  for (const Copy &copy : copies) {
    std::string why;
    tensors.push_back(*matchTensorCopy(copy.source, copy.target, maps,
                                       alignment, why,
                                       getLayout(copy.op, layouts)));
  }
  return tensors;
}

/// Tells the mbarrier of `slot` to expect `tensors`.
void RingTensorLowering::expectBytes(ArrayRef<TensorCopy> tensors, Value slot) {
  int64_t bytes = 0;
  for (const TensorCopy &tensor : tensors)
    bytes += tensor.bytes;
  Value expected = index.value(rewriter.getIndexAttr(bytes));
  nvgpu::MBarrierArriveExpectTxOp::create(rewriter, loc, mbarriers, expected,
                                          slot, /*predicate=*/Value());
}

void RingTensorLowering::emitLoads(const Copy &copy, const TensorCopy &tensor,
                                   Value slot) {
  emitTensorLoads(rewriter, copy.op->getLoc(), tensor, copy.target,
                  {mbarriers, slot}, maps);
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

/// Lets one thread ask for the tiles of the iteration of `iteration`, if
/// `condition` holds or is missing.
void RingTensorLowering::issueIteration(std::optional<Value> condition,
                                        Value iteration, Value slot) {
  OpBuilder::InsertionGuard guard(rewriter);
  enterIf(condition);
  std::vector<Copy> copies = cloneCopies(ring.copies, iteration, slot);
  std::vector<TensorCopy> tensors = matchCopies(copies);
  enterElectedThread(rewriter, loc);
  expectBytes(tensors, slot);
  for (auto [copy, tensor] : llvm::zip_equal(copies, tensors)) {
    emitLoads(copy, tensor, slot);
    dead.push_back(copy.op);
  }
}

/// Waits for the slot `read`, whose phase is `phase`, and fills the slot
/// `written`. Returns the tiles that are read.
SmallVector<Value> RingTensorLowering::lowerIteration(Value written, Value read,
                                                      Value phase) {
  rewriter.setInsertionPoint(ring.get);
  emitWait(rewriter, loc, {mbarriers, read}, phase);
  // The slot that is filled next has been read by loads, unless its tiles are
  // for products of warp groups.
  if (!llvm::all_of(ring.copies, getFilledLayout))
    createProxyFence(rewriter, loc);
  gpu::BarrierOp::create(rewriter, loc);
  Value iteration = loop.getInductionVar();
  Value hasLater = hasIterationAfter(iteration, getDistance());
  Value later =
      arith::AddIOp::create(rewriter, loc, iteration, getSteps(getDistance()));
  issueIteration(hasLater, later, written);
  return getTiles(read);
}

void RingTensorLowering::run() {
  allocate(ring.getType().getSlots());
  enterKernel();
  Value start = index.value(rewriter.getIndexAttr(0));
  Value even = arith::ConstantIntOp::create(rewriter, loc, 0, 1);
  mbarriers = createMBarriers(rewriter, loc, getExecutionScope(loop), numSlots,
                              /*addBarrier=*/true);
  RingCounter counter(rewriter, loop, {start, even});
  Value first = counter.getValues()[0], phase = counter.getValues()[1];
  rewriter.setInsertionPoint(loop);
  // What has been in the slots' memory before, if others have it too.
  createProxyFence(rewriter, loc);
  if (hasBarriers())
    insertBarrierBefore(rewriter, loop);
  Value ahead = enterLoop(
      first, getDistance(),
      [&](std::optional<Value> condition, Value iteration, Value slot) {
        issueIteration(condition, iteration, slot);
      });
  loop = addCarriedValues(rewriter, loop, {ahead, first, phase});
  Value written = loop.getRegionIterArgs().end()[-3];
  Value read = loop.getRegionIterArgs().end()[-2];
  phase = loop.getRegionIterArgs().back();
  SmallVector<Value> tiles = lowerIteration(written, read, phase);

  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  Value next = flipAfterLast(phase, read);
  yieldLast(rewriter, loop, {advance(written, 1), advance(read, 1), next});
  counter.handOn(loop, loop.getResults().take_back(2));
  eraseRing(tiles);
}

} // namespace mlir::workgroup
