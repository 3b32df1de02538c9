//===- NarrowFloats.cpp - Floats of 8 bits and less by integers -----------===//
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
// What a type has no number for becomes what PTX makes of it: infinity or NaN
// where there is one, else the largest number, which of NaN is positive.
//
//===----------------------------------------------------------------------===//

#include "NarrowFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

namespace mlir::workgroup {

using Comparison = arith::CmpIPredicate;

namespace {

/// Which bits of a type are no numbers.
enum class Special {
  /// Those whose exponent is all ones, the first of them infinity.
  LargestExponent,
  /// NaN is all ones.
  AllOnes,
  /// NaN stands where minus zero would be.
  MinusZero,
  /// None.
  None,
};

/// The layout of the bits of a type, the first of which is the sign.
struct FloatFormat {
  unsigned bits;
  unsigned mantissa;
  int bias;
  Special special;

  uint32_t getSign() const { return 1u << (bits - 1); }
  uint32_t getLargestMagnitude() const { return getSign() - 1; }
  uint32_t getInfinity() const { return getSign() - (uint32_t(1) << mantissa); }
  /// Magnitudes from here on are no finite numbers.
  uint32_t getOverflow() const {
    return special == Special::LargestExponent ? getInfinity()
           : special == Special::AllOnes       ? getLargestMagnitude()
                                               : getSign();
  }
  /// What becomes of numbers that are too large.
  uint32_t getTooLarge() const {
    return special == Special::None ? getLargestMagnitude() : getOverflow();
  }
  /// What becomes of what is no number.
  uint32_t getNaN() const {
    return special == Special::LargestExponent
               ? getInfinity() + (uint32_t(1) << (mantissa - 1))
               : getTooLarge();
  }
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
  Type bits(unsigned width) const {
    return type(builder.getIntegerType(width));
  }
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
  Value compare(Comparison how, Value lhs, uint32_t rhs) const {
    return arith::CmpIOp::create(builder, loc, how, lhs, integer(rhs));
  }
  Value select(Value condition, Value yes, Value no) const {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
};

} // namespace

static std::optional<FloatFormat> getFormat(Type type) {
  using Result = std::optional<FloatFormat>;
  return llvm::TypeSwitch<Type, Result>(getElementTypeOrSelf(type))
      .Case([](Float8E3M4Type) {
        return FloatFormat{8, 4, 3, Special::LargestExponent};
      })
      .Case([](Float8E4M3Type) {
        return FloatFormat{8, 3, 7, Special::LargestExponent};
      })
      .Case([](Float8E5M2Type) {
        return FloatFormat{8, 2, 15, Special::LargestExponent};
      })
      .Case([](Float8E4M3FNType) {
        return FloatFormat{8, 3, 7, Special::AllOnes};
      })
      .Case([](Float8E4M3FNUZType) {
        return FloatFormat{8, 3, 8, Special::MinusZero};
      })
      .Case([](Float8E4M3B11FNUZType) {
        return FloatFormat{8, 3, 11, Special::MinusZero};
      })
      .Case([](Float8E5M2FNUZType) {
        return FloatFormat{8, 2, 16, Special::MinusZero};
      })
      .Case(
          [](Float6E2M3FNType) { return FloatFormat{6, 3, 1, Special::None}; })
      .Case(
          [](Float6E3M2FNType) { return FloatFormat{6, 2, 3, Special::None}; })
      .Case(
          [](Float4E2M1FNType) { return FloatFormat{4, 1, 1, Special::None}; })
      .Default([](Type) { return std::nullopt; });
}

/// True for the type of scales, which has neither a sign nor a zero.
static bool isScale(Type type) {
  return isa<Float8E8M0FNUType>(getElementTypeOrSelf(type));
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

static constexpr uint32_t kInfinity = 0x7f800000, kNaN = 0x7fc00000;

/// The bits of `value`, which is narrow, as an i32.
static Value getBits(LaneBuilder &lanes, Value value) {
  unsigned width = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  return lanes.convert<arith::ExtUIOp>(
      lanes.i32(), lanes.convert<arith::BitcastOp>(lanes.bits(width), value));
}

/// `result`, bits of an f32, or NaN where `bits` of a narrow float are that.
static Value selectNaN(LaneBuilder &lanes, Value bits, Value magnitude,
                       Value result, const FloatFormat &format) {
  Value isNaN;
  switch (format.special) {
  case Special::LargestExponent:
    result = lanes.select(
        lanes.compare(Comparison::eq, magnitude, format.getInfinity()),
        lanes.integer(kInfinity), result);
    isNaN = lanes.compare(Comparison::ugt, magnitude, format.getInfinity());
    break;
  case Special::AllOnes:
    isNaN = lanes.compare(Comparison::eq, magnitude, format.getNaN());
    break;
  case Special::MinusZero:
    isNaN = lanes.compare(Comparison::eq, bits, format.getNaN());
    break;
  case Special::None:
    return result;
  }
  return lanes.select(isNaN, lanes.integer(kNaN), result);
}

/// `value`, which is narrow, as an f32.
static Value extend(LaneBuilder &lanes, Value value,
                    const FloatFormat &format) {
  Value bits = getBits(lanes, value);
  Value magnitude = lanes.apply<arith::AndIOp>(
      bits, lanes.integer(format.getLargestMagnitude()));
  Value moved = lanes.apply<arith::ShLIOp>(magnitude,
                                           lanes.integer(23 - format.mantissa));
  Value finite = lanes.apply<arith::MulFOp>(
      lanes.convert<arith::BitcastOp>(lanes.f32(), moved),
      lanes.real(powerOfTwo(127 - format.bias)));
  Value result =
      selectNaN(lanes, bits, magnitude,
                lanes.convert<arith::BitcastOp>(lanes.i32(), finite), format);
  Value sign = lanes.apply<arith::ShLIOp>(
      lanes.apply<arith::AndIOp>(bits, lanes.integer(format.getSign())),
      lanes.integer(32 - format.bits));
  return lanes.convert<arith::BitcastOp>(
      lanes.f32(), lanes.apply<arith::OrIOp>(result, sign));
}

/// `value`, a scale, as an f32: its bits are the exponent, 127 more.
static Value extendScale(LaneBuilder &lanes, Value value) {
  constexpr uint32_t kLeast = 1u << 22; // 2^-127, which is subnormal
  Value bits = getBits(lanes, value);
  Value result = lanes.apply<arith::ShLIOp>(bits, lanes.integer(23));
  result = lanes.select(lanes.compare(Comparison::eq, bits, 0),
                        lanes.integer(kLeast), result);
  result = lanes.select(lanes.compare(Comparison::eq, bits, 0xff),
                        lanes.integer(kNaN), result);
  return lanes.convert<arith::BitcastOp>(lanes.f32(), result);
}

/// `magnitude`, bits of an f32, rounded to the bits of the narrow float, as if
/// that had no largest number.
static Value round(LaneBuilder &lanes, Value magnitude,
                   const FloatFormat &format) {
  unsigned dropped = 23 - format.mantissa;
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
  Value isNormal = lanes.compare(Comparison::uge, magnitude, leastNormal);
  Value isLarge = lanes.apply<arith::AndIOp>(
      isNormal, lanes.compare(Comparison::uge, normal, format.getOverflow()));
  return lanes.select(isLarge, lanes.integer(format.getTooLarge()),
                      lanes.select(isNormal, normal, subnormal));
}

/// `value`, an f32, as the narrow type `to`.
static Value truncate(LaneBuilder &lanes, Value value, Type to,
                      const FloatFormat &format) {
  Value bits = lanes.convert<arith::BitcastOp>(lanes.i32(), value);
  Value magnitude = lanes.apply<arith::AndIOp>(bits, lanes.integer(0x7fffffff));
  Value result = round(lanes, magnitude, format);
  Value sign = lanes.apply<arith::AndIOp>(
      lanes.apply<arith::ShRUIOp>(bits, lanes.integer(32 - format.bits)),
      lanes.integer(format.getSign()));
  Value isNaN = lanes.compare(Comparison::ugt, magnitude, kInfinity);
  result = lanes.select(isNaN, lanes.integer(format.getNaN()), result);
  // Minus zero, and the sign of what stands for NaN, are no such.
  if (format.special == Special::MinusZero)
    sign = lanes.select(lanes.compare(Comparison::eq, result, 0), result, sign);
  if (format.special == Special::None)
    sign = lanes.select(isNaN, lanes.integer(0), sign);
  Value narrow = lanes.convert<arith::TruncIOp>(
      lanes.bits(format.bits), lanes.apply<arith::OrIOp>(result, sign));
  return lanes.convert<arith::BitcastOp>(to, narrow);
}

/// `value`, an f64, as an f32 whose last bit is set if it is not exact.
static Value roundToOdd(LaneBuilder &lanes, Value value) {
  Value nearest = lanes.convert<arith::TruncFOp>(lanes.f32(), value);
  Value back = lanes.convert<arith::ExtFOp>(value.getType(), nearest);
  Value bits = lanes.convert<arith::BitcastOp>(lanes.i32(), nearest);
  OpBuilder &builder = lanes.builder;
  Value isInexact = arith::CmpFOp::create(
      builder, lanes.loc, arith::CmpFPredicate::ONE, back, value);
  Value isEven = lanes.compare(
      Comparison::eq, lanes.apply<arith::AndIOp>(bits, lanes.integer(1)), 0);
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
    std::optional<FloatFormat> format = getFormat(op.getIn().getType());
    if ((!format && !isScale(op.getIn().getType())) ||
        (!isConvertible(op.getType()) && !getFormat(op.getType())))
      return failure();
    LaneBuilder lanes{rewriter, op.getLoc(), op.getType()};
    Value result = format ? extend(lanes, op.getIn(), *format)
                          : extendScale(lanes, op.getIn());
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
    std::optional<FloatFormat> format = getFormat(op.getType());
    bool isNearest =
        op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) ==
        arith::RoundingMode::to_nearest_even;
    Type from = op.getIn().getType();
    if (!format || !isNearest ||
        (!isConvertible(from) && !getFormat(from) && !isScale(from)))
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
    Type from = op.getIn().getType();
    if (!getFormat(from) && !isScale(from))
      return failure();
    LaneBuilder lanes{rewriter, op.getLoc(), from};
    rewriter.replaceOpWithNewOp<OpTy>(
        op, op.getType(),
        lanes.convert<arith::ExtFOp>(lanes.f32(), op.getIn()));
    return success();
  }
};

} // namespace

void populateNarrowFloatPatterns(RewritePatternSet &patterns) {
  arith::populateExpandScalingExtTruncPatterns(patterns);
  patterns.add<
      ExpandExtension, ExpandTruncation, ExpandFromInteger<arith::SIToFPOp>,
      ExpandFromInteger<arith::UIToFPOp>, ExpandToInteger<arith::FPToSIOp>,
      ExpandToInteger<arith::FPToUIOp>>(patterns.getContext());
}

/// True for types that there are conversions of.
static bool isConverted(Type type) {
  return !isa<FloatType>(type) || isScale(type) || getFormat(type) ||
         type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

std::string getConversionObstacle(Operation *op) {
  if (!isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp,
           arith::FPToSIOp, arith::FPToUIOp>(op))
    return "";
  Type from = getElementTypeOrSelf(op->getOperand(0));
  Type to = getElementTypeOrSelf(op->getResult(0));
  for (Type type : {from, to})
    if (!isConverted(type)) {
      std::string why = "converts '";
      llvm::raw_string_ostream(why)
          << type
          << "', of which GPUs have no numbers; use f16, bf16, f32 or f64";
      return why;
    }
  if (isScale(to))
    return "makes an f8E8M0FNU, a power of two without sign and zero, which no "
           "conversion rounds to; take the exponent of an f32 by arith.bitcast "
           "and arith.shrui";
  if (getFormat(to))
    return "rounds to a float of 8 bits or less other than to the nearest even "
           "one; leave out its rounding mode";
  return "";
}

} // namespace mlir::workgroup
