//===- PlaceBuffers.cpp - Buffers of blocks in workgroup memory -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Allocations of a block go to workgroup memory, as all threads share them. The
// space is part of the memref's type, so that the views of the buffer change
// with it; a buffer that is passed through loops, branches or calls cannot
// change. Dynamic extents become their upper bounds where these are known.
//
//===----------------------------------------------------------------------===//

#include "BlockBuffers.h"
#include "Support/Remarks.h"
#include "TileLoops.h"
#include "Transforms/Utils/BufferTypes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Transforms/Threads.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_PLACEBUFFERSPASS
#include "workgroup/Transforms/Threads.h.inc"

/// The use by which the memory of `buffer` goes where its space cannot be
/// changed along with it: through a loop, a branch, or a call.
static Operation *findFixedUse(Value buffer) {
  for (OpOperand &use : buffer.getUses()) {
    Operation *user = use.getOwner();
    if (getViewSource(user) == use.get()) {
      for (Value view : user->getResults())
        if (isa<BaseMemRefType>(view.getType()))
          if (Operation *fixed = findFixedUse(view))
            return fixed;
      continue;
    }
    if (user->hasTrait<OpTrait::IsTerminator>() ||
        isa<CallOpInterface, RegionBranchOpInterface>(user) ||
        llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
      return user;
  }
  return nullptr;
}

/// True if a structured operation, which is work for all threads, or a copy is
/// on the memory of `buffer`.
static bool isSharedOut(Value buffer) {
  return llvm::any_of(buffer.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<linalg::LinalgOp, memref::CopyOp>(user))
      return !isInThreadLoop(user);
    return getViewSource(user) == use.get() &&
           llvm::any_of(user->getResults(), isSharedOut);
  });
}

/// The buffers that a block makes for itself, in no memory space yet. What is
/// on a thread's stack could not be shared out to threads.
static SmallVector<Operation *> collectBuffers(scf::ForallOp loop) {
  SmallVector<Operation *> buffers;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isLoopOfThreads(op))
      return WalkResult::skip();
    bool isOfBlock =
        isa<memref::AllocOp>(op) ||
        (isa<memref::AllocaOp>(op) && isSharedOut(op->getResult(0)));
    if (isOfBlock &&
        !cast<MemRefType>(op->getResult(0).getType()).getMemorySpace())
      buffers.push_back(op);
    return WalkResult::advance();
  });
  return buffers;
}

/// What a thread allocates in a loop cannot be one buffer of the block.
static LogicalResult checkThreads(Operation *root) {
  bool isWrong = false;
  root->walk([&](memref::AllocOp op) {
    if (op.getType().getMemorySpace() || !isInThreadLoop(op) ||
        !isInBlockLoop(op))
      return;
    isWrong = true;
    op.emitOpError("is made by each thread, which workgroup memory has no room "
                   "for; use memref.alloca for what a thread has for itself");
  });
  return failure(isWrong);
}

static LogicalResult checkPlaceable(Operation *op) {
  Operation *fixed = findFixedUse(op->getResult(0));
  if (!fixed)
    return success();
  InFlightDiagnostic error =
      op->emitOpError("cannot be put into workgroup memory: its memory is "
                      "handed on by '")
      << fixed->getName() << "'; give it a memory space where it is made";
  error.attachNote(fixed->getLoc()) << "here";
  return error;
}

/// An allocation in workgroup memory that is equal to `op`.
template <typename AllocOp>
static Value createPlaced(RewriterBase &rewriter, AllocOp op) {
  auto type = cast<MemRefType>(
      withMemorySpace(op.getType(), getWorkgroupSpace(op.getContext())));
  return memref::AllocOp::create(rewriter, op.getLoc(), type,
                                 op.getDynamicSizes(), op.getSymbolOperands(),
                                 op.getAlignmentAttr());
}

/// The type of `op` with dynamic extents at their upper bounds; null if there
/// is none, or nothing to gain.
static MemRefType getStaticType(memref::AllocOp op) {
  MemRefType type = op.getType();
  if (type.hasStaticShape() || !type.getLayout().isIdentity() ||
      !takesAnyLayout(op))
    return nullptr;
  SmallVector<int64_t> shape;
  for (OpFoldResult size : op.getMixedSizes()) {
    std::optional<int64_t> bound = getUpperBound(size);
    if (!bound)
      return nullptr;
    shape.push_back(std::max<int64_t>(*bound, 1));
  }
  return MemRefType::get(shape, type.getElementType(), AffineMap(),
                         getWorkgroupSpace(op.getContext()));
}

static void place(IRRewriter &rewriter, Operation *op) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (isa<memref::DeallocOp>(user)) // it lives as long as its block
      rewriter.eraseOp(user);
  rewriter.setInsertionPoint(op);
  recordRemark(RemarkId::PlaceBuffers_PlacedBuffer, op)
      << "a buffer of each block is in workgroup memory";
  auto alloc = dyn_cast<memref::AllocOp>(op);
  if (alloc)
    if (MemRefType type = getStaticType(alloc)) {
      // Rows are then as far apart whatever they hold.
      enlarge(rewriter, alloc, type);
      return;
    }
  Value placed = alloc ? createPlaced(rewriter, alloc)
                       : createPlaced(rewriter, cast<memref::AllocaOp>(op));
  replaceBuffer(rewriter, op->getResult(0), placed);
  rewriter.eraseOp(op);
}

LogicalResult placeBuffers(Operation *root) {
  SmallVector<Operation *> buffers;
  for (scf::ForallOp loop : collectBlockLoops(root))
    llvm::append_range(buffers, collectBuffers(loop));
  if (failed(checkThreads(root)))
    return failure();
  for (Operation *op : buffers)
    if (failed(checkPlaceable(op)))
      return failure();
  IRRewriter rewriter(root->getContext());
  for (Operation *op : buffers)
    place(rewriter, op);
  return success();
}

namespace {

struct PlaceBuffersPass : impl::PlaceBuffersPassBase<PlaceBuffersPass> {
  using PlaceBuffersPassBase::PlaceBuffersPassBase;

  void runOnOperation() override {
    if (failed(placeBuffers(getOperation())))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
