//===- MaskedColumns.cpp - Columns that a mask hides ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskedColumns.h"
#include "Combiners.h"
#include "MaskReader.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace mlir::workgroup {

using Link = ChainStream::Link;

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

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
  if (!stream.weights)
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

/// The largest value of `form`, or the least, in all iterations of `numLoops`
/// loops; `numSymbols` symbols come before those that are their extents.
static AffineExpr getExtreme(const LinearForm &form, bool isLargest,
                             unsigned numLoops, unsigned numSymbols,
                             MLIRContext *context) {
  AffineExpr sum = getAffineConstantExpr(form.constant, context);
  for (unsigned number = 0; number < numSymbols; ++number)
    sum = sum + getAffineSymbolExpr(number, context) *
                    form.getFactor(numLoops + number);
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (int64_t factor = form.getFactor(loop);
        isLargest ? factor > 0 : factor < 0)
      sum =
          sum + (getAffineSymbolExpr(numSymbols + loop, context) - 1) * factor;
  return sum;
}

/// Whether `mask`, of `numLoops` loops, compares what has room in 32 bits, as
/// far as only the launch knows, by `operands`, the symbols and the extents;
/// null if it always does.
static Value makeRoomTest(RewriterBase &rewriter, Location loc,
                          const MaskReader &mask, unsigned numLoops,
                          ArrayRef<OpFoldResult> operands) {
  using Bounds = ValueBoundsConstraintSet;
  SmallVector<Bounds::Variable> variables(operands.begin(), operands.end());
  Value hasRoom;
  auto test = [&](const LinearForm &form, bool isLargest) {
    int64_t limit = isLargest ? std::numeric_limits<int32_t>::max()
                              : std::numeric_limits<int32_t>::min();
    AffineMap map =
        AffineMap::get(0, operands.size(),
                       getExtreme(form, isLargest, numLoops,
                                  mask.symbols.size(), rewriter.getContext()));
    FailureOr<int64_t> known = Bounds::computeConstantBound(
        isLargest ? presburger::BoundType::UB : presburger::BoundType::LB,
        Bounds::Variable(map, variables), /*stopCondition=*/nullptr,
        /*closedUB=*/true);
    if (succeeded(known) && (isLargest ? *known <= limit : *known >= limit))
      return;
    Value extreme = getValueOrCreateConstantIndexOp(
        rewriter, loc,
        affine::makeComposedFoldedAffineApply(rewriter, loc, map, operands));
    Value fits = arith::CmpIOp::create(
        rewriter, loc,
        isLargest ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge,
        extreme, arith::ConstantIndexOp::create(rewriter, loc, limit));
    hasRoom =
        hasRoom ? arith::AndIOp::create(rewriter, loc, hasRoom, fits) : fits;
  };
  for (const LinearForm &form : mask.narrow)
    for (bool isLargest : {false, true})
      test(form, isLargest);
  return hasRoom;
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
  ColumnRange unmasked{make(firsts, all.first, largest),
                       make(lasts, all.last, least)};
  Value hasRoom = makeRoomTest(rewriter, loc, mask, numLoops, operands);
  if (!hasRoom)
    return unmasked;
  auto choose = [&](Value first, Value second) {
    return arith::SelectOp::create(rewriter, loc, hasRoom, first, second);
  };
  return ColumnRange{choose(unmasked.first, all.first),
                     choose(unmasked.last, all.last)};
}

} // namespace mlir::workgroup
