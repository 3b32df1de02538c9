//===- ScaledFactors.cpp - Scales of factors, behind the sums -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A factor is followed from the contraction to where its 16 bits are extended,
// through reshapes and what yields elements as they are. Of what is on the way,
// the contraction gets copies that do not scale; others go on reading what
// there was.
//
//===----------------------------------------------------------------------===//

#include "ScaledFactors.h"
#include "LinalgClasses.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace mlir::workgroup {

static bool isNarrow(Type type) { return type.isF16() || type.isBF16(); }

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The number that `value`, of a float type, is by constants and conversions.
static std::optional<APFloat> getNumber(Value value) {
  FloatAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.getValue();
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::TruncFOp, arith::ExtFOp>(op))
    return std::nullopt;
  auto rounded = dyn_cast<arith::TruncFOp>(op);
  std::optional<APFloat> number = getNumber(op->getOperand(0));
  if (!number || (rounded && rounded.getRoundingmode()))
    return std::nullopt;
  bool isInexact;
  number->convert(cast<FloatType>(value.getType()).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &isInexact);
  return number;
}

/// True if no product of f16, or sum of as many as there may be, leaves the
/// range of normal numbers in f32, scaled twice by `number` or before that.
static bool isModest(const APFloat &number) {
  constexpr double kLeast = 0x1p-32, kMost = 0x1p+32;
  double size = std::abs(number.convertToDouble());
  return size >= kLeast && size <= kMost;
}

namespace {

/// An operation that yields elements of its one input, extended or as they are,
/// and perhaps multiplied by a constant.
struct ElementBody {
  arith::MulFOp product; // null if there is none
  double scale = 1;
};

} // namespace

/// What `op` makes of elements of an input; nothing if that is more.
static std::optional<ElementBody> matchBody(linalg::GenericOp op) {
  if (!isTensorOp(op) || op.getNumReductionLoops() != 0 ||
      op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1)
    return std::nullopt;
  ElementBody body;
  Value value = op.getBody()->getTerminator()->getOperand(0);
  if (auto product = value.getDefiningOp<arith::MulFOp>()) {
    unsigned place = getNumber(product.getLhs()) ? 0 : 1;
    std::optional<APFloat> number = getNumber(product->getOperand(place));
    if (!number || !product.getType().isF32() || !isModest(*number))
      return std::nullopt;
    body.product = product;
    body.scale = number->convertToDouble();
    value = product->getOperand(1 - place);
  }
  while (auto wider = value.getDefiningOp<arith::ExtFOp>())
    value = wider.getIn();
  return value == op.getBody()->getArgument(0) ? std::optional(body)
                                               : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

namespace {

/// A factor of 16 bits.
struct NarrowFactor {
  Type type;
  /// What scales it, if anything does, and by what.
  linalg::GenericOp scaling;
  ElementBody body;
  /// From the contraction up to that, reshapes and what yields elements.
  SmallVector<Operation *> path;
};

} // namespace

/// The factor that `tensor` has the elements of, extended to f32; nothing if
/// there is more to them.
static std::optional<NarrowFactor> findFactor(Value tensor) {
  NarrowFactor factor;
  for (;;) {
    factor.type = getElementTypeOrSelf(tensor);
    if (isNarrow(factor.type))
      return factor;
    Operation *op = tensor.getDefiningOp();
    if (!op || !factor.type.isF32())
      return std::nullopt;
    tensor = op->getNumOperands() ? op->getOperand(0) : Value();
    auto generic = dyn_cast<linalg::GenericOp>(op);
    std::optional<ElementBody> body =
        generic ? matchBody(generic) : std::nullopt;
    bool isReshape =
        isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op);
    if (!body && !isReshape)
      return std::nullopt;
    if (body && body->product) {
      if (factor.scaling)
        return std::nullopt;
      factor.scaling = generic;
      factor.body = *body;
    } else if (!factor.scaling) {
      factor.path.push_back(op);
    }
  }
}

/// `op`, which scales its elements, without that.
static Value makeUnscaled(RewriterBase &rewriter, const NarrowFactor &factor) {
  linalg::GenericOp op = factor.scaling;
  auto copy = cast<linalg::GenericOp>(rewriter.clone(*op));
  auto place = std::distance(op.getBody()->begin(),
                             Block::iterator(factor.body.product));
  auto product =
      cast<arith::MulFOp>(*std::next(copy.getBody()->begin(), place));
  bool isFirst = getNumber(product.getLhs()).has_value();
  rewriter.replaceOp(product, isFirst ? product.getRhs() : product.getLhs());
  return copy.getResult(0);
}

/// What the contraction reads of `factor` in place of `tensor`.
static Value makeTensor(RewriterBase &rewriter, const NarrowFactor &factor,
                        Value tensor) {
  if (!factor.scaling)
    return tensor;
  linalg::GenericOp scaling = factor.scaling;
  IRMapping mapping;
  mapping.map(scaling.getResult(0), makeUnscaled(rewriter, factor));
  for (Operation *op : llvm::reverse(factor.path))
    rewriter.clone(*op, mapping);
  return mapping.lookup(tensor);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// True if `op` adds products of its two inputs up in f32, from zero.
static bool isSumOfProducts(linalg::GenericOp op) {
  TypedAttr start;
  if (!isTensorOp(op) || classify(op) != LinalgClass::Contraction ||
      op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !(start = getStart(op)) || !matchPattern(start, m_PosZeroFloat()))
    return false;
  Block *body = op.getBody();
  BlockArgument total = body->getArguments().back();
  auto sum =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || !sum.getType().isF32())
    return false;
  unsigned place = sum.getLhs() == total;
  auto product = sum->getOperand(place).getDefiningOp<arith::MulFOp>();
  if (!product || sum->getOperand(1 - place) != total)
    return false;
  auto getInput = [&](Value value) {
    while (auto wider = value.getDefiningOp<arith::ExtFOp>())
      value = wider.getIn();
    return dyn_cast<BlockArgument>(value);
  };
  BlockArgument lhs = getInput(product.getLhs());
  BlockArgument rhs = getInput(product.getRhs());
  return lhs && rhs && lhs != rhs && lhs != total && rhs != total;
}

/// `sums` times `scale`.
static Value multiply(RewriterBase &rewriter, Location loc, Value sums,
                      ArrayRef<OpFoldResult> sizes, double scale) {
  Type type = rewriter.getF32Type();
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, type);
  AffineMap map = rewriter.getMultiDimIdentityMap(sizes.size());
  SmallVector<utils::IteratorType> kinds(sizes.size(),
                                         utils::IteratorType::parallel);
  Value constant = arith::ConstantOp::create(
      rewriter, loc, rewriter.getF32FloatAttr(static_cast<float>(scale)));
  return linalg::GenericOp::create(
             rewriter, loc, empty.getType(), sums, empty, ArrayRef{map, map},
             kinds,
             [&](OpBuilder &builder, Location at, ValueRange values) {
               Value product =
                   arith::MulFOp::create(builder, at, values[0], constant);
               linalg::YieldOp::create(builder, at, product);
             })
      .getResult(0);
}

bool scaleSums(RewriterBase &rewriter, linalg::GenericOp op, bool narrow) {
  if (!isSumOfProducts(op))
    return false;
  SmallVector<NarrowFactor, 2> factors;
  double scale = 1;
  for (Value input : op.getInputs()) {
    std::optional<NarrowFactor> factor = findFactor(input);
    if (!factor)
      return false;
    scale *= factor->body.scale;
    factors.push_back(std::move(*factor));
  }
  // Minus zero times a negative number is no sum from zero.
  bool isScaled = factors[0].scaling || factors[1].scaling;
  if (!isScaled || scale < 0)
    return false;
  bool isHalf = factors[0].type.isF16() && factors[1].type.isF16();
  if (!isHalf && !narrow) {
    recordRemark(RemarkId::NormalizeLinalg_ScaledFactors, op)
        << "tensor cores could multiply its factors of 16 bits if constants, "
           "by which these are scaled in f32, scaled the sums: with the option "
           "'narrow' (--numerics narrow) they do";
    return false;
  }
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto sums = cast<linalg::GenericOp>(rewriter.clone(*op));
  for (auto [number, factor] : llvm::enumerate(factors)) {
    rewriter.setInsertionPoint(sums);
    Value tensor = makeTensor(rewriter, factor, op.getInputs()[number]);
    rewriter.modifyOpInPlace(sums, [&] { sums->setOperand(number, tensor); });
  }
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getDpsInits()[0]);
  Value scaled = multiply(rewriter, loc, sums.getResult(0), sizes, scale);
  recordRemark(RemarkId::NormalizeLinalg_ScaledSums, sums)
      << "sums are multiplied by what scales their factors"
      << remark::metric("Scale", scale);
  rewriter.replaceOp(op, scaled);
  return true;
}

} // namespace mlir::workgroup
