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
// Conditions
//===----------------------------------------------------------------------===//

namespace {

/// Reads what the body of `scores` says of the columns that are not hidden.
class MaskReader {
public:
  MaskReader(linalg::LinalgOp scores) : scores(scores) {}

  /// Adds the conditions without which `value` is minus infinity.
  void addScore(Value value);

  /// Each is at most 0 where a score is not hidden; of the loops of the
  /// operation, and of `symbols`.
  SmallVector<AffineExpr> conditions;
  SmallVector<Value> symbols;

private:
  void addCondition(Value condition, bool isMet);
  AffineExpr read(Value value);
  AffineExpr readSymbol(Value value);
  bool isOutside(Value value) const {
    Region *region = value.getParentRegion();
    return !scores->getRegion(0).isAncestor(region);
  }

  linalg::LinalgOp scores;
};

} // namespace

void MaskReader::addScore(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isOutside(value))
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
  if (!op || isOutside(condition))
    return;
  if (isMet ? isa<arith::AndIOp>(op) : isa<arith::OrIOp>(op)) {
    for (Value operand : op->getOperands())
      addCondition(operand, isMet);
    return;
  }
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One()))
    return addCondition(op->getOperand(0), !isMet);
  auto compared = dyn_cast<arith::CmpIOp>(op);
  if (!compared)
    return;
  arith::CmpIPredicate predicate =
      isMet ? compared.getPredicate()
            : arith::invertPredicate(compared.getPredicate());
  AffineExpr left = read(compared.getLhs()), right = read(compared.getRhs());
  if (!left || !right)
    return;
  using Predicate = arith::CmpIPredicate;
  bool isLess = predicate == Predicate::slt || predicate == Predicate::sle;
  bool isMore = predicate == Predicate::sgt || predicate == Predicate::sge;
  bool isStrict = predicate == Predicate::slt || predicate == Predicate::sgt;
  if (isLess)
    conditions.push_back(left - right + int64_t(isStrict));
  else if (isMore)
    conditions.push_back(right - left + int64_t(isStrict));
}

/// True if `value`, of type index, is so small that sums of a few such values
/// do not wrap: an extent, or what loops count up to one.
static bool isFarFromWrapping(Value value) {
  constexpr int64_t kSmall = int64_t(1) << 31;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return std::abs(*constant) < kSmall;
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
  return isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp,
             arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(
             op) &&
         value.getType().isIndex() &&
         llvm::all_of(op->getOperands(),
                      [](Value operand) { return isFarFromWrapping(operand); });
}

AffineExpr MaskReader::readSymbol(Value value) {
  if (!value.getType().isIndex() || !isFarFromWrapping(value))
    return {};
  auto *it = llvm::find(symbols, value);
  unsigned number = it - symbols.begin();
  if (it == symbols.end())
    symbols.push_back(value);
  return getAffineSymbolExpr(number, value.getContext());
}

/// `value` by the loops and symbols; null if it is no such sum.
AffineExpr MaskReader::read(Value value) {
  MLIRContext *context = value.getContext();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    constexpr unsigned kSmallBits = 32;
    return constant.getSignificantBits() <= kSmallBits
               ? getAffineConstantExpr(constant.getSExtValue(), context)
               : AffineExpr();
  }
  if (isOutside(value))
    return readSymbol(value);
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return getAffineDimExpr(index.getDim(), context);
  bool isWide = value.getType().isIndex() || value.getType().isInteger(64);
  if (isa<arith::IndexCastOp>(op) && isWide &&
      (op->getOperand(0).getType().isIndex() ||
       op->getOperand(0).getType().isInteger(64)))
    return read(op->getOperand(0));
  SmallVector<AffineExpr> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isWide ? read(operand) : AffineExpr());
  if (!llvm::all_of(operands, [](AffineExpr operand) { return !!operand; }))
    return {};
  if (isa<arith::AddIOp>(op))
    return operands[0] + operands[1];
  if (isa<arith::SubIOp>(op))
    return operands[0] - operands[1];
  auto apply = dyn_cast<affine::AffineApplyOp>(op);
  if (!apply)
    return {};
  AffineMap map = apply.getAffineMap();
  ArrayRef<AffineExpr> values(operands);
  return map.getResult(0).replaceDimsAndSymbols(
      values.take_front(map.getNumDims()), values.drop_front(map.getNumDims()));
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
static std::optional<ColumnBound> solve(AffineExpr condition, unsigned column,
                                        unsigned numLoops,
                                        unsigned numSymbols) {
  SmallVector<int64_t> flat;
  if (failed(getFlattenedAffineExpr(condition, numLoops, numSymbols, &flat)) ||
      flat.size() != numLoops + numSymbols + 1 || std::abs(flat[column]) != 1)
    return std::nullopt;
  MLIRContext *context = condition.getContext();
  // The column is at most the sum of all else, negated, or at least that.
  bool isLast = flat[column] > 0;
  int64_t sign = isLast ? -1 : 1;
  AffineExpr sum = getAffineConstantExpr(sign * flat.back(), context);
  auto add = [&](AffineExpr value, int64_t times) {
    sum = sum + value * (sign * times);
  };
  for (unsigned number = 0; number < numSymbols; ++number)
    add(getAffineSymbolExpr(number, context), flat[numLoops + number]);
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (loop != column && flat[loop] < 0)
      add(getAffineSymbolExpr(numSymbols + loop, context) - 1, flat[loop]);
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
  for (AffineExpr condition : mask.conditions) {
    std::optional<ColumnBound> bound =
        solve(condition, *link->column, numLoops, numSymbols);
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
