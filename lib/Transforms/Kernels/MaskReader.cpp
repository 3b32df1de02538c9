//===- MaskReader.cpp - What a mask says of columns -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskReader.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

bool isLeast(Value value) { return matchPattern(value, m_NegInfFloat()); }

bool isPositive(Value value) {
  APFloat number(0.0);
  return matchPattern(value, m_ConstantFloat(&number)) &&
         number.isFiniteNonZero() && !number.isNegative();
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

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
  std::optional<LinearForm> left = readExactly(compared.getLhs());
  std::optional<LinearForm> right = readExactly(compared.getRhs());
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

/// True for types that masks count in; sums in the wider ones do not wrap.
static bool isCounted(Type type) {
  return type.isIndex() || type.isInteger(32) || type.isInteger(64);
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
  if (!op || !isCounted(value.getType()))
    return std::nullopt;
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    form.factors.resize(numLoops);
    form.factors[index.getDim()] = 1;
    return form;
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return computeApply(apply);
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
    Value from = op->getOperand(0);
    if (!isCounted(from.getType()))
      return std::nullopt;
    // What wraps in 32 bits differs from there on where it is extended.
    return value.getType().isInteger(32) ? read(from) : readExactly(from);
  }
  if (!isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  std::optional<LinearForm> left = read(op->getOperand(0));
  std::optional<LinearForm> right = read(op->getOperand(1));
  bool isModest =
      left && right && left->add(*right, isa<arith::AddIOp>(op) ? 1 : -1);
  return isModest ? left : std::nullopt;
}

/// `value` by the loops and symbols, of i32 up to multiples of 2^32; nothing if
/// it is no such sum.
std::optional<LinearForm> MaskReader::read(Value value) {
  auto it = forms.find(value);
  if (it != forms.end())
    return it->second;
  std::optional<LinearForm> form = compute(value);
  forms[value] = form;
  return form;
}

/// The same, where it matters which multiple that is.
std::optional<LinearForm> MaskReader::readExactly(Value value) {
  std::optional<LinearForm> form = read(value);
  if (form && value.getType().isInteger(32))
    narrow.push_back(*form);
  return form;
}

} // namespace mlir::workgroup
