//===- FusedProducers.cpp - What goes into the body of its user -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FusedProducers.h"
#include "LinalgClasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// True if `op` yields its only input in a wider type, which has all of its
/// values: nothing is rounded. Elements of less than a byte are left out, as
/// several of these are read at once.
static bool isWideningCast(linalg::LinalgOp op) {
  constexpr unsigned kBitsOfByte = 8;
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 || op.hasIndexSemantics())
    return false;
  Block *body = op.getBlock();
  Value value = body->getTerminator()->getOperand(0);
  unsigned numCasts = 0;
  for (; Operation *cast = value.getDefiningOp(); ++numCasts) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(cast))
      return false;
    value = cast->getOperand(0);
  }
  return numCasts > 0 && value == body->getArgument(0) &&
         value.getType().getIntOrFloatBitWidth() >= kBitsOfByte &&
         llvm::hasNItems(body->without_terminator(), numCasts);
}

/// True if each element of `op` is that of its input in the same place.
static bool isInPlace(linalg::LinalgOp op) {
  return llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); });
}

/// The bits of what is read for an input once casts are part of its reader.
static unsigned getReadBits(Value input) {
  linalg::LinalgOp producer = getTensorOp(input.getDefiningOp());
  if (producer && isWideningCast(producer))
    input = producer.getDpsInputs()[0];
  Type type = getElementTypeOrSelf(input);
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

/// True if it takes many instructions to convert what `cast` reads, unless
/// tensor cores do: a float of 8 bits times one of f32.
static bool isCostly(linalg::LinalgOp cast, linalg::LinalgOp consumer) {
  constexpr unsigned kLeastBits = 16;
  Type type = getElementTypeOrSelf(cast.getDpsInputs()[0]);
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < kLeastBits &&
         llvm::any_of(
             consumer.getDpsInputs(),
             [](Value input) { return getReadBits(input) > kLeastBits; });
}

/// True if a cast goes from `producer` into `consumer`, which reads an element
/// for many results.
static bool isCastFused(linalg::LinalgOp producer, linalg::LinalgOp consumer) {
  LinalgClass to = classify(consumer);
  // A window goes along the dimensions that its tensor has.
  bool isTaken = to == LinalgClass::Contraction ||
                 (to == LinalgClass::Window && isInPlace(producer));
  return isTaken && isWideningCast(producer) && !isCostly(producer, consumer);
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

bool isFusedIntoUser(OpOperand *use) {
  linalg::LinalgOp producer = getTensorOp(use->get().getDefiningOp());
  linalg::LinalgOp consumer = getTensorOp(use->getOwner());
  if (!producer || !consumer || consumer.isDpsInit(use))
    return false;
  LinalgClass from = classify(producer), to = classify(consumer);
  if (isCopyLike(producer) && from != LinalgClass::Generator)
    return to != LinalgClass::Window;
  if (isCastFused(producer, consumer))
    return true;
  if (to == LinalgClass::Reduction)
    return producer->hasOneUse();
  if (to != LinalgClass::Elementwise)
    return false;
  // Nothing but copies and casts goes where it would be computed more than
  // once.
  if (from == LinalgClass::Generator || producer->hasOneUse())
    return true;
  return use->get().hasOneUse() &&
         consumer.getMatchingIndexingMap(use).isIdentity();
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// `op` on `source`, which differs from what it reshapes by the type of
/// its elements.
static Value reshapeAlike(PatternRewriter &rewriter, tensor::CollapseShapeOp op,
                          Value source) {
  return tensor::CollapseShapeOp::create(
      rewriter, op.getLoc(),
      op.getResultType().clone(getElementTypeOrSelf(source.getType())), source,
      op.getReassociationIndices());
}
static Value reshapeAlike(PatternRewriter &rewriter, tensor::ExpandShapeOp op,
                          Value source) {
  return tensor::ExpandShapeOp::create(
      rewriter, op.getLoc(),
      op.getResultType().clone(getElementTypeOrSelf(source.getType())), source,
      op.getReassociationIndices(), op.getMixedOutputShape());
}

namespace {
template <typename ReshapeOp>
struct ReshapeBeforeCast final : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern<ReshapeOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp reshape,
                                PatternRewriter &rewriter) const override {
    auto cast = reshape.getSrc().template getDefiningOp<linalg::GenericOp>();
    if (!cast || !isTensorOp(cast) || !isWideningCast(cast) ||
        !isInPlace(cast) || !llvm::any_of(reshape->getUses(), isFactor))
      return failure();
    Location loc = cast.getLoc();
    Value narrow = reshapeAlike(rewriter, reshape, cast.getInputs()[0]);
    RankedTensorType type = reshape.getResultType();
    Value init = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, narrow),
        type.getElementType());
    unsigned rank = type.getRank();
    AffineMap map = rewriter.getMultiDimIdentityMap(rank);
    auto wide = linalg::GenericOp::create(
        rewriter, loc, init.getType(), narrow, init, {map, map},
        SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel));
    rewriter.cloneRegionBefore(cast.getRegion(), wide.getRegion(),
                               wide.getRegion().end());
    Value result = wide.getResult(0);
    if (result.getType() != type)
      result = tensor::CastOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(reshape, result);
    return success();
  }

private:
  /// True if a contraction multiplies what is at `use`.
  static bool isFactor(OpOperand &use) {
    linalg::LinalgOp user = getTensorOp(use.getOwner());
    return user && !user.isDpsInit(&use) &&
           classify(user) == LinalgClass::Contraction;
  }
};
} // namespace

void populateReshapeOfCastPatterns(RewritePatternSet &patterns) {
  patterns.add<ReshapeBeforeCast<tensor::CollapseShapeOp>,
               ReshapeBeforeCast<tensor::ExpandShapeOp>>(patterns.getContext());
}

} // namespace mlir::workgroup
