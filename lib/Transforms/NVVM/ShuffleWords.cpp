//===- ShuffleWords.cpp - Shuffles of other than words --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShuffleWords.h"
#include "Transforms/Utils/LaneReducer.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::workgroup {

static constexpr int64_t kWordBits = 32;

/// The words that `type` fills; null if there is none, or a rest.
static VectorType getWords(VectorType type) {
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  if (bits % kWordBits != 0)
    return {};
  return VectorType::get({bits / kWordBits},
                         IntegerType::get(type.getContext(), kWordBits));
}

bool isMovedByWords(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!element.isIntOrFloat())
    return false;
  auto vector = dyn_cast<VectorType>(type);
  if (vector && (vector.isScalable() || vector.getRank() != 1))
    return false;
  return element.getIntOrFloatBitWidth() <= 64 || (vector && getWords(vector));
}

namespace {

struct ShuffleByWords final : OpRewritePattern<gpu::ShuffleOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(gpu::ShuffleOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getValue().getType();
    if (isShuffled(type, /*isWideToo=*/true) || !isMovedByWords(type))
      return failure();
    auto vector = dyn_cast<VectorType>(type);
    auto [result, isValid] = vector ? shuffleVector(op, vector, rewriter)
                                    : shuffleNarrow(op, rewriter);
    rewriter.replaceOp(op, {result, isValid});
    return success();
  }

private:
  static std::pair<Value, Value> shuffleNarrow(gpu::ShuffleOp op,
                                               OpBuilder &builder) {
    Location loc = op.getLoc();
    auto moved = gpu::ShuffleOp::create(
        builder, loc, toCarrier(builder, loc, op.getValue()), op.getOffset(),
        op.getWidth(), op.getMode());
    Value result = fromCarrier(builder, loc, moved.getShuffleResult(),
                               op.getValue().getType());
    return {result, moved.getValid()};
  }

  /// Word by word, or element by element if some word would not be full.
  static std::pair<Value, Value>
  shuffleVector(gpu::ShuffleOp op, VectorType type, OpBuilder &builder) {
    Location loc = op.getLoc();
    VectorType words = getWords(type);
    VectorType parts = words ? words : type;
    Value value = op.getValue(), isValid;
    if (parts != type)
      value = vector::BitCastOp::create(builder, loc, parts, value);
    Value result = ub::PoisonOp::create(builder, loc, parts);
    for (int64_t part = 0; part < parts.getNumElements(); ++part) {
      Value own = vector::ExtractOp::create(builder, loc, value, part);
      auto moved = gpu::ShuffleOp::create(builder, loc, own, op.getOffset(),
                                          op.getWidth(), op.getMode());
      isValid = isValid ? isValid : moved.getValid();
      result = vector::InsertOp::create(builder, loc, moved.getShuffleResult(),
                                        result, part);
    }
    if (parts != type)
      result = vector::BitCastOp::create(builder, loc, type, result);
    return {result, isValid};
  }
};

} // namespace

void populateShuffleWordPatterns(RewritePatternSet &patterns) {
  patterns.add<ShuffleByWords>(patterns.getContext());
}

} // namespace mlir::workgroup
