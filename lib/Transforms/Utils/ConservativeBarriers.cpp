//===- ConservativeBarriers.cpp - Barriers next to what needs them --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConservativeBarriers.h"
#include "Analysis/Program/OpEffects.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// True if nothing of the kernel runs before the entry block of `block`'s
/// region or, with `atEnd`, after `block`.
static bool isKernelBoundary(Block *block, bool atEnd) {
  Operation *parent = block->getParentOp();
  if (!parent || !isKernel(parent))
    return false;
  return atEnd ? block->getNumSuccessors() == 0 : block->isEntryBlock();
}

/// True if a barrier, or the start of the kernel, precedes `op` with no access
/// to memory between.
static bool isOrderedBefore(Operation *op) {
  Operation *previous = op->getPrevNode();
  while (previous && !isBlockBarrier(previous) && isTransparent(previous))
    previous = previous->getPrevNode();
  if (previous)
    return isBlockBarrier(previous);
  return isKernelBoundary(op->getBlock(), /*atEnd=*/false);
}

/// True if a barrier, or the end of the kernel, is met from `op` on before any
/// access to memory.
static bool isOrderedAfter(Operation *op) {
  Block *block = op->getBlock();
  while (op && !isBlockBarrier(op) && isTransparent(op))
    op = op->getNextNode();
  if (op)
    return isBlockBarrier(op);
  return isKernelBoundary(block, /*atEnd=*/true);
}

bool needsBarrierBefore(Operation *op) {
  return !isOrderedBefore(op) && !isOrderedAfter(op);
}

static bool insertBarrierAt(RewriterBase &rewriter, Operation *op,
                            Location loc) {
  if (!needsBarrierBefore(op))
    return false;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  gpu::BarrierOp::create(rewriter, loc);
  return true;
}

bool insertBarrierBefore(RewriterBase &rewriter, Operation *op) {
  return insertBarrierAt(rewriter, op, op->getLoc());
}

bool insertBarrierAfter(RewriterBase &rewriter, Operation *op) {
  return insertBarrierAt(rewriter, op->getNextNode(), op->getLoc());
}

} // namespace mlir::workgroup
