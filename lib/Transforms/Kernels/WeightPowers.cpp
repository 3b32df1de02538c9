//===- WeightPowers.cpp - Weights by one multiply-add ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The product of a factor and the largest score of a row is rounded, by 8 at
// most where it is less than 2^28: all weights of the row are multiplied by a
// power of two from 2^-8 to 2^8, and so is their sum. Beyond, floats are so far
// apart that the next score has a weight of 2^-16 at most. A power of two for a
// factor, by which nothing is rounded, does as well there; none greater than
// one, as the largest float is to have no infinite product.
//
//===----------------------------------------------------------------------===//

#include "WeightPowers.h"
#include "StreamEnd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace mlir::workgroup {

/// Of factors, above which they are taken for none.
static constexpr float kMaxFactor = 2;
/// The product with a reference from which on the factor is that of far ones.
static constexpr float kFar = 0x1p+28f;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

static std::optional<APFloat> getConstant(Value value) {
  FloatAttr constant;
  if (!value.getType().isF32() || !matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  return constant.getValue();
}

/// The constant that `op` multiplies `operand` by; nothing if it does not.
static std::optional<float> getMultiplier(Operation *op, unsigned &operand) {
  if (!isa_and_nonnull<arith::MulFOp>(op))
    return std::nullopt;
  for (unsigned i : {0, 1})
    if (std::optional<APFloat> constant = getConstant(op->getOperand(i))) {
      operand = 1 - i;
      return constant->convertToFloat();
    }
  return std::nullopt;
}

/// The factor of the difference in the exponents of weights, as powers of two;
/// nothing if there are conversions, or if it is not constant.
static std::optional<double> getExponentFactor(const WeightBody &body) {
  if (!body.casts.empty() || body.chain.size() < 2)
    return std::nullopt;
  for (Operation *op : body.chain)
    if (!op->getResult(0).getType().isF32())
      return std::nullopt;
  double factor =
      isa<math::ExpOp>(body.chain.back()) ? llvm::numbers::log2e : 1;
  for (Operation *op : ArrayRef(body.chain).drop_front().drop_back()) {
    unsigned operand = 0;
    std::optional<float> multiplier = getMultiplier(op, operand);
    if (!multiplier)
      return std::nullopt;
    factor *= *multiplier;
  }
  return factor;
}

//===----------------------------------------------------------------------===//
// Scales of scores
//===----------------------------------------------------------------------===//

namespace {

/// A factor of all scores that takes none to infinity.
class ScoreScale {
public:
  explicit ScoreScale(const ChainStream &stream) : stream(stream) {}

  /// The factor; nothing if there is none that nobody else needs.
  std::optional<float> find();
  /// Has scores be without it.
  void remove(RewriterBase &rewriter);

private:
  bool findProduct();
  bool isIndifferent(OpOperand &use) const;

  const ChainStream &stream;
  linalg::LinalgOp scores;
  /// Selections between the product and what is the same with any factor, from
  /// what the body yields on.
  SmallVector<OpOperand *> path;
  Operation *product = nullptr;
  unsigned operand = 0;
};

} // namespace

/// True if `value` times any positive factor is itself.
static bool isFixed(Value value) {
  std::optional<APFloat> constant = getConstant(value);
  return constant && (constant->isInfinity() || constant->isPosZero());
}

/// Finds the product from which, or in place of which, the scores come.
bool ScoreScale::findProduct() {
  OpOperand *from = &scores.getBlock()->getTerminator()->getOpOperand(0);
  for (;;) {
    path.push_back(from);
    Operation *made = from->get().getDefiningOp();
    if (!made || made->getBlock() != scores.getBlock() ||
        !made->getResult(0).getType().isF32())
      return false;
    if (isa<arith::MulFOp>(made)) {
      product = made;
      return true;
    }
    if (!isa<arith::SelectOp>(made) || !made->hasOneUse())
      return false;
    if (isFixed(made->getOperand(1)))
      from = &made->getOpOperand(2);
    else if (isFixed(made->getOperand(2)))
      from = &made->getOpOperand(1);
    else
      return false;
  }
}

/// True if what reads scores by `use` does the same if they are scaled.
bool ScoreScale::isIndifferent(OpOperand &use) const {
  auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!user || !stream.find(user) || !user.isDpsInput(&use))
    return false;
  BlockArgument argument = user.getMatchingBlockArgument(&use);
  auto isKnown = [&](OpOperand &inner) {
    Operation *op = inner.getOwner();
    if (user == stream.largest)
      return isa<arith::MaximumFOp, arith::MaxNumFOp>(op);
    if (user == stream.weights)
      return op == stream.body.chain.front();
    // As where all scores are minus infinity.
    return isa<arith::CmpFOp>(op) &&
           isFixed(op->getOperand(1 - inner.getOperandNumber()));
  };
  return llvm::all_of(argument.getUses(), isKnown);
}

/// True if the largest of scores starts from what no score is below.
static bool startsFromLeast(linalg::LinalgOp largest) {
  auto start = dyn_cast_or_null<FloatAttr>(getStart(largest));
  return start &&
         (start.getValue().isNaN() ||
          (start.getValue().isNegative() &&
           (start.getValue().isInfinity() || start.getValue().isLargest())));
}

linalg::LinalgOp WeightPowers::findScores(const ChainStream &stream) {
  if (!stream.weights || stream.needsLargest)
    return {};
  auto difference = cast<arith::SubFOp>(stream.body.chain.front());
  auto score = dyn_cast<BlockArgument>(difference.getLhs());
  linalg::LinalgOp weights = stream.weights, largest = stream.largest;
  if (!score || score.getOwner() != weights.getBlock() ||
      !score.getType().isF32() || !startsFromLeast(largest))
    return {};
  Value tensor = weights.getMatchingOpOperand(score)->get();
  const ChainStream::Link *link = stream.find(tensor.getDefiningOp());
  Operation *maximum =
      largest.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!link || !isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(maximum))
    return {};
  linalg::LinalgOp scores = link->op;
  auto isRead = [&](OpOperand *input) {
    return input->get() == tensor &&
           llvm::is_contained(maximum->getOperands(),
                              largest.getMatchingBlockArgument(input));
  };
  return scores.getNumReductionLoops() == 0 &&
                 llvm::any_of(largest.getDpsInputOperands(), isRead)
             ? scores
             : linalg::LinalgOp();
}

std::optional<float> ScoreScale::find() {
  scores = WeightPowers::findScores(stream);
  if (!scores || stream.body.reference->get().getDefiningOp() != stream.largest)
    return std::nullopt;
  Value tensor = scores->getResult(0);
  if (!findProduct() || !llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
        return isIndifferent(use);
      }))
    return std::nullopt;
  std::optional<float> scale = getMultiplier(product, operand);
  if (!scale || !(*scale > 0) || *scale > 1)
    return std::nullopt;
  return scale;
}

void ScoreScale::remove(RewriterBase &rewriter) {
  OpOperand *last = path.back();
  rewriter.modifyOpInPlace(last->getOwner(),
                           [&] { last->set(product->getOperand(operand)); });
  if (product->use_empty())
    rewriter.eraseOp(product);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

std::optional<WeightPowers> WeightPowers::find(RewriterBase &rewriter,
                                               const ChainStream &stream) {
  if (!stream.weights)
    return std::nullopt;
  std::optional<double> factor = getExponentFactor(stream.body);
  if (!factor || !(*factor > 0) || *factor > kMaxFactor)
    return std::nullopt;
  ScoreScale scale(stream);
  if (std::optional<float> ofScores = scale.find()) {
    *factor *= *ofScores;
    scale.remove(rewriter);
  }
  return WeightPowers(stream, *factor);
}

static Value makeNumber(OpBuilder &builder, Location loc, float value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(value));
}

float WeightPowers::getFarFactor() const {
  return std::min(1.0f, std::exp2(std::ceil(std::log2(factor))));
}

Value WeightPowers::makeFactor(OpBuilder &builder, Location loc,
                               Value now) const {
  Value constant = makeNumber(builder, loc, factor);
  if (!hasFactors())
    return constant;
  Value distance = math::AbsFOp::create(builder, loc, now);
  Value isNear =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, distance,
                            makeNumber(builder, loc, kFar / factor));
  return arith::SelectOp::create(builder, loc, isNear, constant,
                                 makeNumber(builder, loc, getFarFactor()));
}

Value WeightPowers::makeOffset(OpBuilder &builder, Location loc,
                               Value reference, Value factor) const {
  Value product = arith::MulFOp::create(builder, loc, reference, factor);
  return arith::NegFOp::create(builder, loc, product);
}

Value WeightPowers::makePower(OpBuilder &builder, Location loc,
                              Value exponent) const {
  return math::Exp2Op::create(builder, loc, exponent,
                              arith::FastMathFlags::afn);
}

/// The operation of `copy`, a block that begins as that of `op` does, which is
/// in the place of `op`.
static Operation *findCopy(Operation *op, Block *copy) {
  auto place = std::distance(op->getBlock()->begin(), op->getIterator());
  return &*std::next(copy->begin(), place);
}

void WeightPowers::rewrite(RewriterBase &rewriter, linalg::GenericOp tiled,
                           Value offsets, Value factors) const {
  Location loc = tiled.getLoc();
  Block *body = tiled.getBody();
  unsigned place = stream->body.reference->getOperandNumber();
  unsigned number = tiled.getNumDpsInputs();
  BlockArgument offset = body->getArgument(place), ofRow;
  rewriter.modifyOpInPlace(tiled, [&] {
    tiled->setOperand(place, offsets);
    if (!factors)
      return;
    SmallVector<AffineMap> maps = tiled.getIndexingMapsArray();
    maps.insert(maps.begin() + number, maps[place]);
    tiled.getInputsMutable().append(factors);
    tiled.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    ofRow = body->insertArgument(number, rewriter.getF32Type(), loc);
  });
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Operation *> chain;
  for (Operation *op : stream->body.chain)
    chain.push_back(findCopy(op, body));
  rewriter.setInsertionPoint(chain.back());
  Value by = ofRow ? Value(ofRow) : makeNumber(rewriter, loc, factor);
  Value exponent = math::FmaOp::create(
      rewriter, loc, chain.front()->getOperand(0), by, offset);
  rewriter.replaceOp(chain.pop_back_val(), makePower(rewriter, loc, exponent));
  for (Operation *op : llvm::reverse(chain))
    rewriter.eraseOp(op);
}

//===----------------------------------------------------------------------===//
// Weights of references
//===----------------------------------------------------------------------===//

Value makePowerOf(OpBuilder &builder, Location loc, const WeightPowers &powers,
                  Value before, Value now, Value offset) {
  Value ofBefore = powers.makeOffset(builder, loc, before,
                                     powers.makeFactor(builder, loc, now));
  Value exponent = arith::SubFOp::create(builder, loc, offset, ofBefore);
  return powers.makePower(builder, loc, exponent);
}

Value makeWeightOf(OpBuilder &builder, Location loc, const ChainStream &stream,
                   const std::optional<WeightPowers> &powers, Value before,
                   Value now) {
  if (powers) {
    Value factor = powers->makeFactor(builder, loc, now);
    Value offset = powers->makeOffset(builder, loc, now, factor);
    return makePowerOf(builder, loc, *powers, before, now, offset);
  }
  const WeightBody &body = stream.body;
  linalg::LinalgOp weights = stream.weights;
  BlockArgument argument = weights.getMatchingBlockArgument(body.reference);
  SmallVector<Value> sides;
  for (Value side : {before, now}) {
    IRMapping ofSide;
    ofSide.map(argument, side);
    for (Operation *cast : body.casts)
      builder.clone(*cast, ofSide);
    sides.push_back(ofSide.lookup(body.chain.front()->getOperand(1)));
  }
  IRMapping mapping;
  Operation *difference = body.chain.front();
  mapping.map(difference->getOperand(0), sides[0]);
  mapping.map(difference->getOperand(1), sides[1]);
  for (Operation *op : body.chain) {
    for (Value operand : op->getOperands())
      cloneNeeded(builder, operand, weights.getBlock(), mapping);
    builder.clone(*op, mapping);
  }
  return mapping.lookup(body.chain.back()->getResult(0));
}

} // namespace mlir::workgroup
