//===- SplitOperands.cpp - What comes before a product --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitOperands.h"
#include "LinalgClasses.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

namespace {

/// What is multiplied, and what it is computed from.
struct Factor {
  Value value;
  /// The operations of the body that compute it, in order.
  SmallVector<Operation *> ops;
  /// What it reads; `main` has all loops that any of them has.
  SmallVector<OpOperand *> inputs;
  OpOperand *main = nullptr;

  /// It is more than an input, converted at most.
  bool isComputed() const {
    return inputs.size() != 1 ||
           !llvm::all_of(ops, llvm::IsaPred<CastOpInterface>);
  }
};

} // namespace

static bool isEarlier(OpOperand *lhs, OpOperand *rhs) {
  return lhs->getOperandNumber() < rhs->getOperandNumber();
}

/// What `value`, of the body of `op`, is computed from; nothing if that is more
/// than inputs, or none of them has all of their loops.
static std::optional<Factor> getFactor(linalg::GenericOp op, Value value) {
  Factor factor;
  factor.value = value;
  SmallVector<Value> worklist{value};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next);
        argument && argument.getOwner() == op.getBlock()) {
      OpOperand *input = op.getMatchingOpOperand(argument);
      if (op.isDpsInit(input))
        return std::nullopt;
      factor.inputs.push_back(input);
      continue;
    }
    Operation *made = next.getDefiningOp();
    if (!made || made->getBlock() != op.getBlock())
      continue; // of outside
    if (!isPure(made) || made->getNumRegions() != 0 ||
        isa<linalg::IndexOp>(made))
      return std::nullopt;
    factor.ops.push_back(made);
    llvm::append_range(worklist, made->getOperands());
  }
  llvm::sort(factor.ops, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  factor.ops.erase(llvm::unique(factor.ops), factor.ops.end());
  llvm::sort(factor.inputs, isEarlier);
  auto getNumLoops = [&](OpOperand *input) {
    return op.getMatchingIndexingMap(input).getNumResults();
  };
  for (OpOperand *input : factor.inputs)
    if (!factor.main || getNumLoops(input) > getNumLoops(factor.main))
      factor.main = input;
  if (!factor.main || !isa<RankedTensorType>(factor.main->get().getType()))
    return std::nullopt;
  ArrayRef<AffineExpr> loops =
      op.getMatchingIndexingMap(factor.main).getResults();
  bool hasAll = llvm::all_of(factor.inputs, [&](OpOperand *input) {
    return llvm::all_of(
        op.getMatchingIndexingMap(input).getResults(),
        [&](AffineExpr at) { return llvm::is_contained(loops, at); });
  });
  return hasAll ? std::optional(std::move(factor)) : std::nullopt;
}

Operation *getProduct(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1)
    return nullptr;
  Block *body = op.getBlock();
  Operation *sum = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return nullptr;
  BlockArgument total = body->getArguments().back();
  unsigned place = sum->getOperand(0) == total;
  Operation *product = sum->getOperand(place).getDefiningOp();
  bool isProduct = isa<arith::AddFOp>(sum)
                       ? isa_and_nonnull<arith::MulFOp>(product)
                       : isa_and_nonnull<arith::MulIOp>(product);
  return isProduct && sum->getOperand(1 - place) == total &&
                 product->hasOneUse() && product->getBlock() == body
             ? product
             : nullptr;
}

/// The number of times that an element that is read by `map` is multiplied,
/// each time by another one: along loops of the result that `other` has.
/// Extents that are not known count as large.
static int64_t countReads(linalg::GenericOp op, AffineMap map,
                          AffineMap other) {
  constexpr int64_t kLarge = 1 << 10;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t reads = 1;
  for (AffineExpr at : other.getResults()) {
    if (!llvm::is_contained(result.getResults(), at) ||
        llvm::is_contained(map.getResults(), at))
      continue;
    int64_t extent = extents[cast<AffineDimExpr>(at).getPosition()];
    reads *= ShapedType::isDynamic(extent) ? kLarge : std::min(extent, kLarge);
    reads = std::min(reads, kLarge);
  }
  return reads;
}

/// True if the factors and the result have all loops of `op`: of others, an
/// input that nothing is made of tells how many iterations there are.
static bool hasAllLoops(linalg::GenericOp op, ArrayRef<Factor> factors) {
  SmallVector<AffineMap> maps{
      op.getMatchingIndexingMap(op.getDpsInitOperand(0))};
  for (const Factor &factor : factors)
    maps.push_back(op.getMatchingIndexingMap(factor.main));
  return llvm::all_of(llvm::seq(op.getNumLoops()), [&](unsigned loop) {
    return llvm::any_of(
        maps, [&](AffineMap map) { return map.isFunctionOfDim(loop); });
  });
}

/// True if the sum is a contraction, and what is computed for each element of
/// an operand is read so often that this outweighs to write it and read it.
static bool isWorthIt(linalg::GenericOp op, ArrayRef<Factor> factors) {
  constexpr int64_t kMinReads = 16;
  bool isComputed = false;
  for (auto [factor, other] : llvm::zip(factors, llvm::reverse(factors))) {
    int64_t reads = countReads(op, op.getMatchingIndexingMap(factor.main),
                               op.getMatchingIndexingMap(other.main));
    if (reads < (factor.isComputed() ? kMinReads : 2))
      return false;
    isComputed |= factor.isComputed();
  }
  return isComputed;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Copies the operations of `factor` to where `rewriter` is.
static Value cloneFactor(RewriterBase &rewriter, const Factor &factor,
                         IRMapping &mapping) {
  for (Operation *op : factor.ops)
    rewriter.clone(*op, mapping);
  return mapping.lookupOrDefault(factor.value);
}

/// A tensor of what `factor` is for each element of its main input.
static Value makeOperand(RewriterBase &rewriter, linalg::GenericOp op,
                         const Factor &factor) {
  Location loc = op.getLoc();
  auto source = cast<RankedTensorType>(factor.main->get().getType());
  unsigned rank = source.getRank();
  AffineMap own = op.getMatchingIndexingMap(factor.main);
  // Loops of `op` as loops of the new operation.
  SmallVector<AffineExpr> loops(own.getNumDims(),
                                rewriter.getAffineConstantExpr(0));
  for (auto [place, at] : llvm::enumerate(own.getResults()))
    loops[cast<AffineDimExpr>(at).getPosition()] =
        rewriter.getAffineDimExpr(place);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : factor.inputs) {
    inputs.push_back(input->get());
    maps.push_back(op.getMatchingIndexingMap(input).replaceDimsAndSymbols(
        loops, {}, rank, /*numResultSyms=*/0));
  }
  maps.push_back(rewriter.getMultiDimIdentityMap(rank));
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, factor.main->get()),
      factor.value.getType());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto made = linalg::GenericOp::create(
      rewriter, loc, TypeRange(empty.getType()), inputs, empty, maps, iterators,
      [&](OpBuilder &, Location, ValueRange arguments) {
        IRMapping mapping;
        for (auto [input, argument] :
             llvm::zip(factor.inputs, arguments.drop_back()))
          mapping.map(op.getMatchingBlockArgument(input), argument);
        Value value = cloneFactor(rewriter, factor, mapping);
        linalg::YieldOp::create(rewriter, loc, value);
      });
  recordRemark(RemarkId::NormalizeLinalg_SplitOperand, op)
      << "an operand is computed before the contraction that reads it"
      << remark::metric("Operand", factor.main->getOperandNumber());
  return made.getResult(0);
}

void splitOperands(RewriterBase &rewriter, linalg::GenericOp op) {
  Operation *product = getProduct(op);
  if (!product || !isTensorOp(op) || op.hasIndexSemantics() ||
      classify(op) != LinalgClass::Reduction)
    return;
  SmallVector<Factor, 2> factors;
  for (Value value : product->getOperands()) {
    std::optional<Factor> factor = getFactor(op, value);
    if (!factor ||
        !op.getMatchingIndexingMap(factor->main).isProjectedPermutation())
      return;
    factors.push_back(std::move(*factor));
  }
  if (!isEarlier(factors[0].main, factors[1].main))
    std::swap(factors[0], factors[1]);
  if (!hasAllLoops(op, factors) || !isWorthIt(op, factors))
    return;
  rewriter.setInsertionPoint(op);
  SmallVector<Value, 2> inputs;
  for (const Factor &factor : factors)
    inputs.push_back(factor.isComputed() ? makeOperand(rewriter, op, factor)
                                         : factor.main->get());
  Value init = op.getDpsInits().front();
  SmallVector<AffineMap> maps;
  for (const Factor &factor : factors)
    maps.push_back(op.getMatchingIndexingMap(factor.main));
  maps.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  auto contraction = linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getResultTypes(), inputs, init, maps,
      op.getIteratorTypesArray(),
      [&](OpBuilder &, Location loc, ValueRange arguments) {
        IRMapping mapping;
        for (auto [factor, argument] :
             llvm::zip(factors, arguments.drop_back())) {
          if (factor.isComputed()) {
            mapping.map(factor.value, argument);
            continue;
          }
          mapping.map(op.getMatchingBlockArgument(factor.main), argument);
          cloneFactor(rewriter, factor, mapping);
        }
        mapping.map(op.getBlock()->getArguments().back(), arguments.back());
        rewriter.clone(*product, mapping);
        Operation *sum =
            op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
        Operation *total = rewriter.clone(*sum, mapping);
        linalg::YieldOp::create(rewriter, loc, total->getResult(0));
      });
  contraction->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, contraction);
}

} // namespace mlir::workgroup
