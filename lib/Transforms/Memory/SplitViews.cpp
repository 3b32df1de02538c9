//===- SplitViews.cpp - Views that step, or leave dimensions out ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `memref.subview` tells the dimensions that it leaves out by comparing
// strides, which steps change: upstream's passes crash on what does both where
// a dimension of one element stays.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Transforms/Memory.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_SPLITVIEWSPASS
#include "workgroup/Transforms/Memory.h.inc"

/// True for a view that takes steps and leaves some, but not all, of its
/// dimensions of one element out.
static bool isAmbiguous(memref::SubViewOp view) {
  int64_t numDropped =
      view.getSourceType().getRank() - view.getType().getRank();
  return numDropped != 0 &&
         llvm::count(view.getStaticSizes(), 1) != numDropped &&
         !llvm::all_of(view.getMixedStrides(), isOneInteger);
}

/// Makes two views of one: the first has the steps, the second the rank.
static void split(RewriterBase &rewriter, memref::SubViewOp view) {
  rewriter.setInsertionPoint(view);
  SmallVector<OpFoldResult> sizes = view.getMixedSizes();
  auto whole = memref::SubViewOp::create(
      rewriter, view.getLoc(), view.getSource(), view.getMixedOffsets(), sizes,
      view.getMixedStrides());
  SmallVector<OpFoldResult> zeros(sizes.size(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(sizes.size(), rewriter.getIndexAttr(1));
  rewriter.replaceOpWithNewOp<memref::SubViewOp>(view, view.getType(), whole,
                                                 zeros, sizes, ones);
}

void splitViews(Operation *root) {
  SmallVector<memref::SubViewOp> views;
  root->walk([&](memref::SubViewOp view) {
    if (isAmbiguous(view))
      views.push_back(view);
  });
  IRRewriter rewriter(root->getContext());
  for (memref::SubViewOp view : views)
    split(rewriter, view);
}

namespace {
struct SplitViewsPass final : impl::SplitViewsPassBase<SplitViewsPass> {
  using SplitViewsPassBase::SplitViewsPassBase;

  void runOnOperation() override { splitViews(getOperation()); }
};
} // namespace

} // namespace mlir::workgroup
