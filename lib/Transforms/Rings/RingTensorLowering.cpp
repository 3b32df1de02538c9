//===- RingTensorLowering.cpp - Rings that are filled by TMA --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ring that TMA fills: each slot has an mbarrier, one thread of the block
// issues the copies of an iteration and states the bytes that the mbarrier is
// to expect, and all threads wait for the phase of the slot before they read it
// (PTX ISA, `cp.async.bulk.tensor`, `mbarrier`). The parity of the phase
// alternates each time the ring has gone around.
//
//===----------------------------------------------------------------------===//

#include "RingCounter.h"
#include "RingLowering.h"
#include "Transforms/Copies/MBarriers.h"
#include "Transforms/Copies/TensorClipping.h"
#include "Transforms/Copies/TensorSwizzle.h"
#include "Transforms/Utils/CarriedValues.h"
#include "Transforms/Utils/ConservativeBarriers.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/Chip.h"

namespace mlir::workgroup {

/// The layout of the tile that `copy` fills; null if it is row-major.
TileLayoutAttr RingLowering::getLayout(Operation *copy) {
  TileLayoutAttr layout = getFilledLayout(copy);
  if (layout || assumedLayouts.empty())
    return layout;
  Value tile = getFillOperands(copy)->target;
  return assumedLayouts[cast<OpResult>(tile).getResultNumber()];
}

/// The alignment in bytes that all slots have.
int64_t RingLowering::getTensorAlignment() {
  int64_t bytes = kTensorCopyAlignment;
  Operation *scope = getExecutionScope(ring.op);
  for (Operation *copy : ring.copies)
    if (TileLayoutAttr layout = getLayout(copy)) {
      auto tile = cast<MemRefType>(getFillOperands(copy)->target.getType());
      int64_t element = getElementBytes(tile, scope).value_or(1);
      bytes = std::max(bytes,
                       getTensorPatternBytes(layout.getSwizzleBytes(element)));
    }
  return bytes;
}

/// Why TMA cannot do all copies of the ring; empty if it can.
std::string RingLowering::getTensorObstacle(const TensorMaps &maps) {
  AlignmentAnalysis alignment = makeAlignment(slotAlignment);
  assumeSlots(alignment);
  for (Operation *op : ring.copies) {
    Copy copy = makeCopy(op);
    TileLayoutAttr layout = getLayout(op);
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

/// Lets one thread ask for the tiles of the iteration of `iteration`, if
/// `condition` holds or is missing.
void RingLowering::issueIteration(std::optional<Value> condition,
                                  Value iteration, Value slot,
                                  TensorMaps &maps) {
  OpBuilder::InsertionGuard guard(rewriter);
  if (condition) {
    auto branch = scf::IfOp::create(rewriter, loc, *condition);
    rewriter.setInsertionPointToStart(branch.thenBlock());
  }
  std::vector<Copy> copies = cloneCopies(ring.copies, iteration, slot);
  std::vector<TensorCopy> tensors;
  AlignmentAnalysis alignment = makeAlignment(slotAlignment);
  int64_t bytes = 0;
  for (const Copy &copy : copies) {
    std::string why;
    tensors.push_back(*matchTensorCopy(copy.source, copy.target, maps,
                                       alignment, why, getLayout(copy.op)));
    bytes += tensors.back().bytes;
    dead.push_back(copy.op);
  }
  enterElectedThread(rewriter, loc);
  Value expected = index.value(rewriter.getIndexAttr(bytes));
  nvgpu::MBarrierArriveExpectTxOp::create(rewriter, loc, mbarriers, expected,
                                          slot, /*predicate=*/Value());
  for (auto [copy, tensor] : llvm::zip_equal(copies, tensors))
    emitTensorLoads(rewriter, copy.op->getLoc(), tensor, copy.target,
                    {mbarriers, slot}, maps);
}

/// True if the kernel has memory for the ring, but none for what TMA needs
/// besides.
bool RingLowering::isOutOfMemory() {
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

std::string RingLowering::findTensorObstacle(const TensorMaps &maps) {
  loop = ring.getLoop();
  if (!RingCounter::canReach(loop))
    return "phases cannot be carried through what is around the loop";
  if (!isKernel(getExecutionScope(loop)))
    return "it stands in a function that kernels call";
  if (ring.writer)
    return getProxyObstacle(ring.writer);
  slotAlignment = getTensorAlignment();
  std::string why = getTensorObstacle(maps);
  // Nothing else can fill tiles that have their layout already.
  if (why.empty() && !ring.hasLayouts() && isOutOfMemory())
    why = "mbarriers, and slots aligned as it needs them, take more workgroup "
          "memory than there is";
  if (!why.empty())
    slotAlignment = kSlotAlignment;
  return why;
}

void RingLowering::lowerByTMA(TensorMaps &maps) {
  allocate(ring.getType().getSlots());
  int64_t distance = getDistance();
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
      first, distance,
      [&](std::optional<Value> condition, Value iteration, Value slot) {
        issueIteration(condition, iteration, slot, maps);
      });
  loop = addCarriedValues(rewriter, loop, {ahead, first, phase});
  Value written = loop.getRegionIterArgs().end()[-3];
  Value read = loop.getRegionIterArgs().end()[-2];
  phase = loop.getRegionIterArgs().back();

  rewriter.setInsertionPoint(ring.get);
  nvgpu::MBarrierTryWaitParityOp wait =
      emitWait(rewriter, loc, {mbarriers, read});
  wait.getPhaseParityMutable().assign(phase);
  // The slot that is filled next has been read by loads, unless its tiles are
  // for products of warp groups.
  if (!llvm::all_of(ring.copies, getFilledLayout))
    createProxyFence(rewriter, loc);
  gpu::BarrierOp::create(rewriter, loc);
  Value iteration = loop.getInductionVar();
  Value hasLater = hasIterationAfter(iteration, distance);
  Value later =
      arith::AddIOp::create(rewriter, loc, iteration, getSteps(distance));
  issueIteration(hasLater, later, written, maps);
  SmallVector<Value> tiles = getTiles(read);

  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  Value next = arith::XOrIOp::create(rewriter, loc, phase, isLast(read));
  yieldLast(rewriter, loop, {advance(written, 1), advance(read, 1), next});
  counter.handOn(loop, loop.getResults().take_back(2));
  eraseRing(tiles);
}

} // namespace mlir::workgroup
