//===- NarrowFloats.cpp - Floats of 8 bits by integer arithmetic ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To f32: exponent and mantissa, moved to where f32 has them, are the number
// divided by a power of two that makes up for the other bias; subnormal numbers
// of either type included.
//
// From f32: the bits that do not fit are rounded to the nearest even number,
// carrying into the exponent. Of numbers that become subnormal, adding a power
// of two lets the adder round at the right bit. From f64, the f32 in between is
// rounded to odd, so that nothing is rounded twice.
//
//===----------------------------------------------------------------------===//

#include "NarrowFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"

namespace mlir::workgroup {

namespace {

/// How a type of 8 bits spreads over them.
struct Format {
  unsigned mantissa;
  int bias;
  /// Magnitudes from here on are no finite numbers.
  uint32_t overflow;
  /// What becomes of numbers that are too large, and of what is none.
  uint32_t infinity, nan;
};

/// Arithmetic on values of one shape.
struct LaneBuilder {
  OpBuilder &builder;
  Location loc;
  Type shape; // of some element type

  Type type(Type element) const {
    if (auto shaped = dyn_cast<ShapedType>(shape))
      return shaped.clone(element);
    return element;
  }
  Type i8() const { return type(builder.getI8Type()); }
  Type i32() const { return type(builder.getI32Type()); }
  Type f32() const { return type(builder.getF32Type()); }

  Value constant(Type kind, Attribute value) const {
    if (auto shaped = dyn_cast<ShapedType>(kind))
      value = DenseElementsAttr::get(shaped, value);
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(value));
  }
  Value integer(uint32_t value) const {
    return constant(i32(), builder.getI32IntegerAttr(value));
  }
  Value real(float value) const {
    return constant(f32(), builder.getF32FloatAttr(value));
  }
  template <typename Op>
  Value apply(Value lhs, Value rhs) const {
    return Op::create(builder, loc, lhs, rhs);
  }
  template <typename Op>
  Value convert(Type to, Value value) const {
    return Op::create(builder, loc, to, value);
  }
  Value compare(arith::CmpIPredicate how, Value lhs, uint32_t rhs) const {
    return arith::CmpIOp::create(builder, loc, how, lhs, integer(rhs));
  }
  Value select(Value condition, Value yes, Value no) const {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
};

} // namespace

static std::optional<Format> getFormat(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (isa<Float8E4M3FNType>(element))
    return Format{3, 7, 0x7f, 0x7f, 0x7f};
  if (isa<Float8E5M2Type>(element))
    return Format{2, 15, 0x7c, 0x7c, 0x7e};
  return std::nullopt;
}

/// 2^exponent.
static float powerOfTwo(int exponent) {
  return llvm::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
}

static bool isConvertible(Type type) {
  Type element = getElementTypeOrSelf(type);
  auto vector = dyn_cast<VectorType>(type);
  return element.isF16() || element.isBF16() || element.isF32() ||
         (element.isF64() && !(vector && vector.isScalable()));
}

/// `value`, of 8 bits, as an f32.
static Value extend(LaneBuilder &lanes, Value value, const Format &format) {
  Value bits = lanes.convert<arith::ExtUIOp>(
      lanes.i32(), lanes.convert<arith::BitcastOp>(lanes.i8(), value));
  Value magnitude = lanes.apply<arith::AndIOp>(bits, lanes.integer(0x7f));
  Value moved = lanes.apply<arith::ShLIOp>(magnitude,
                                           lanes.integer(23 - format.mantissa));
  Value finite = lanes.apply<arith::MulFOp>(
      lanes.convert<arith::BitcastOp>(lanes.f32(), moved),
      lanes.real(powerOfTwo(127 - format.bias)));
  Value result = lanes.convert<arith::BitcastOp>(lanes.i32(), finite);
  constexpr uint32_t kInfinity = 0x7f800000, kNaN = 0x7fc00000;
  if (format.infinity != format.nan)
    result = lanes.select(
        lanes.compare(arith::CmpIPredicate::eq, magnitude, format.infinity),
        lanes.integer(kInfinity), result);
  result = lanes.select(lanes.compare(arith::CmpIPredicate::ugt, magnitude,
                                      format.infinity != format.nan
                                          ? format.infinity
                                          : format.nan - 1),
                        lanes.integer(kNaN), result);
  Value sign = lanes.apply<arith::ShLIOp>(
      lanes.apply<arith::AndIOp>(bits, lanes.integer(0x80)), lanes.integer(24));
  return lanes.convert<arith::BitcastOp>(
      lanes.f32(), lanes.apply<arith::OrIOp>(result, sign));
}

/// `value`, an f32, in 8 bits.
static Value truncate(LaneBuilder &lanes, Value value, Type to,
                      const Format &format) {
  unsigned dropped = 23 - format.mantissa;
  Value bits = lanes.convert<arith::BitcastOp>(lanes.i32(), value);
  Value magnitude = lanes.apply<arith::AndIOp>(bits, lanes.integer(0x7fffffff));
  // Half of the last place, or less by one bit if the number is even.
  Value odd = lanes.apply<arith::AndIOp>(
      lanes.apply<arith::ShRUIOp>(magnitude, lanes.integer(dropped)),
      lanes.integer(1));
  Value half =
      lanes.apply<arith::AddIOp>(odd, lanes.integer((1u << (dropped - 1)) - 1));
  Value rounded = lanes.apply<arith::ShRUIOp>(
      lanes.apply<arith::AddIOp>(magnitude, half), lanes.integer(dropped));
  Value normal = lanes.apply<arith::SubIOp>(
      rounded, lanes.integer(static_cast<uint32_t>(127 - format.bias)
                             << format.mantissa));

  // The last place of this power is that of subnormal numbers.
  float power = powerOfTwo(1 - format.bias + static_cast<int>(dropped));
  Value sum = lanes.apply<arith::AddFOp>(
      lanes.convert<arith::BitcastOp>(lanes.f32(), magnitude),
      lanes.real(power));
  Value subnormal = lanes.apply<arith::SubIOp>(
      lanes.convert<arith::BitcastOp>(lanes.i32(), sum),
      lanes.integer(llvm::bit_cast<uint32_t>(power)));

  uint32_t leastNormal = llvm::bit_cast<uint32_t>(powerOfTwo(1 - format.bias));
  Value result = lanes.select(
      lanes.compare(arith::CmpIPredicate::ult, magnitude, leastNormal),
      subnormal, normal);
  Value isLarge = lanes.apply<arith::AndIOp>(
      lanes.compare(arith::CmpIPredicate::uge, magnitude, leastNormal),
      lanes.compare(arith::CmpIPredicate::uge, normal, format.overflow));
  result = lanes.select(isLarge, lanes.integer(format.infinity), result);
  result = lanes.select(
      lanes.compare(arith::CmpIPredicate::ugt, magnitude, 0x7f800000),
      lanes.integer(format.nan), result);
  Value sign = lanes.apply<arith::AndIOp>(
      lanes.apply<arith::ShRUIOp>(bits, lanes.integer(24)),
      lanes.integer(0x80));
  Value byte = lanes.convert<arith::TruncIOp>(
      lanes.i8(), lanes.apply<arith::OrIOp>(result, sign));
  return lanes.convert<arith::BitcastOp>(to, byte);
}

/// `value`, an f64, as an f32 whose last bit is set if it is not exact.
static Value roundToOdd(LaneBuilder &lanes, Value value) {
  Value nearest = lanes.convert<arith::TruncFOp>(lanes.f32(), value);
  Value back = lanes.convert<arith::ExtFOp>(value.getType(), nearest);
  Value bits = lanes.convert<arith::BitcastOp>(lanes.i32(), nearest);
  OpBuilder &builder = lanes.builder;
  Value isInexact = arith::CmpFOp::create(
      builder, lanes.loc, arith::CmpFPredicate::ONE, back, value);
  Value isEven =
      lanes.compare(arith::CmpIPredicate::eq,
                    lanes.apply<arith::AndIOp>(bits, lanes.integer(1)), 0);
  // One step away from zero if it was rounded towards it, else back.
  Value zero = lanes.constant(value.getType(), builder.getF64FloatAttr(0));
  Value isBelow = arith::CmpFOp::create(builder, lanes.loc,
                                        arith::CmpFPredicate::OLT, back, value);
  Value isNegative = arith::CmpFOp::create(
      builder, lanes.loc, arith::CmpFPredicate::OLT, value, zero);
  Value isTowardsZero = lanes.apply<arith::XOrIOp>(isBelow, isNegative);
  Value moved = lanes.select(
      isTowardsZero, lanes.apply<arith::AddIOp>(bits, lanes.integer(1)),
      lanes.apply<arith::SubIOp>(bits, lanes.integer(1)));
  Value result =
      lanes.select(lanes.apply<arith::AndIOp>(isInexact, isEven), moved, bits);
  return lanes.convert<arith::BitcastOp>(lanes.f32(), result);
}

namespace {

struct ExpandExtension final : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Format> format = getFormat(op.getIn().getType());
    if (!format || !isConvertible(op.getType()))
      return failure();
    LaneBuilder lanes{rewriter, op.getLoc(), op.getType()};
    Value result = extend(lanes, op.getIn(), *format);
    Type element = getElementTypeOrSelf(op.getType());
    if (element.isF64())
      result = lanes.convert<arith::ExtFOp>(op.getType(), result);
    else if (!element.isF32())
      result = lanes.convert<arith::TruncFOp>(op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ExpandTruncation final : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Format> format = getFormat(op.getType());
    bool isNearest =
        op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) ==
        arith::RoundingMode::to_nearest_even;
    if (!format || !isConvertible(op.getIn().getType()) || !isNearest)
      return failure();
    LaneBuilder lanes{rewriter, op.getLoc(), op.getType()};
    Value value = op.getIn();
    Type element = getElementTypeOrSelf(value.getType());
    if (element.isF64())
      value = roundToOdd(lanes, value);
    else if (!element.isF32())
      value = lanes.convert<arith::ExtFOp>(lanes.f32(), value);
    rewriter.replaceOp(op, truncate(lanes, value, op.getType(), *format));
    return success();
  }
};

/// Takes the way through a float that holds all those integers that the narrow
/// one can tell apart.
template <typename OpTy>
struct ExpandFromInteger final : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!getFormat(op.getType()))
      return failure();
    LaneBuilder lanes{rewriter, op.getLoc(), op.getType()};
    Type wide = lanes.type(rewriter.getF64Type());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(
        op, op.getType(), lanes.convert<OpTy>(wide, op.getIn()));
    return success();
  }
};

/// Takes the way through `f32`, which holds all numbers of the narrow one.
template <typename OpTy>
struct ExpandToInteger final : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!getFormat(op.getIn().getType()))
      return failure();
    LaneBuilder lanes{rewriter, op.getLoc(), op.getIn().getType()};
    rewriter.replaceOpWithNewOp<OpTy>(
        op, op.getType(),
        lanes.convert<arith::ExtFOp>(lanes.f32(), op.getIn()));
    return success();
  }
};

} // namespace

void populateNarrowFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<
      ExpandExtension, ExpandTruncation, ExpandFromInteger<arith::SIToFPOp>,
      ExpandFromInteger<arith::UIToFPOp>, ExpandToInteger<arith::FPToSIOp>,
      ExpandToInteger<arith::FPToUIOp>>(patterns.getContext());
}

} // namespace mlir::workgroup
