//===- ExpandMath.cpp - Mathematics without an LLVM form ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpandMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

/// `value`, or a vector of it.
static Value makeConstant(OpBuilder &builder, Location loc, Type type,
                          TypedAttr value) {
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, Attribute(value));
  return arith::ConstantOp::create(builder, loc, value);
}

static Value makeInteger(OpBuilder &builder, Location loc, Type type,
                         int64_t value) {
  Type element = getElementTypeOrSelf(type);
  return makeConstant(builder, loc, type,
                      builder.getIntegerAttr(element, value));
}

namespace {

/// Integer powers by squares: one for each bit of the exponent. With a negative
/// one it is the integer part of the reciprocal.
struct ExpandIntegerPower final : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    auto element = dyn_cast<IntegerType>(getElementTypeOrSelf(op.getType()));
    if (!element || element.getWidth() < 8)
      return failure();
    Location loc = op.getLoc();
    auto integer = [&](int64_t value) {
      return makeInteger(rewriter, loc, op.getType(), value);
    };
    auto compare = [&](arith::CmpIPredicate how, Value lhs, int64_t rhs) {
      return arith::CmpIOp::create(rewriter, loc, how, lhs, integer(rhs));
    };
    auto select = [&](Value condition, Value yes, Value no) -> Value {
      return arith::SelectOp::create(rewriter, loc, condition, yes, no);
    };
    Value base = op.getLhs(), exponent = op.getRhs();
    Value power = raise(rewriter, loc, base, exponent, element.getWidth());
    // Only 1 and -1 have a reciprocal that is not less than 1.
    Value isUnit = arith::OrIOp::create(
        rewriter, loc, compare(arith::CmpIPredicate::eq, base, 1),
        compare(arith::CmpIPredicate::eq, base, -1));
    Value isNegative = compare(arith::CmpIPredicate::slt, exponent, 0);
    Value isOdd =
        compare(arith::CmpIPredicate::ne,
                arith::AndIOp::create(rewriter, loc, exponent, integer(1)), 0);
    Value ofUnit = select(isOdd, base, integer(1));
    rewriter.replaceOp(
        op, select(isNegative, select(isUnit, ofUnit, integer(0)), power));
    return success();
  }

private:
  static Value raise(OpBuilder &builder, Location loc, Value base,
                     Value exponent, unsigned width) {
    Value one = makeInteger(builder, loc, base.getType(), 1);
    auto index = [&](int64_t value) {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    auto loop = scf::ForOp::create(
        builder, loc, index(0), index(width), index(1),
        ValueRange{one, base, exponent},
        [&](OpBuilder &body, Location loc, Value, ValueRange values) {
          Value power = values[0], square = values[1], left = values[2];
          Value zero = makeInteger(body, loc, base.getType(), 0);
          Value isSet = arith::CmpIOp::create(
              body, loc, arith::CmpIPredicate::ne,
              arith::AndIOp::create(body, loc, left, one), zero);
          Value product = arith::MulIOp::create(body, loc, power, square);
          scf::YieldOp::create(
              body, loc,
              {arith::SelectOp::create(body, loc, isSet, product, power),
               arith::MulIOp::create(body, loc, square, square),
               arith::ShRUIOp::create(body, loc, left, one)});
        });
    return loop.getResult(0);
  }
};

/// Finite numbers that are no smaller than the exponent can tell.
struct ExpandIsNormal final : OpRewritePattern<math::IsNormalOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IsNormalOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getOperand().getType();
    auto element = cast<FloatType>(getElementTypeOrSelf(type));
    const llvm::fltSemantics &semantics = element.getFloatSemantics();
    Value size = math::AbsFOp::create(rewriter, loc, op.getOperand());
    auto compare = [&](arith::CmpFPredicate how, const APFloat &value) {
      return arith::CmpFOp::create(
          rewriter, loc, how, size,
          makeConstant(rewriter, loc, type, FloatAttr::get(element, value)));
    };
    rewriter.replaceOpWithNewOp<arith::AndIOp>(
        op,
        compare(arith::CmpFPredicate::OGE,
                APFloat::getSmallestNormalized(semantics)),
        compare(arith::CmpFPredicate::OLT, APFloat::getInf(semantics)));
    return success();
  }
};

/// Fused multiply-adds of scalars, which GPUs have: upstream would call
/// libdevice.
struct ExpandMultiplyAdd final : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!type.isF16() && !type.isBF16() && !type.isF32() && !type.isF64())
      return failure();
    rewriter.replaceOpWithNewOp<LLVM::FMAOp>(op, op.getA(), op.getB(),
                                             op.getC());
    return success();
  }
};

/// Exponentials that may be approximated: one instruction, with a relative
/// error of 2^-22 and that of the exponent. Denormal results are zero.
struct ExpandExponential final : RewritePattern {
  ExpandExponential(StringRef name, MLIRContext *context, double scale)
      : RewritePattern(name, /*benefit=*/1, context), scale(scale) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr();
    Type type = op->getResult(0).getType();
    bool mayApproximate =
        flags &&
        arith::bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::afn);
    if (!mayApproximate || !getElementTypeOrSelf(type).isF32())
      return failure();
    Location loc = op->getLoc();
    Value exponent = op->getOperand(0);
    if (scale != 1)
      exponent = arith::MulFOp::create(
          rewriter, loc, exponent,
          makeConstant(rewriter, loc, type, rewriter.getF32FloatAttr(scale)));
    auto vector = dyn_cast<VectorType>(type);
    if (!vector) {
      rewriter.replaceOp(op, raise(rewriter, loc, exponent));
      return success();
    }
    if (vector.getRank() != 1 || vector.isScalable())
      return failure();
    SmallVector<Value> elements;
    for (int64_t i = 0; i < vector.getNumElements(); ++i)
      elements.push_back(
          raise(rewriter, loc,
                vector::ExtractOp::create(rewriter, loc, exponent, i)));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, vector, elements);
    return success();
  }

private:
  static Value raise(OpBuilder &builder, Location loc, Value exponent) {
    return LLVM::CallIntrinsicOp::create(
               builder, loc, exponent.getType(),
               builder.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"), exponent)
        .getResult(0);
  }

  double scale;
};

/// Sines and cosines of vectors, by element: neither LLVM nor libdevice has a
/// function of a vector that results in both.
struct ExpandVectorSincos final : OpRewritePattern<math::SincosOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::SincosOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getOperand().getType());
    if (!type || type.isScalable())
      return failure();
    Location loc = op.getLoc();
    auto elements =
        vector::ToElementsOp::create(rewriter, loc, op.getOperand());
    SmallVector<Value> sines, cosines;
    for (Value element : elements.getElements()) {
      auto both =
          math::SincosOp::create(rewriter, loc, element, op.getFastmath());
      sines.push_back(both.getSin());
      cosines.push_back(both.getCos());
    }
    rewriter.replaceOp(
        op, {vector::FromElementsOp::create(rewriter, loc, type, sines),
             vector::FromElementsOp::create(rewriter, loc, type, cosines)});
    return success();
  }
};

} // namespace

void populateExpandMathPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandIntegerPower, ExpandIsNormal, ExpandMultiplyAdd,
               ExpandVectorSincos>(context);
  patterns.add<ExpandExponential>(math::ExpOp::getOperationName(), context,
                                  llvm::numbers::log2e);
  patterns.add<ExpandExponential>(math::Exp2Op::getOperationName(), context,
                                  /*scale=*/1.0);
}

} // namespace mlir::workgroup
