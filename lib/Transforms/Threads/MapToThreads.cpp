//===- MapToThreads.cpp - Loops over threads ------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass collects the structured operations and copies in loops over blocks,
// decides which of them threads share out, and has ThreadMapper make loops over
// threads of them. Copies to workgroup memory, which the block does together,
// and operations on private memory are left for other passes.
//
//===----------------------------------------------------------------------===//

#include "ReplicatedBuffers.h"
#include "ThreadMapper.h"
#include "TileLoops.h"
#include "Transforms/Utils/AssumedAlignment.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/LaunchLimits.h"
#include "workgroup/Transforms/Threads.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_MAPTOTHREADSPASS
#include "workgroup/Transforms/Threads.h.inc"

/// True for work that the block does together, or that is on what each thread
/// has for itself.
static bool isLeftToOthers(Operation *op, const KeptRows &kept) {
  if (kept.isOn(op))
    return false;
  bool isCopy = isa<linalg::CopyOp, linalg::FillOp, memref::CopyOp>(op);
  return llvm::any_of(op->getOperandTypes(), [&](Type type) {
    return isPrivateMemory(type) || (isCopy && isWorkgroupMemory(type));
  });
}

/// The operations of blocks that threads are to share out.
static SmallVector<Operation *> collect(scf::ForallOp loop,
                                        const KeptRows &kept) {
  SmallVector<Operation *> ops;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isLoopOfThreads(op)) // is shared out
      return WalkResult::skip();
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    bool isCopy = isa<memref::CopyOp>(op);
    if ((isCopy || (structured && structured.hasPureBufferSemantics())) &&
        !isLeftToOthers(op, kept))
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

static LogicalResult checkMappable(Operation *op, const KeptRows &kept) {
  auto isRanked = [](Type type) {
    return !isa<BaseMemRefType>(type) || isa<MemRefType>(type);
  };
  if (!llvm::all_of(op->getOperandTypes(), isRanked))
    return op->emitOpError("is on memory of unknown rank, which threads cannot "
                           "share out; cast it to a ranked memref");
  for (Value operand : op->getOperands())
    if (Operation *stack = findStack(operand);
        stack && !kept.contains(operand)) {
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

LogicalResult mapToThreads(Operation *root,
                           const MapToThreadsOptions &options) {
  if (options.threads < 1 || options.threads > kMaxBlockThreads)
    return root->emitError("'threads' is ")
           << options.threads << ", but a block has from 1 to "
           << kMaxBlockThreads;
  if (failed(verifyAssumedAlignment(root, options.assumeAlignment)))
    return failure();
  IRRewriter rewriter(root->getContext());
  for (scf::ForallOp loop : collectBlockLoops(root)) {
    AlignmentAnalysis alignment(
        {options.assumeAlignment, /*workgroup=*/1, nullptr});
    KeptRows kept = KeptRows::keep(rewriter, loop, options.threads, alignment);
    SmallVector<Operation *> ops = collect(loop, kept);
    for (Operation *op : ops)
      if (failed(checkMappable(op, kept)))
        return failure();
    SmallVector<linalg::LinalgOp> structured;
    for (Operation *op : ops)
      structured.push_back(getStructured(rewriter, op));
    replicateBuffers(rewriter, loop, structured);
    ThreadMapper(rewriter, kept, options.threads, options.assumeAlignment)
        .map(structured);
  }
  return success();
}

namespace {

struct MapToThreadsPass : impl::MapToThreadsPassBase<MapToThreadsPass> {
  using MapToThreadsPassBase::MapToThreadsPassBase;

  void runOnOperation() override {
    if (failed(mapToThreads(getOperation(), {threads, assumeAlignment})))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
