//===- TensorGenerics.cpp - Operations on tensors as generics -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorGenerics.h"
#include "LinalgClasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::workgroup {

namespace {

/// Makes the element at `indices`, of which there is one per dimension.
using ElementBuilder =
    function_ref<Value(OpBuilder &, Location, ArrayRef<Value> indices)>;

} // namespace

/// Replaces `op`, whose result has `sizes`, by a generic that makes each
/// element by `build`.
static void replaceByGeneric(PatternRewriter &rewriter, Operation *op,
                             ArrayRef<OpFoldResult> sizes,
                             ElementBuilder build) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Location loc = op->getLoc();
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, empty.getType(), ValueRange(), empty, identity, iterators,
      [&](OpBuilder &builder, Location at, ValueRange) {
        SmallVector<Value> indices;
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          indices.push_back(linalg::IndexOp::create(builder, at, dim));
        linalg::YieldOp::create(builder, at, build(builder, at, indices));
      });
  Value result = generic.getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(rewriter, loc, type, result);
  rewriter.replaceOp(op, result);
}

/// What `region`, which is given `indices`, yields.
static Value cloneElement(OpBuilder &builder, Region &region,
                          ArrayRef<Value> indices) {
  IRMapping mapping;
  mapping.map(region.getArguments(), indices);
  for (Operation &op : region.front().without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

static SmallVector<OpFoldResult> getResultSizes(OpBuilder &builder,
                                                Operation *op) {
  ReifiedRankedShapedTypeDims sizes;
  if (failed(reifyResultShapes(builder, op, sizes)))
    return {};
  return sizes.front();
}

namespace {

/// An element of the padded tensor is that of the source if it is inside of it.
struct PadToGeneric : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes = getResultSizes(rewriter, op);
    SmallVector<OpFoldResult> extents =
        tensor::getMixedSizes(rewriter, loc, op.getSource());
    if (sizes.size() != extents.size())
      return rewriter.notifyMatchFailure(op, "unknown sizes");
    auto toValues = [&](ArrayRef<OpFoldResult> values) {
      return getValueOrCreateConstantIndexOp(rewriter, loc, values);
    };
    SmallVector<Value> lows = toValues(op.getMixedLowPad());
    SmallVector<Value> ends = toValues(extents);
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    replaceByGeneric(
        rewriter, op, sizes,
        [&](OpBuilder &builder, Location at, ArrayRef<Value> indices) -> Value {
          Value isInside =
              arith::ConstantOp::create(builder, at, builder.getBoolAttr(true));
          SmallVector<Value> places;
          auto require = [&](arith::CmpIPredicate predicate, Value place,
                             Value limit) {
            Value holds =
                arith::CmpIOp::create(builder, at, predicate, place, limit);
            isInside = arith::AndIOp::create(builder, at, isInside, holds);
          };
          for (auto [index, low, end] : llvm::zip_equal(indices, lows, ends)) {
            Value place = arith::SubIOp::create(builder, at, index, low);
            places.push_back(place);
            require(arith::CmpIPredicate::sge, place, zero);
            require(arith::CmpIPredicate::slt, place, end);
          }
          auto lookUp = [&](OpBuilder &inner, Location) {
            Value element =
                tensor::ExtractOp::create(inner, at, op.getSource(), places);
            scf::YieldOp::create(inner, at, element);
          };
          auto pad = [&](OpBuilder &inner, Location) {
            scf::YieldOp::create(inner, at,
                                 cloneElement(inner, op.getRegion(), indices));
          };
          return scf::IfOp::create(builder, at, isInside, lookUp, pad)
              .getResult(0);
        });
    return success();
  }
};

/// An element of a tile, whose size may be a value, is that of the source at
/// the tile's number times its size, and so on.
struct PackToGeneric : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::PackOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "on buffers");
    Location loc = op.getLoc();
    int64_t rank = op.getSourceRank();
    SmallVector<Value> tiles =
        getValueOrCreateConstantIndexOp(rewriter, loc, op.getMixedTiles());
    SmallVector<Value> ends = getValueOrCreateConstantIndexOp(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getSource()));
    SmallVector<int64_t> order(op.getOuterDimsPerm());
    if (order.empty())
      llvm::append_range(order, llvm::seq(rank));
    auto build = [&](OpBuilder &builder, Location at,
                     ArrayRef<Value> indices) -> Value {
      SmallVector<Value> places(rank);
      for (auto [number, dim] : llvm::enumerate(order))
        places[dim] = indices[number];
      Value isInside =
          arith::ConstantOp::create(builder, at, builder.getBoolAttr(true));
      for (auto [number, dim] : llvm::enumerate(op.getInnerDimsPos())) {
        Value first =
            arith::MulIOp::create(builder, at, places[dim], tiles[number]);
        places[dim] =
            arith::AddIOp::create(builder, at, first, indices[rank + number]);
        Value holds = arith::CmpIOp::create(
            builder, at, arith::CmpIPredicate::slt, places[dim], ends[dim]);
        isInside = arith::AndIOp::create(builder, at, isInside, holds);
      }
      auto lookUp = [&](OpBuilder &inner) -> Value {
        return tensor::ExtractOp::create(inner, at, op.getSource(), places);
      };
      if (!op.getPaddingValue())
        return lookUp(builder);
      return scf::IfOp::create(
                 builder, at, isInside,
                 [&](OpBuilder &inner, Location) {
                   scf::YieldOp::create(inner, at, lookUp(inner));
                 },
                 [&](OpBuilder &inner, Location) {
                   scf::YieldOp::create(inner, at, op.getPaddingValue());
                 })
          .getResult(0);
    };
    replaceByGeneric(rewriter, op,
                     tensor::getMixedSizes(rewriter, loc, op.getDest()), build);
    return success();
  }
};

struct GenerateToGeneric : OpRewritePattern<tensor::GenerateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::GenerateOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    SmallVector<OpFoldResult> sizes =
        getMixedValues(type.getShape(), op.getDynamicExtents(), rewriter);
    replaceByGeneric(
        rewriter, op, sizes,
        [&](OpBuilder &builder, Location, ArrayRef<Value> indices) {
          return cloneElement(builder, op.getBody(), indices);
        });
    return success();
  }
};

struct SplatToGeneric : OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::SplatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> sizes =
        getMixedValues(op.getType().getShape(), op.getDynamicSizes(), rewriter);
    replaceByGeneric(rewriter, op, sizes,
                     [&](OpBuilder &, Location, ArrayRef<Value>) -> Value {
                       return op.getInput();
                     });
    return success();
  }
};

/// The arithmetic on tensors that does the same becomes a generic with others.
struct BitcastToArithmetic : OpRewritePattern<tensor::BitcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::BitcastOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto isPlain = [](Type element) {
      return element.isSignlessInteger() || isa<FloatType>(element);
    };
    if (!type || !source || !isPlain(type.getElementType()) ||
        !isPlain(source.getElementType()))
      return rewriter.notifyMatchFailure(op, "arithmetic has no such types");
    Value result = arith::BitcastOp::create(rewriter, op.getLoc(),
                                            source.clone(type.getElementType()),
                                            op.getSource());
    if (result.getType() != type) // sizes may be static on one side only
      result = tensor::CastOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// The last dimension of the indices has a coordinate per gathered dimension
/// of the source; the dimensions before it come first in the result, those of
/// the source follow, the gathered ones as one element or not at all.
struct GatherToGeneric : OpRewritePattern<tensor::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::GatherOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ArrayRef<int64_t> gathered = op.getGatherDims();
    RankedTensorType source = op.getSourceType();
    int64_t batchRank = op.getIndicesType().getRank() - 1;
    bool keepsUnits =
        op.getResultType().getRank() == batchRank + source.getRank();
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, op.getIndices());
    sizes.pop_back();
    for (auto [dim, size] :
         llvm::enumerate(tensor::getMixedSizes(rewriter, loc, op.getSource())))
      if (!llvm::is_contained(gathered, int64_t(dim)))
        sizes.push_back(size);
      else if (keepsUnits)
        sizes.push_back(rewriter.getIndexAttr(1));
    replaceByGeneric(
        rewriter, op, sizes,
        [&](OpBuilder &builder, Location at, ArrayRef<Value> indices) -> Value {
          SmallVector<Value> batch(indices.take_front(batchRank)), places;
          ArrayRef<Value> slice = indices.drop_front(batchRank);
          for (int64_t dim = 0; dim < source.getRank(); ++dim) {
            const int64_t *coordinate = llvm::find(gathered, dim);
            bool isGathered = coordinate != gathered.end();
            if (!isGathered || keepsUnits) {
              places.push_back(slice.front());
              slice = slice.drop_front();
            }
            if (!isGathered)
              continue;
            SmallVector<Value> where(batch);
            where.push_back(arith::ConstantIndexOp::create(
                builder, at, coordinate - gathered.begin()));
            Value place =
                tensor::ExtractOp::create(builder, at, op.getIndices(), where);
            if (!place.getType().isIndex())
              place = arith::IndexCastOp::create(builder, at,
                                                 builder.getIndexType(), place);
            if (keepsUnits)
              places.back() = place;
            else
              places.push_back(place);
          }
          return tensor::ExtractOp::create(builder, at, op.getSource(), places);
        });
    return success();
  }
};

/// A constant that is updated is filled in, as kernels put results into tensors
/// that they are given.
struct FillConstantInits : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    bool hasChanged = false;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      SplatElementsAttr constant;
      if (!isTensorOp(op) || !matchPattern(init.get(), m_Constant(&constant)))
        continue;
      Location loc = op.getLoc();
      Value element = arith::ConstantOp::create(
          rewriter, loc, constant.getSplatValue<TypedAttr>());
      Value empty = tensor::EmptyOp::create(
          rewriter, loc, constant.getType().getShape(), element.getType());
      auto fill = linalg::FillOp::create(rewriter, loc, element, empty);
      rewriter.modifyOpInPlace(op, [&] { init.set(fill.getResult(0)); });
      hasChanged = true;
    }
    return success(hasChanged);
  }
};

} // namespace

namespace {
/// Drops the step of a dimension of one element, which does not matter.
/// Upstream's `memref.subview` tells dimensions that are left out by strides,
/// and these would change.
template <typename OpTy>
struct DropStrideOfOne final : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> strides = op.getMixedStrides();
    bool hasChanged = false;
    for (auto [stride, size] : llvm::zip_equal(strides, op.getMixedSizes()))
      if (isOneInteger(size) && !isOneInteger(stride)) {
        stride = rewriter.getIndexAttr(1);
        hasChanged = true;
      }
    if (!hasChanged)
      return failure();
    auto [attributes, values] = decomposeMixedValues(strides);
    rewriter.modifyOpInPlace(op, [&] {
      op.getStridesMutable().assign(values);
      op.setStaticStrides(attributes);
    });
    return success();
  }
};
/// The tensor as one row, and that in the other shape.
struct ReshapeByRow final : OpRewritePattern<tensor::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto result = dyn_cast<RankedTensorType>(op.getType());
    if (!source || !result)
      return failure();
    Location loc = op.getLoc();
    auto getRow = [](RankedTensorType type) {
      int64_t size =
          type.hasStaticShape() ? type.getNumElements() : ShapedType::kDynamic;
      return RankedTensorType::get(size, type.getElementType());
    };
    auto getAll = [](RankedTensorType type) {
      return type.getRank() == 0
                 ? SmallVector<ReassociationIndices>()
                 : SmallVector<ReassociationIndices>{
                       llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))};
    };
    Value row = op.getSource();
    if (source.getRank() == 0)
      row = tensor::ExpandShapeOp::create(rewriter, loc, getRow(source), row,
                                          getAll(source));
    else if (source.getRank() > 1)
      row = tensor::CollapseShapeOp::create(rewriter, loc, getRow(source), row,
                                            getAll(source));
    if (row.getType() != getRow(result))
      row = tensor::CastOp::create(rewriter, loc, getRow(result), row);
    if (result.getRank() == 0)
      row = tensor::CollapseShapeOp::create(rewriter, loc, result, row,
                                            getAll(result));
    else if (result.getRank() > 1)
      row = tensor::ExpandShapeOp::create(rewriter, loc, result, row,
                                          getAll(result),
                                          getSizes(rewriter, op, result));
    rewriter.replaceOp(op, row);
    return success();
  }

private:
  static SmallVector<OpFoldResult> getSizes(PatternRewriter &rewriter,
                                            tensor::ReshapeOp op,
                                            RankedTensorType result) {
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes;
    for (auto [dim, extent] : llvm::enumerate(result.getShape())) {
      if (!ShapedType::isDynamic(extent)) {
        sizes.push_back(rewriter.getIndexAttr(extent));
        continue;
      }
      Value place = arith::ConstantIndexOp::create(rewriter, loc, dim);
      Value size =
          tensor::ExtractOp::create(rewriter, loc, op.getShape(), place);
      if (!size.getType().isIndex())
        size = arith::IndexCastOp::create(rewriter, loc,
                                          rewriter.getIndexType(), size);
      sizes.push_back(size);
    }
    return sizes;
  }
};
} // namespace

void populateSliceStridePatterns(RewritePatternSet &patterns) {
  patterns.add<DropStrideOfOne<tensor::ExtractSliceOp>,
               DropStrideOfOne<tensor::InsertSliceOp>>(patterns.getContext());
}

void populateTensorGenericPatterns(RewritePatternSet &patterns) {
  patterns
      .add<PadToGeneric, GenerateToGeneric, SplatToGeneric, BitcastToArithmetic,
           GatherToGeneric, PackToGeneric, FillConstantInits, ReshapeByRow>(
          patterns.getContext());
}

} // namespace mlir::workgroup
