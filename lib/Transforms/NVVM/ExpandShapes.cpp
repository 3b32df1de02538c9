//===- ExpandShapes.cpp - Views of several dynamic extents ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `expand-strided-metadata` asserts that one extent at most of those that a
// dimension is split into is dynamic (LLVM 22.1); the operation names them all.
//
//===----------------------------------------------------------------------===//

#include "ExpandShapes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::workgroup {

namespace {
struct ReinterpretExpansion final : OpRewritePattern<memref::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    MemRefType type = op.getResultType();
    bool isExpandable = llvm::all_of(
        op.getReassociationIndices(), [&](ArrayRef<int64_t> group) {
          return llvm::count_if(group, [&](int64_t dim) {
                   return type.isDynamicDim(dim);
                 }) <= 1;
        });
    if (isExpandable)
      return rewriter.notifyMatchFailure(op, "upstream can expand it");

    auto [typeStrides, typeOffset] = type.getStridesAndOffset();
    auto source = memref::ExtractStridedMetadataOp::create(
        rewriter, op.getLoc(), op.getSrc());
    OpFoldResult offset =
        getStaticOr(rewriter, typeOffset, OpFoldResult(source.getOffset()));
    SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
    SmallVector<OpFoldResult> strides =
        computeStrides(rewriter, op, source.getStrides(), sizes);
    for (auto [stride, typeStride] : llvm::zip_equal(strides, typeStrides))
      stride = getStaticOr(rewriter, typeStride, stride);
    rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
        op, type, source.getBaseBuffer(), offset, sizes, strides);
    return success();
  }

private:
  static OpFoldResult getStaticOr(Builder &builder, int64_t value,
                                  OpFoldResult dynamic) {
    if (ShapedType::isDynamic(value))
      return dynamic;
    return builder.getIndexAttr(value);
  }

  /// The innermost dimension of a group has the stride of the source, each
  /// other one steps over those within it.
  static SmallVector<OpFoldResult>
  computeStrides(RewriterBase &rewriter, memref::ExpandShapeOp op,
                 ValueRange sourceStrides, ArrayRef<OpFoldResult> sizes) {
    SmallVector<OpFoldResult> strides(sizes.size());
    AffineExpr product =
        rewriter.getAffineSymbolExpr(0) * rewriter.getAffineSymbolExpr(1);
    for (auto [group, sourceStride] :
         llvm::zip_equal(op.getReassociationIndices(), sourceStrides)) {
      OpFoldResult stride = sourceStride;
      for (int64_t dim : llvm::reverse(group)) {
        strides[dim] = stride;
        if (dim != group.front())
          stride = affine::makeComposedFoldedAffineApply(
              rewriter, op.getLoc(), product, {stride, sizes[dim]});
      }
    }
    return strides;
  }
};
} // namespace

LogicalResult expandViews(ArrayRef<Operation *> scopes) {
  SmallVector<Operation *> views;
  for (Operation *scope : scopes)
    scope->walk([&](Operation *op) {
      if (isa<ViewLikeOpInterface, memref::ExtractStridedMetadataOp,
              memref::ExtractAlignedPointerAsIndexOp>(op))
        views.push_back(op);
    });
  if (views.empty())
    return success();
  RewritePatternSet patterns(views.front()->getContext());
  patterns.add<ReinterpretExpansion>(patterns.getContext(), /*benefit=*/2);
  memref::populateExpandStridedMetadataPatterns(patterns);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  return applyOpPatternsGreedily(views, std::move(patterns), config);
}

} // namespace mlir::workgroup
