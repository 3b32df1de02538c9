//===- MapToThreads.cpp - Loops over threads ------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReplicatedBuffers.h"
#include "ThreadMapper.h"
#include "TileLoops.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/LaunchLimits.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_MAPTOTHREADSPASS
#include "workgroup/Passes.h.inc"

/// True for work that the block does together, or that is on what each thread
/// has for itself.
static bool isLeftToOthers(Operation *op) {
  bool isCopy = isa<linalg::CopyOp, linalg::FillOp, memref::CopyOp>(op);
  return llvm::any_of(op->getOperandTypes(), [&](Type type) {
    return isPrivateMemory(type) || (isCopy && isWorkgroupMemory(type));
  });
}

/// The operations of blocks that threads are to share out.
static SmallVector<Operation *> collect(scf::ForallOp loop) {
  SmallVector<Operation *> ops;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isLoopOfThreads(op)) // is shared out
      return WalkResult::skip();
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    bool isCopy = isa<memref::CopyOp>(op);
    if ((isCopy || (structured && structured.hasPureBufferSemantics())) &&
        !isLeftToOthers(op))
      ops.push_back(op);
    return structured ? WalkResult::skip() : WalkResult::advance();
  });
  return ops;
}

/// The memory on the stack of each thread that `operand` is in; null if it is
/// elsewhere.
static Operation *findStack(Value operand) {
  if (!isa<BaseMemRefType>(operand.getType()))
    return nullptr;
  auto stack = getRootBuffer(operand).getDefiningOp<memref::AllocaOp>();
  return stack && isInBlockLoop(stack) ? stack.getOperation() : nullptr;
}

static LogicalResult checkMappable(Operation *op) {
  auto isRanked = [](Type type) {
    return !isa<BaseMemRefType>(type) || isa<MemRefType>(type);
  };
  if (!llvm::all_of(op->getOperandTypes(), isRanked))
    return op->emitOpError("is on memory of unknown rank, which threads cannot "
                           "share out; cast it to a ranked memref");
  for (Value operand : op->getOperands())
    if (Operation *stack = findStack(operand)) {
      InFlightDiagnostic error = op->emitOpError(
          "would be shared out to threads, each of which has the memory for "
          "itself; run workgroup-place-buffers first");
      error.attachNote(stack->getLoc()) << "the memory";
      return error;
    }
  return success();
}

/// The operation that is equal to `op`, with loops.
static linalg::LinalgOp getStructured(IRRewriter &rewriter, Operation *op) {
  auto copy = dyn_cast<memref::CopyOp>(op);
  if (!copy)
    return cast<linalg::LinalgOp>(op);
  rewriter.setInsertionPoint(copy);
  return rewriter.replaceOpWithNewOp<linalg::CopyOp>(copy, copy.getSource(),
                                                     copy.getTarget());
}

namespace {

struct MapToThreadsPass : impl::MapToThreadsPassBase<MapToThreadsPass> {
  using MapToThreadsPassBase::MapToThreadsPassBase;

  void runOnOperation() override {
    if (threads < 1 || threads > kMaxBlockThreads) {
      getOperation()->emitError("'threads' is ")
          << threads.getValue() << ", but a block has from 1 to "
          << kMaxBlockThreads;
      return signalPassFailure();
    }
    if (!llvm::isPowerOf2_64(assumeAlignment)) {
      getOperation()->emitError("assume-alignment must be a power of two, not ")
          << assumeAlignment.getValue();
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp loop : collectBlockLoops(getOperation())) {
      SmallVector<Operation *> ops = collect(loop);
      for (Operation *op : ops)
        if (failed(checkMappable(op)))
          return signalPassFailure();
      SmallVector<linalg::LinalgOp> structured;
      for (Operation *op : ops)
        structured.push_back(getStructured(rewriter, op));
      replicateBuffers(rewriter, loop, structured);
      ThreadMapper(rewriter, threads, assumeAlignment).map(structured);
    }
  }
};

} // namespace

} // namespace mlir::workgroup
