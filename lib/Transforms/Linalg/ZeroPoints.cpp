//===- ZeroPoints.cpp - Zero points outside of products -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ZeroPoints.h"
#include "LinalgClasses.h"
#include "SplitOperands.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

namespace {

/// A factor of the product: an element, extended, less a zero point.
struct QuantizedFactor {
  OpOperand *input = nullptr;
  Operation *extension = nullptr;
  /// Of outside; null if nothing is subtracted.
  Value zero;
};

/// Makes the operations that one sum becomes.
class Splitter {
public:
  Splitter(RewriterBase &rewriter, linalg::GenericOp op,
           ArrayRef<QuantizedFactor> factors);

  /// The sum without zero points, less what they add to it.
  Value make();

private:
  Value makeProduct();
  Value sumUp(const QuantizedFactor &factor);
  AffineMap makeMap(unsigned numLoops, unsigned first, unsigned number);
  Value countTerms();
  Value makeCorrection(const QuantizedFactor &factor,
                       const QuantizedFactor &other, Value count);
  Value makeElementwise(ArrayRef<Value> inputs, SmallVector<AffineMap> maps,
                        function_ref<Value(ValueRange)> makeValue);
  SmallVector<unsigned> listLoops(const QuantizedFactor &factor,
                                  utils::IteratorType kind);
  SmallVector<OpFoldResult> getSizes(ArrayRef<unsigned> loops);

  RewriterBase &rewriter;
  linalg::GenericOp op;
  ArrayRef<QuantizedFactor> factors;
  Location loc;
  Type type;
  AffineMap resultMap;
  SmallVector<OpFoldResult> sizes;
};

} // namespace

/// What `value`, of the body of `op`, is outside of it, if it is the same for
/// all elements; null if it is not.
static Value getOutside(linalg::GenericOp op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == op.getBlock()) {
    Value operand = op.getMatchingOpOperand(argument)->get();
    return isa<ShapedType>(operand.getType()) ? Value() : operand;
  }
  return op.getRegion().isAncestor(value.getParentRegion()) ? Value() : value;
}

static std::optional<QuantizedFactor> getQuantizedFactor(linalg::GenericOp op,
                                                         Value value) {
  constexpr unsigned kBits = 8; // of which tensor cores multiply integers
  QuantizedFactor factor;
  if (auto difference = value.getDefiningOp<arith::SubIOp>()) {
    factor.zero = getOutside(op, difference.getRhs());
    if (!factor.zero)
      return std::nullopt;
    if (matchPattern(factor.zero, m_Zero()))
      factor.zero = nullptr;
    value = difference.getLhs();
  }
  factor.extension = value.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(factor.extension))
    return std::nullopt;
  auto element = dyn_cast<BlockArgument>(factor.extension->getOperand(0));
  if (!element || element.getOwner() != op.getBlock() ||
      !element.getType().isInteger(kBits))
    return std::nullopt;
  factor.input = op.getMatchingOpOperand(element);
  if (op.isDpsInit(factor.input) ||
      !isa<RankedTensorType>(factor.input->get().getType()))
    return std::nullopt;
  return factor;
}

/// True if the operand goes along each loop of the sum, so that its own sum has
/// the same terms, and each of its elements is read often enough that this sum
/// costs little.
static bool isReadAgain(linalg::GenericOp op, const QuantizedFactor &factor) {
  constexpr int64_t kMinReads = 16;
  AffineMap map = op.getMatchingIndexingMap(factor.input);
  int64_t reads = 1;
  for (auto [loop, kind, extent] :
       llvm::enumerate(op.getIteratorTypesArray(), op.getStaticLoopRanges())) {
    if (map.isFunctionOfDim(loop))
      continue;
    if (kind == utils::IteratorType::reduction)
      return false;
    reads *=
        ShapedType::isDynamic(extent) ? kMinReads : std::min(extent, kMinReads);
  }
  return reads >= kMinReads;
}

/// The factors of what `op` sums up; none if there is no zero point that can be
/// taken out.
static SmallVector<QuantizedFactor, 2> findFactors(linalg::GenericOp op) {
  Operation *product = getProduct(op);
  if (!product || !isa<arith::MulIOp>(product) || !isTensorOp(op) ||
      op.hasIndexSemantics() || op.getNumReductionLoops() == 0)
    return {};
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!result.isProjectedPermutation() ||
      result.getNumResults() != op.getNumParallelLoops())
    return {};
  SmallVector<QuantizedFactor, 2> factors;
  for (Value value : product->getOperands()) {
    std::optional<QuantizedFactor> factor = getQuantizedFactor(op, value);
    if (!factor || !isReadAgain(op, *factor))
      return {};
    factors.push_back(*factor);
  }
  bool hasZero = llvm::any_of(
      factors, [](const QuantizedFactor &factor) { return factor.zero; });
  // A third one may tell how long a loop is.
  unsigned numTensors = llvm::count_if(op.getInputs(), [](Value input) {
    return isa<ShapedType>(input.getType());
  });
  bool areTwo = factors[0].input != factors[1].input && numTensors == 2;
  return hasZero && areTwo ? factors : SmallVector<QuantizedFactor, 2>();
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

Splitter::Splitter(RewriterBase &rewriter, linalg::GenericOp op,
                   ArrayRef<QuantizedFactor> factors)
    : rewriter(rewriter), op(op), factors(factors), loc(op.getLoc()),
      type(getElementTypeOrSelf(op.getResult(0).getType())),
      resultMap(op.getMatchingIndexingMap(op.getDpsInitOperand(0))) {
  for (const Range &range : cast<linalg::LinalgOp>(op.getOperation())
                                .createLoopRanges(rewriter, loc))
    sizes.push_back(range.size);
}

/// The loops of a kind that the operand goes along.
SmallVector<unsigned> Splitter::listLoops(const QuantizedFactor &factor,
                                          utils::IteratorType kind) {
  AffineMap map = op.getMatchingIndexingMap(factor.input);
  SmallVector<unsigned> loops;
  for (auto [loop, its] : llvm::enumerate(op.getIteratorTypesArray()))
    if (its == kind && map.isFunctionOfDim(loop))
      loops.push_back(loop);
  return loops;
}

SmallVector<OpFoldResult> Splitter::getSizes(ArrayRef<unsigned> loops) {
  return llvm::map_to_vector(loops, [&](unsigned loop) { return sizes[loop]; });
}

Value Splitter::makeProduct() {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const QuantizedFactor &factor : factors) {
    inputs.push_back(factor.input->get());
    maps.push_back(op.getMatchingIndexingMap(factor.input));
  }
  maps.push_back(resultMap);
  auto product = linalg::GenericOp::create(
      rewriter, loc, op.getResultTypes(), inputs, op.getDpsInits(), maps,
      op.getIteratorTypesArray(),
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        SmallVector<Value, 2> values;
        for (auto [factor, argument] :
             llvm::zip(factors, arguments.drop_back())) {
          IRMapping mapping;
          mapping.map(factor.extension->getOperand(0), argument);
          values.push_back(
              builder.clone(*factor.extension, mapping)->getResult(0));
        }
        Value term = arith::MulIOp::create(builder, loc, values[0], values[1]);
        Value sum = arith::AddIOp::create(builder, loc, arguments.back(), term);
        linalg::YieldOp::create(builder, loc, sum);
      });
  product->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return product.getResult(0);
}

/// The map of some loops, one after the other from `first` on.
AffineMap Splitter::makeMap(unsigned numLoops, unsigned first,
                            unsigned number) {
  SmallVector<AffineExpr> loops;
  for (unsigned loop = first; loop < first + number; ++loop)
    loops.push_back(rewriter.getAffineDimExpr(loop));
  return AffineMap::get(numLoops, 0, loops, rewriter.getContext());
}

/// The sum of one operand, for each row or column of the result that it has.
Value Splitter::sumUp(const QuantizedFactor &factor) {
  SmallVector<unsigned> kept = listLoops(factor, utils::IteratorType::parallel);
  SmallVector<unsigned> summed =
      listLoops(factor, utils::IteratorType::reduction);
  unsigned numLoops = kept.size() + summed.size();
  SmallVector<AffineExpr> loops(op.getNumLoops(),
                                rewriter.getAffineConstantExpr(0));
  for (auto [place, loop] :
       llvm::enumerate(llvm::concat<unsigned>(kept, summed)))
    loops[loop] = rewriter.getAffineDimExpr(place);
  AffineMap map = op.getMatchingIndexingMap(factor.input);
  SmallVector<Value> inputs{factor.input->get()};
  SmallVector<AffineMap> maps{
      map.replaceDimsAndSymbols(loops, {}, numLoops, /*numResultSyms=*/0)};
  if (!map.isProjectedPermutation()) { // what tells how long the sums are
    inputs.push_back(tensor::EmptyOp::create(rewriter, loc, getSizes(summed),
                                             rewriter.getI8Type()));
    maps.push_back(
        AffineMap::getMultiDimIdentityMap(numLoops, rewriter.getContext())
            .getMinorSubMap(summed.size()));
  }
  maps.push_back(makeMap(numLoops, 0, kept.size()));
  Value empty = tensor::EmptyOp::create(rewriter, loc, getSizes(kept), type);
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
  auto fill = linalg::FillOp::create(rewriter, loc, zero, empty);
  FailureOr<linalg::GenericOp> start = linalg::generalizeNamedOp(
      rewriter, cast<linalg::LinalgOp>(fill.getOperation()));
  SmallVector<utils::IteratorType> kinds(kept.size(),
                                         utils::IteratorType::parallel);
  kinds.append(summed.size(), utils::IteratorType::reduction);
  auto sum = linalg::GenericOp::create(
      rewriter, loc, TypeRange(empty.getType()), inputs, start->getResults(),
      maps, kinds, [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(factor.extension->getOperand(0), arguments.front());
        Value term = builder.clone(*factor.extension, mapping)->getResult(0);
        Value total =
            arith::AddIOp::create(builder, loc, arguments.back(), term);
        linalg::YieldOp::create(builder, loc, total);
      });
  return sum.getResult(0);
}

/// The number of terms of the sum.
Value Splitter::countTerms() {
  Value count = arith::ConstantIndexOp::create(rewriter, loc, 1);
  for (unsigned loop : listLoops(factors[0], utils::IteratorType::reduction))
    count = rewriter.createOrFold<arith::MulIOp>(
        loc, count,
        getValueOrCreateConstantIndexOp(rewriter, loc, sizes[loop]));
  return rewriter.createOrFold<arith::IndexCastOp>(loc, type, count);
}

/// An operation on each element of `inputs`, in a tensor as large as the first.
Value Splitter::makeElementwise(ArrayRef<Value> inputs,
                                SmallVector<AffineMap> maps,
                                function_ref<Value(ValueRange)> makeValue) {
  unsigned rank = cast<RankedTensorType>(inputs[0].getType()).getRank();
  maps.push_back(rewriter.getMultiDimIdentityMap(rank));
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, inputs[0]), type);
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             rewriter, loc, TypeRange(empty.getType()), inputs, empty, maps,
             kinds,
             [&](OpBuilder &, Location, ValueRange arguments) {
               linalg::YieldOp::create(rewriter, loc,
                                       makeValue(arguments.drop_back()));
             })
      .getResult(0);
}

/// What the zero point of `other` adds to the sum: its product with the sum of
/// `factor`, less that of both zero points if `count` tells how often.
Value Splitter::makeCorrection(const QuantizedFactor &factor,
                               const QuantizedFactor &other, Value count) {
  Value sum = sumUp(factor);
  unsigned rank = cast<RankedTensorType>(sum.getType()).getRank();
  return makeElementwise(
      sum, {rewriter.getMultiDimIdentityMap(rank)}, [&](ValueRange arguments) {
        Value value = arguments[0];
        if (count) {
          Value zeros =
              arith::MulIOp::create(rewriter, loc, count, factor.zero);
          value = arith::SubIOp::create(rewriter, loc, value, zeros);
        }
        return arith::MulIOp::create(rewriter, loc, other.zero, value)
            .getResult();
      });
}

Value Splitter::make() {
  unsigned rank = resultMap.getNumResults();
  SmallVector<Value> inputs(1);
  SmallVector<AffineMap> maps{rewriter.getMultiDimIdentityMap(rank)};
  Value count = factors[0].zero && factors[1].zero ? countTerms() : Value();
  for (auto [factor, other] : llvm::zip(factors, llvm::reverse(factors))) {
    if (!other.zero)
      continue;
    inputs.push_back(makeCorrection(factor, other, count));
    count = nullptr; // once
    SmallVector<AffineExpr> places;
    for (unsigned loop : listLoops(factor, utils::IteratorType::parallel))
      places.push_back(rewriter.getAffineDimExpr(
          *resultMap.getResultPosition(rewriter.getAffineDimExpr(loop))));
    maps.push_back(AffineMap::get(rank, 0, places, rewriter.getContext()));
  }
  inputs[0] = makeProduct(); // last: what is done to it can be in its kernel
  return makeElementwise(inputs, maps, [&](ValueRange arguments) {
    Value value = arguments[0];
    for (Value correction : arguments.drop_front())
      value = arith::SubIOp::create(rewriter, loc, value, correction);
    return value;
  });
}

void takeOutZeroPoints(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<QuantizedFactor, 2> factors = findFactors(op);
  if (factors.empty())
    return;
  rewriter.setInsertionPoint(op);
  recordRemark(RemarkId::NormalizeLinalg_TookOutZeroPoints, op)
      << "zero points are subtracted from sums, not from their terms";
  rewriter.replaceOp(op, Splitter(rewriter, op, factors).make());
}

} // namespace mlir::workgroup
