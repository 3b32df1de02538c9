//===- PlaceBuffers.cpp - Buffers of blocks in workgroup memory -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferTypes.h"
#include "TileLoops.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Support/Remarks.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_PLACEBUFFERSPASS
#include "workgroup/Passes.h.inc"

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

/// The buffers that a block makes for itself, in no memory space yet.
static SmallVector<memref::AllocOp> collectBuffers(scf::ForallOp loop) {
  SmallVector<memref::AllocOp> buffers;
  loop.walk([&](memref::AllocOp op) {
    if (!op.getType().getMemorySpace())
      buffers.push_back(op);
  });
  return buffers;
}

static LogicalResult check(memref::AllocOp op) {
  Operation *fixed = findFixedUse(op);
  if (!fixed)
    return success();
  InFlightDiagnostic error =
      op.emitOpError("cannot be put into workgroup memory: its memory is "
                     "handed on by '")
      << fixed->getName() << "'; give it a memory space where it is made";
  error.attachNote(fixed->getLoc()) << "here";
  return error;
}

static void place(IRRewriter &rewriter, memref::AllocOp op) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (isa<memref::DeallocOp>(user)) // it lives as long as its block
      rewriter.eraseOp(user);
  rewriter.setInsertionPoint(op);
  auto type = cast<MemRefType>(
      withMemorySpace(op.getType(), getWorkgroupSpace(op.getContext())));
  auto placed =
      memref::AllocOp::create(rewriter, op.getLoc(), type, op.getDynamicSizes(),
                              op.getSymbolOperands(), op.getAlignmentAttr());
  passedRemark(RemarkSource::PlaceBuffers, "PlacedBuffer", op)
      << "a buffer of each block is in workgroup memory";
  replaceBuffer(rewriter, op, placed);
  rewriter.eraseOp(op);
}

namespace {

struct PlaceBuffersPass : impl::PlaceBuffersPassBase<PlaceBuffersPass> {
  using PlaceBuffersPassBase::PlaceBuffersPassBase;

  void runOnOperation() override {
    SmallVector<memref::AllocOp> buffers;
    for (scf::ForallOp loop : collectBlockLoops(getOperation()))
      llvm::append_range(buffers, collectBuffers(loop));
    for (memref::AllocOp op : buffers)
      if (failed(check(op)))
        return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (memref::AllocOp op : buffers)
      place(rewriter, op);
  }
};

} // namespace

} // namespace mlir::workgroup
