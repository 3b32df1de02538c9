//===- KeepChains.cpp - What is between contractions, for threads ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer of a block becomes one that each thread has for itself, and in which
// it has all of it. Nothing is computed otherwise by that, only by each thread:
// who lowers the contractions lets a thread have no more than its part.
//
//===----------------------------------------------------------------------===//

#include "RegisterChain.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/LaunchLimits.h"
#include "workgroup/Transforms/Contractions.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_KEEPCHAINSPASS
#include "workgroup/Transforms/Contractions.h.inc"

/// Has what uses `view`, of the first elements of a buffer, use those of `own`.
static void replaceView(RewriterBase &rewriter, Value view, Value own) {
  for (Operation *user : llvm::make_early_inc_range(view.getUsers()))
    if (auto part = dyn_cast<memref::SubViewOp>(user))
      replaceView(rewriter, part, own);
  auto part = view.getDefiningOp<memref::SubViewOp>();
  Value other = own;
  if (part &&
      part.getType().getShape() != cast<MemRefType>(own.getType()).getShape()) {
    rewriter.setInsertionPoint(part);
    other = memref::SubViewOp::create(
        rewriter, part.getLoc(), own, part.getMixedOffsets(),
        part.getMixedSizes(), part.getMixedStrides());
  }
  rewriter.replaceOp(view.getDefiningOp(), other);
}

/// Makes a buffer of the threads of `buffer`.
static void makePrivate(RewriterBase &rewriter, const RegisterChain &chain,
                        memref::AllocOp buffer, ArrayRef<ChainDim> dims) {
  SmallVector<int64_t> shape = llvm::map_to_vector(
      dims, [&](ChainDim dim) { return chain.getExtent(dim); });
  auto space = gpu::AddressSpaceAttr::get(buffer.getContext(),
                                          gpu::AddressSpace::Private);
  auto type = MemRefType::get(shape, buffer.getType().getElementType(),
                              MemRefLayoutAttrInterface(), space);
  rewriter.setInsertionPoint(buffer);
  Value own = memref::AllocaOp::create(rewriter, buffer.getLoc(), type);
  replaceView(rewriter, buffer, own);
}

LogicalResult keepChains(Operation *root, const KeepChainsOptions &options) {
  if (options.threads < 1 || options.threads > kMaxBlockThreads)
    return root->emitError("'threads' is ")
           << options.threads << ", but a block has from 1 to "
           << kMaxBlockThreads;
  const Chip *chip = resolveChip(root, options.chip);
  if (!chip)
    return failure();
  auto reportNone = [](linalg::LinalgOp op, StringRef why) {
    recordRemark(RemarkId::KeepChains_NotKept, op)
        << "what is between two contractions goes through workgroup memory"
        << remark::reason("{0}", why);
  };
  IRRewriter rewriter(root->getContext());
  for (const RegisterChain &chain :
       findRegisterChains(root, *chip, options.threads, reportNone)) {
    recordRemark(RemarkId::KeepChains_KeptChain, chain.second.op)
        << "what is between two contractions kept by threads"
        << remark::metric("Buffers", chain.buffers.size());
    for (const auto &[buffer, dims] : chain.buffers)
      if (auto alloc = buffer.getDefiningOp<memref::AllocOp>())
        makePrivate(rewriter, chain, alloc, dims);
  }
  return success();
}

namespace {

struct KeepChainsPass : impl::KeepChainsPassBase<KeepChainsPass> {
  using KeepChainsPassBase::KeepChainsPassBase;

  void runOnOperation() override {
    if (failed(keepChains(getOperation(), {threads, chip})))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
