//===- MaskedColumns.cpp - Columns that a mask hides ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskedColumns.h"
#include "Combiners.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::workgroup {

using Link = ChainStream::Link;

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

static bool isLeast(Value value) {
  return matchPattern(value, m_NegInfFloat());
}

static bool isPositive(Value value) {
  APFloat number(0.0);
  return matchPattern(value, m_ConstantFloat(&number)) &&
         number.isFiniteNonZero() && !number.isNegative();
}

/// True if the exponential of minus infinity less the reference is zero.
static bool keepsSign(const WeightBody &body) {
  return llvm::all_of(body.chain, [](Operation *op) {
    if (isa<arith::MulFOp>(op))
      return isPositive(op->getOperand(0)) || isPositive(op->getOperand(1));
    return !isa<arith::DivFOp>(op) || isPositive(op->getOperand(1));
  });
}

/// True if `value` tells, by `isEqual`, whether `score` is minus infinity.
static bool isComparison(Value value, BlockArgument score, bool isEqual) {
  auto compared = value.getDefiningOp<arith::CmpFOp>();
  if (!compared || !isLeast(compared.getRhs()))
    return false;
  Value number = compared.getLhs();
  if (auto wider = number.getDefiningOp<arith::ExtFOp>())
    number = wider.getIn();
  if (number != score)
    return false;
  using Predicate = arith::CmpFPredicate;
  Predicate predicate = compared.getPredicate();
  return isEqual ? predicate == Predicate::OEQ || predicate == Predicate::UEQ
                 : predicate == Predicate::ONE || predicate == Predicate::UNE;
}

/// True if `fold`, along the columns, is what it was without those of `scores`
/// that are minus infinity: the largest of them, or whether all are hidden.
static bool ignoresLeast(linalg::LinalgOp fold, Value scores) {
  Operation *combiner = getCombiner(fold);
  if (!combiner || fold.getNumDpsInputs() != 1 ||
      fold.getDpsInputOperand(0)->get() != scores)
    return false;
  BlockArgument score =
      fold.getMatchingBlockArgument(fold.getDpsInputOperand(0));
  return llvm::any_of(combiner->getOperands(), [&](Value term) {
    if (isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner))
      return term == score;
    return isa<arith::AndIOp>(combiner)
               ? isComparison(term, score, /*isEqual=*/true)
               : isa<arith::OrIOp>(combiner) &&
                     isComparison(term, score, /*isEqual=*/false);
  });
}

/// What makes the scores, if minus infinity in one of them has no other effect
/// than a weight of zero; null if there is none, or it has.
static const Link *findScores(const ChainStream &stream) {
  if (!stream.weights || !keepsSign(stream.body))
    return nullptr;
  linalg::LinalgOp weights = stream.weights;
  auto difference = cast<arith::SubFOp>(stream.body.chain.front());
  auto score = dyn_cast<BlockArgument>(difference.getLhs());
  if (!score || score.getOwner() != weights.getBlock())
    return nullptr;
  Value tensor = weights.getMatchingOpOperand(score)->get();
  const Link *link = stream.find(tensor.getDefiningOp());
  if (!link || linalg::LinalgOp(link->op).getNumReductionLoops() != 0)
    return nullptr;
  bool isAlone = llvm::all_of(stream.links, [&](const Link &fold) {
    return fold.role != StreamRole::Fold || ignoresLeast(fold.op, tensor);
  });
  return isAlone ? link : nullptr;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {

/// A sum of loops, then symbols, times their factors, and a constant.
struct LinearForm {
  SmallVector<int64_t> factors;
  int64_t constant = 0;

  int64_t getFactor(unsigned number) const {
    return number < factors.size() ? factors[number] : 0;
  }
  /// Adds `other` times `times`. False if numbers get so large that sums of
  /// extents may wrap.
  bool add(const LinearForm &other, int64_t times);
};

} // namespace

bool LinearForm::add(const LinearForm &other, int64_t times) {
  constexpr int64_t kMostFactor = int64_t(1) << 20;
  constexpr int64_t kMostConstant = int64_t(1) << 40;
  if (std::abs(times) > kMostFactor)
    return false;
  factors.resize(std::max(factors.size(), other.factors.size()));
  bool isModest = true;
  for (auto [number, factor] : llvm::enumerate(other.factors)) {
    factors[number] += factor * times;
    isModest &= std::abs(factors[number]) <= kMostFactor;
  }
  int64_t product;
  return !llvm::MulOverflow(other.constant, times, product) &&
         !llvm::AddOverflow(constant, product, constant) &&
         std::abs(constant) <= kMostConstant && isModest;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

namespace {

/// Reads what the body of `scores` says of the columns that are not hidden.
class MaskReader {
public:
  MaskReader(linalg::LinalgOp scores)
      : scores(scores), numLoops(scores.getNumLoops()) {}

  /// Adds the conditions without which `value` is minus infinity.
  void addScore(Value value);

  /// Each is at most 0 where a score is not hidden.
  SmallVector<LinearForm> conditions;
  SmallVector<Value> symbols;

private:
  void addCondition(Value condition, bool isMet);
  void addComparison(arith::CmpIOp compared, bool isMet);
  std::optional<LinearForm> read(Value value);
  std::optional<LinearForm> compute(Value value);
  std::optional<LinearForm> computeApply(affine::AffineApplyOp apply);
  std::optional<LinearForm> computeSymbol(Value value);
  bool isOutside(Value value) const {
    return !scores->getRegion(0).isAncestor(value.getParentRegion());
  }

  linalg::LinalgOp scores;
  unsigned numLoops;
  /// What has been read.
  DenseMap<Value, std::optional<LinearForm>> forms;
  DenseSet<Value> seenScores;
  DenseSet<std::pair<Value, unsigned>> seenConditions;
};

} // namespace

void MaskReader::addScore(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isOutside(value) || !seenScores.insert(value).second)
    return;
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return addScore(op->getOperand(0));
  // The other one is finite.
  if (isa<arith::AddFOp>(op)) {
    for (Value operand : op->getOperands())
      addScore(operand);
    return;
  }
  if (isa<arith::MulFOp>(op)) {
    for (unsigned other : {0, 1})
      if (isPositive(op->getOperand(other)))
        return addScore(op->getOperand(1 - other));
    return;
  }
  if (isa<arith::DivFOp>(op) && isPositive(op->getOperand(1)))
    return addScore(op->getOperand(0));
  auto choice = dyn_cast<arith::SelectOp>(op);
  if (!choice)
    return;
  if (isLeast(choice.getTrueValue()))
    addCondition(choice.getCondition(), /*isMet=*/false);
  if (isLeast(choice.getFalseValue()))
    addCondition(choice.getCondition(), /*isMet=*/true);
}

/// Adds what holds where `condition` is `isMet`.
void MaskReader::addCondition(Value condition, bool isMet) {
  Operation *op = condition.getDefiningOp();
  if (!op || isOutside(condition) ||
      !seenConditions.insert({condition, isMet}).second)
    return;
  if (isMet ? isa<arith::AndIOp>(op) : isa<arith::OrIOp>(op)) {
    for (Value operand : op->getOperands())
      addCondition(operand, isMet);
    return;
  }
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One()))
    return addCondition(op->getOperand(0), !isMet);
  if (auto compared = dyn_cast<arith::CmpIOp>(op))
    addComparison(compared, isMet);
}

void MaskReader::addComparison(arith::CmpIOp compared, bool isMet) {
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compared.getPredicate();
  if (!isMet)
    predicate = arith::invertPredicate(predicate);
  bool isLess = predicate == Predicate::slt || predicate == Predicate::sle;
  bool isMore = predicate == Predicate::sgt || predicate == Predicate::sge;
  if (!isLess && !isMore)
    return;
  std::optional<LinearForm> left = read(compared.getLhs());
  std::optional<LinearForm> right = read(compared.getRhs());
  if (!left || !right)
    return;
  LinearForm condition;
  condition.constant =
      predicate == Predicate::slt || predicate == Predicate::sgt;
  if (condition.add(*left, isLess ? 1 : -1) &&
      condition.add(*right, isLess ? -1 : 1))
    conditions.push_back(std::move(condition));
}

constexpr int64_t kMostExtent = int64_t(1) << 31;

/// True if `map` multiplies by small numbers and adds no more than extents.
static bool isModest(AffineMap map) {
  constexpr int64_t kMostFactor = int64_t(1) << 12;
  bool isModest = true;
  map.walkExprs([&](AffineExpr expr) {
    auto product = dyn_cast<AffineBinaryOpExpr>(expr);
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      isModest &= std::abs(constant.getValue()) <= kMostExtent;
    else if (product && product.getKind() == AffineExprKind::Mul)
      if (auto factor = dyn_cast<AffineConstantExpr>(product.getRHS()))
        isModest &= std::abs(factor.getValue()) <= kMostFactor;
  });
  return isModest;
}

/// True if `value`, of type index, is so small that sums of a few such values
/// do not wrap: an extent, what loops count up to one, or, in `depth` steps,
/// what tiling computes of those.
static bool isFarFromWrapping(Value value, unsigned depth = 2) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return std::abs(*constant) <= kMostExtent;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    std::optional<SmallVector<Value>> counters;
    if (loop)
      counters = loop.getLoopInductionVars();
    return counters && llvm::is_contained(*counters, value);
  }
  Operation *op = value.getDefiningOp();
  if (isa<tensor::DimOp, memref::DimOp>(op))
    return true;
  bool isSum = isa<arith::AddIOp, arith::SubIOp>(op);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    isSum = isModest(apply.getAffineMap());
  else if (auto least = dyn_cast<affine::AffineMinOp>(op))
    isSum = isModest(least.getAffineMap());
  else if (auto largest = dyn_cast<affine::AffineMaxOp>(op))
    isSum = isModest(largest.getAffineMap());
  return isSum && depth > 0 && llvm::all_of(op->getOperands(), [&](Value in) {
           return isFarFromWrapping(in, depth - 1);
         });
}

std::optional<LinearForm> MaskReader::computeSymbol(Value value) {
  if (!value.getType().isIndex() || !isFarFromWrapping(value))
    return std::nullopt;
  unsigned number = llvm::find(symbols, value) - symbols.begin();
  if (number == symbols.size())
    symbols.push_back(value);
  LinearForm form;
  form.factors.resize(numLoops + number + 1);
  form.factors.back() = 1;
  return form;
}

std::optional<LinearForm>
MaskReader::computeApply(affine::AffineApplyOp apply) {
  AffineMap map = apply.getAffineMap();
  SmallVector<int64_t> flat;
  if (failed(getFlattenedAffineExpr(map.getResult(0), map.getNumDims(),
                                    map.getNumSymbols(), &flat)) ||
      flat.size() != map.getNumInputs() + 1)
    return std::nullopt;
  LinearForm form, one;
  one.constant = 1;
  bool isModest = form.add(one, flat.back());
  for (auto [operand, factor] : llvm::zip_first(apply.getOperands(), flat)) {
    std::optional<LinearForm> read = this->read(operand);
    isModest = isModest && read && form.add(*read, factor);
  }
  return isModest ? std::optional(form) : std::nullopt;
}

std::optional<LinearForm> MaskReader::compute(Value value) {
  LinearForm form;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    constexpr unsigned kSmallBits = 32;
    if (constant.getSignificantBits() > kSmallBits)
      return std::nullopt;
    form.constant = constant.getSExtValue();
    return form;
  }
  if (isOutside(value))
    return computeSymbol(value);
  Operation *op = value.getDefiningOp();
  auto isWide = [](Type type) { return type.isIndex() || type.isInteger(64); };
  if (!op || !isWide(value.getType()))
    return std::nullopt;
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    form.factors.resize(numLoops);
    form.factors[index.getDim()] = 1;
    return form;
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return computeApply(apply);
  if (isa<arith::IndexCastOp>(op))
    return isWide(op->getOperand(0).getType()) ? read(op->getOperand(0))
                                               : std::nullopt;
  if (!isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  std::optional<LinearForm> left = read(op->getOperand(0));
  std::optional<LinearForm> right = read(op->getOperand(1));
  bool isModest =
      left && right && left->add(*right, isa<arith::AddIOp>(op) ? 1 : -1);
  return isModest ? left : std::nullopt;
}

/// `value` by the loops and symbols; nothing if it is no such sum.
std::optional<LinearForm> MaskReader::read(Value value) {
  auto it = forms.find(value);
  if (it != forms.end())
    return it->second;
  std::optional<LinearForm> form = compute(value);
  forms[value] = form;
  return form;
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

namespace {

/// What some rows leave of columns: the least that a condition lets one of them
/// have, or the largest.
struct ColumnBound {
  AffineExpr value;
  bool isLast;
};

} // namespace

/// What `condition`, which is at most 0, says of the loop `column`, of
/// `numLoops`, where all others have all of their iterations; `numSymbols`
/// symbols come before those that are the extents of the loops.
static std::optional<ColumnBound> solve(const LinearForm &condition,
                                        unsigned column, unsigned numLoops,
                                        unsigned numSymbols,
                                        MLIRContext *context) {
  if (std::abs(condition.getFactor(column)) != 1)
    return std::nullopt;
  // The column is at most the sum of all else, negated, or at least that.
  bool isLast = condition.getFactor(column) > 0;
  int64_t sign = isLast ? -1 : 1;
  AffineExpr sum = getAffineConstantExpr(sign * condition.constant, context);
  for (unsigned number = 0; number < numSymbols; ++number)
    sum = sum + getAffineSymbolExpr(number, context) *
                    (sign * condition.getFactor(numLoops + number));
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    int64_t factor = condition.getFactor(loop);
    if (loop != column && factor < 0)
      sum = sum + (getAffineSymbolExpr(numSymbols + loop, context) - 1) *
                      (sign * factor);
  }
  return ColumnBound{sum, isLast};
}

std::optional<ColumnRange> findUnmasked(RewriterBase &rewriter,
                                        const ChainStream &stream,
                                        int64_t columns, ColumnRange all) {
  const Link *link = findScores(stream);
  if (!link)
    return std::nullopt;
  linalg::LinalgOp scores = link->op;
  Location loc = scores.getLoc();
  MaskReader mask(scores);
  mask.addScore(scores.getBlock()->getTerminator()->getOperand(0));
  unsigned numLoops = scores.getNumLoops(), numSymbols = mask.symbols.size();
  SmallVector<OpFoldResult> operands(mask.symbols.begin(), mask.symbols.end());
  for (const Range &range : cast<TilingInterface>(scores.getOperation())
                                .getIterationDomain(rewriter))
    operands.push_back(range.size);
  unsigned number = operands.size();
  AffineExpr limit = rewriter.getAffineSymbolExpr(number);
  SmallVector<AffineExpr> firsts(1, limit), lasts(1, limit);
  for (const LinearForm &condition : mask.conditions) {
    std::optional<ColumnBound> bound = solve(condition, *link->column, numLoops,
                                             numSymbols, rewriter.getContext());
    if (bound && bound->isLast)
      lasts.push_back(bound->value + 1);
    else if (bound)
      firsts.push_back(bound->value.floorDiv(columns) * columns);
  }
  if (firsts.size() + lasts.size() == 2)
    return std::nullopt;
  auto make = [&](ArrayRef<AffineExpr> results, Value of, auto makeExtremum) {
    SmallVector<OpFoldResult> all(operands);
    all.push_back(of);
    AffineMap map = AffineMap::get(0, number + 1, results, loc.getContext());
    return getValueOrCreateConstantIndexOp(
        rewriter, loc, makeExtremum(rewriter, loc, map, all));
  };
  auto least = [](auto &&...in) {
    return affine::makeComposedFoldedAffineMin(in...);
  };
  auto largest = [](auto &&...in) {
    return affine::makeComposedFoldedAffineMax(in...);
  };
  return ColumnRange{make(firsts, all.first, largest),
                     make(lasts, all.last, least)};
}

} // namespace mlir::workgroup
