//===- LoopDistribution.cpp - Iterations of loops for processors ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopDistribution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value SignedIndexBuilder::value(OpFoldResult index) {
  return getValueOrCreateConstantIndexOp(builder, loc, index);
}

/// `fold` of two numbers, which tells whether that overflows, or an operation.
template <typename OpTy, typename Fold>
static OpFoldResult make(SignedIndexBuilder &index, OpFoldResult lhs,
                         OpFoldResult rhs, Fold fold) {
  auto a = getConstantIntValue(lhs), b = getConstantIntValue(rhs);
  if (int64_t result; a && b && !fold(*a, *b, result))
    return index.builder.getIndexAttr(result);
  Value left = index.value(lhs);
  Value right = index.value(rhs);
  if constexpr (OpTy::template hasTrait<
                    arith::ArithIntegerOverflowFlagsInterface::Trait>())
    return OpTy::create(index.builder, index.loc, left, right,
                        arith::IntegerOverflowFlags::nsw)
        .getResult();
  else
    return OpTy::create(index.builder, index.loc, left, right).getResult();
}

OpFoldResult SignedIndexBuilder::add(OpFoldResult lhs, OpFoldResult rhs) {
  if (isConstantIntValue(lhs, 0) || isConstantIntValue(rhs, 0))
    return isConstantIntValue(lhs, 0) ? rhs : lhs;
  return make<arith::AddIOp>(*this, lhs, rhs, llvm::AddOverflow<int64_t>);
}

OpFoldResult SignedIndexBuilder::subtract(OpFoldResult lhs, OpFoldResult rhs) {
  if (isConstantIntValue(rhs, 0))
    return lhs;
  return make<arith::SubIOp>(*this, lhs, rhs, llvm::SubOverflow<int64_t>);
}

OpFoldResult SignedIndexBuilder::multiply(OpFoldResult lhs, OpFoldResult rhs) {
  if (isConstantIntValue(lhs, 1) || isConstantIntValue(rhs, 1))
    return isConstantIntValue(lhs, 1) ? rhs : lhs;
  return make<arith::MulIOp>(*this, lhs, rhs, llvm::MulOverflow<int64_t>);
}

OpFoldResult SignedIndexBuilder::divide(OpFoldResult lhs, OpFoldResult rhs) {
  // Divided by nothing, it is in a loop of no iteration.
  if (isConstantIntValue(rhs, 1) || isConstantIntValue(rhs, 0))
    return lhs;
  return make<arith::DivUIOp>(*this, lhs, rhs,
                              [](int64_t a, int64_t b, int64_t &result) {
                                return (result = a / b, false);
                              });
}

OpFoldResult SignedIndexBuilder::remainder(OpFoldResult lhs, OpFoldResult rhs) {
  if (isConstantIntValue(rhs, 1) || isConstantIntValue(rhs, 0))
    return builder.getIndexAttr(0);
  return make<arith::RemUIOp>(*this, lhs, rhs,
                              [](int64_t a, int64_t b, int64_t &result) {
                                return (result = a % b, false);
                              });
}

OpFoldResult SignedIndexBuilder::divideUp(OpFoldResult lhs, OpFoldResult rhs) {
  OpFoldResult less = subtract(rhs, builder.getIndexAttr(1));
  return divide(add(lhs, less), rhs);
}

OpFoldResult SignedIndexBuilder::minimum(OpFoldResult lhs, OpFoldResult rhs) {
  return make<arith::MinSIOp>(*this, lhs, rhs,
                              [](int64_t a, int64_t b, int64_t &result) {
                                return (result = std::min(a, b), false);
                              });
}

OpFoldResult SignedIndexBuilder::maximum(OpFoldResult lhs, OpFoldResult rhs) {
  return make<arith::MaxSIOp>(*this, lhs, rhs,
                              [](int64_t a, int64_t b, int64_t &result) {
                                return (result = std::max(a, b), false);
                              });
}

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

static std::optional<int64_t> countIterations(int64_t lower, int64_t upper,
                                              int64_t step) {
  int64_t extent;
  if (step <= 0 || llvm::SubOverflow(upper, lower, extent))
    return std::nullopt;
  return extent <= 0 ? 0 : llvm::divideCeil(extent, step);
}

std::optional<int64_t> getNumIterations(const LoopRange &range) {
  auto lower = getConstantIntValue(range.lower);
  auto upper = getConstantIntValue(range.upper);
  auto step = getConstantIntValue(range.step);
  return lower && upper && step ? countIterations(*lower, *upper, *step)
                                : std::nullopt;
}

std::optional<int64_t> getMostIterations(const LoopRange &range) {
  auto step = getConstantIntValue(range.step);
  if (!step)
    return std::nullopt;
  using presburger::BoundType;
  auto bound = [](BoundType type,
                  OpFoldResult index) -> std::optional<int64_t> {
    if (auto number = getConstantIntValue(index))
      return number;
    FailureOr<int64_t> found = ValueBoundsConstraintSet::computeConstantBound(
        type, index, /*stopCondition=*/nullptr, /*closedUB=*/true);
    return succeeded(found) ? std::optional(*found) : std::nullopt;
  };
  auto lower = bound(BoundType::LB, range.lower);
  auto upper = bound(BoundType::UB, range.upper);
  return lower && upper ? countIterations(*lower, *upper, *step) : std::nullopt;
}

DistributionStrategy simplify(DistributionStrategy strategy,
                              const LoopRange &range,
                              std::optional<int64_t> numProcessors) {
  bool isLoop = strategy == DistributionStrategy::Cyclic ||
                strategy == DistributionStrategy::Block;
  if (!isLoop || !numProcessors)
    return strategy;
  if (getNumIterations(range) == numProcessors)
    return DistributionStrategy::Exact;
  std::optional<int64_t> most = getMostIterations(range);
  return most && *most <= *numProcessors ? DistributionStrategy::Guarded
                                         : strategy;
}

//===----------------------------------------------------------------------===//
// Distribution
//===----------------------------------------------------------------------===//

static Value makeLoop(OpBuilder &builder, Location loc, OpFoldResult lower,
                      OpFoldResult upper, OpFoldResult step) {
  SignedIndexBuilder index{builder, loc};
  Value from = index.value(lower);
  Value to = index.value(upper);
  Value by = index.value(step);
  auto loop = scf::ForOp::create(builder, loc, from, to, by);
  builder.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

static void makeCondition(OpBuilder &builder, Location loc,
                          arith::CmpIPredicate predicate, OpFoldResult lhs,
                          OpFoldResult rhs) {
  SignedIndexBuilder index{builder, loc};
  Value left = index.value(lhs);
  Value right = index.value(rhs);
  Value condition = arith::CmpIOp::create(builder, loc, predicate, left, right);
  auto branch = scf::IfOp::create(builder, loc, condition);
  builder.setInsertionPointToStart(branch.thenBlock());
}

void guardFirst(OpBuilder &builder, Location loc, OpFoldResult id) {
  makeCondition(builder, loc, arith::CmpIPredicate::eq, id,
                builder.getIndexAttr(0));
}

/// Consecutive iterations: those of each processor are as many.
static Value distributeBlock(OpBuilder &builder, Location loc,
                             const LoopRange &range,
                             const Processor &processor) {
  SignedIndexBuilder index{builder, loc};
  OpFoldResult extent = index.maximum(index.subtract(range.upper, range.lower),
                                      builder.getIndexAttr(0));
  OpFoldResult count = index.divideUp(extent, range.step);
  OpFoldResult length =
      index.multiply(index.divideUp(count, processor.count), range.step);
  OpFoldResult begin =
      index.add(range.lower, index.multiply(processor.id, length));
  OpFoldResult end = index.minimum(range.upper, index.add(begin, length));
  return makeLoop(builder, loc, begin, end, range.step);
}

/// `chunk` iterations each, in turn.
static Value distributeBlockCyclic(OpBuilder &builder, Location loc,
                                   const LoopRange &range,
                                   const Processor &processor, int64_t chunk) {
  SignedIndexBuilder index{builder, loc};
  OpFoldResult length = index.multiply(builder.getIndexAttr(chunk), range.step);
  OpFoldResult begin =
      index.add(range.lower, index.multiply(processor.id, length));
  Value first = makeLoop(builder, loc, begin, range.upper,
                         index.multiply(processor.count, length));
  OpFoldResult end = index.minimum(range.upper, index.add(first, length));
  return makeLoop(builder, loc, first, end, range.step);
}

OpFoldResult distribute(OpBuilder &builder, Location loc,
                        const LoopRange &range, const Processor &processor,
                        DistributionStrategy strategy, int64_t chunk) {
  if (strategy == DistributionStrategy::Block)
    return distributeBlock(builder, loc, range, processor);
  if (strategy == DistributionStrategy::BlockCyclic)
    return distributeBlockCyclic(builder, loc, range, processor, chunk);
  SignedIndexBuilder index{builder, loc};
  OpFoldResult first =
      index.add(range.lower, index.multiply(processor.id, range.step));
  if (strategy == DistributionStrategy::Cyclic)
    return makeLoop(builder, loc, first, range.upper,
                    index.multiply(processor.count, range.step));
  if (strategy == DistributionStrategy::Guarded)
    makeCondition(builder, loc, arith::CmpIPredicate::slt, first, range.upper);
  return first;
}

} // namespace mlir::workgroup
