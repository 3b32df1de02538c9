//===- MBarriers.cpp - Barriers that count bytes --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MBarriers.h"
#include "Analysis/Program/OpEffects.h"
#include "Transforms/Utils/CarriedValues.h"
#include "Transforms/Utils/ConservativeBarriers.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

scf::IfOp enterElectedThread(RewriterBase &rewriter, Location loc) {
  BlockShape block = getBlockShape(
      getExecutionScope(rewriter.getInsertionBlock()->getParentOp()));
  if (block.isSingleThread())
    return {};
  IndexBuilder index{rewriter, loc};
  Value thread = index.value(index.threadId(block));
  Value first = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value isElected = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::eq, thread, first);
  auto branch = scf::IfOp::create(rewriter, loc, isElected);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  return branch;
}

void createProxyFence(RewriterBase &rewriter, Location loc) {
  NVVM::FenceProxyOp::create(
      rewriter, loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(rewriter.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

Value createMBarriers(RewriterBase &rewriter, Location loc, Operation *kernel,
                      int64_t count, bool addBarrier, int64_t numArrivals) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&getBody(kernel)->front());
  auto type = nvgpu::MBarrierGroupType::get(
      rewriter.getContext(), getWorkgroupSpace(rewriter.getContext()), count);
  Value group = nvgpu::MBarrierCreateOp::create(rewriter, loc, type);
  scf::IfOp branch = enterElectedThread(rewriter, loc);
  Value arrivals = arith::ConstantIndexOp::create(rewriter, loc, numArrivals);
  for (int64_t i = 0; i < count; ++i)
    nvgpu::MBarrierInitOp::create(
        rewriter, loc, group, arrivals,
        arith::ConstantIndexOp::create(rewriter, loc, i),
        /*predicate=*/Value());
  // The first makes the initialisation of mbarriers visible to the cluster, in
  // whose address space TMA finds them; the second to the proxy by which it
  // accesses memory.
  NVVM::FenceMbarrierInitOp::create(rewriter, loc);
  createProxyFence(rewriter, loc);
  if (branch)
    rewriter.setInsertionPointAfter(branch);
  if (addBarrier && branch)
    gpu::BarrierOp::create(rewriter, loc);
  return group;
}

nvgpu::MBarrierTryWaitParityOp emitWait(RewriterBase &rewriter, Location loc,
                                        MBarrier barrier, Value parity) {
  // How long hardware may suspend the thread before it asks again.
  constexpr int64_t kTicks = 10'000'000;
  if (!parity)
    parity = arith::ConstantIntOp::create(rewriter, loc, 0, 1);
  Value ticks = arith::ConstantIndexOp::create(rewriter, loc, kTicks);
  return nvgpu::MBarrierTryWaitParityOp::create(rewriter, loc, barrier.group,
                                                parity, ticks, barrier.index);
}

bool orderBeforeTensorCopy(RewriterBase &rewriter, Operation *op) {
  Operation *barrier = op->getPrevNode();
  while (barrier && !isBlockBarrier(barrier) && isTransparent(barrier))
    barrier = barrier->getPrevNode();
  bool isOrdered = barrier && isBlockBarrier(barrier);
  if (!isOrdered && !needsBarrierBefore(op))
    return false; // the kernel begins here
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(isOrdered ? barrier : op);
  createProxyFence(rewriter, op->getLoc());
  Operation *scope = getExecutionScope(op);
  if (isOrdered || !isInLoop(op, scope) ||
      getBlockShape(scope).isSingleThread())
    return isOrdered;
  gpu::BarrierOp::create(rewriter, op->getLoc());
  return true;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

static bool isInCycle(Block *block) {
  return llvm::any_of(block->getSuccessors(), [&](Block *successor) {
    return successor == block || successor->isReachable(block);
  });
}

/// True if `around` may execute its region that holds `op` more than once.
static bool repeats(Operation *around, Operation *op) {
  auto branch = dyn_cast<RegionBranchOpInterface>(around);
  Region *region = around->getRegions().begin();
  while (!region->isAncestor(op->getParentRegion()))
    ++region;
  return !branch || branch.isRepetitiveRegion(region->getRegionNumber());
}

/// The operations around `op` up to the outermost loop, innermost first. Inside
/// of it, `op` may be executed again.
static SmallVector<Operation *> getLoopNest(Operation *op) {
  SmallVector<Operation *> nest;
  Operation *scope = getExecutionScope(op);
  for (Operation *at = op->getParentOp(); at != scope; at = at->getParentOp())
    nest.push_back(at);
  while (!nest.empty() && !repeats(nest.back(), op))
    nest.pop_back();
  return nest;
}

StringRef getPhaseObstacle(Operation *op) {
  Operation *scope = getExecutionScope(op);
  if (!isKernel(scope))
    return "it stands in a function that kernels call";
  for (Operation *at = op; at != scope; at = at->getParentOp())
    if (isInCycle(at->getBlock()))
      return "it stands in a loop of basic blocks";
  for (Operation *around : getLoopNest(op))
    if (!isa<scf::ForOp, scf::IfOp>(around))
      return "it stands in a loop, or in a branch of one, that is no scf.for "
             "or "
             "scf.if";
  return "";
}

void advancePhase(RewriterBase &rewriter, nvgpu::MBarrierTryWaitParityOp wait) {
  SmallVector<Operation *> nest = getLoopNest(wait);
  if (nest.empty())
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = wait.getLoc();
  Value phase = wait.getPhaseParity(); // a constant, that of the first phase
  rewriter.moveOpBefore(phase.getDefiningOp(), nest.back());
  for (Operation *&around : llvm::reverse(nest)) {
    if (auto loop = dyn_cast<scf::ForOp>(around)) {
      scf::ForOp carrying = addCarriedValues(rewriter, loop, phase);
      phase = carrying.getRegionIterArgs().back();
      around = carrying;
    } else {
      around = addResults(rewriter, cast<scf::IfOp>(around), phase);
    }
  }
  rewriter.setInsertionPointAfter(wait);
  rewriter.modifyOpInPlace(wait,
                           [&] { wait.getPhaseParityMutable().assign(phase); });
  Value flip = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
  Value next = arith::XOrIOp::create(rewriter, loc, phase, flip);
  Operation *inner = wait;
  for (Operation *around : nest) {
    Operation *yield = inner->getBlock()->getTerminator();
    rewriter.modifyOpInPlace(
        yield, [&] { yield->setOperand(yield->getNumOperands() - 1, next); });
    next = around->getResults().back();
    inner = around;
  }
}

} // namespace mlir::workgroup
