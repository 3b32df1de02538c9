//===- SymbolicDivision.cpp - Quotients and remainders --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Integers/IntegerArithmetic.h"
#include "SymbolicTranslator.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::workgroup {

using Condition = SymbolicCondition;
using Form = SymbolicForm;

/// True if `form` is one thing or another: cases of cases are more than they
/// are worth.
static bool isOfChoice(const Form &form) {
  return llvm::any_of(form.terms, [](auto term) {
    return term.first->kind == SymbolicAtom::Select;
  });
}

SymbolicForm SymbolicTranslator::translateDivision(Operation *op) {
  if (auto rest = dyn_cast<arith::RemUIOp>(op)) {
    Form divisor = index.getForm(rest.getRhs());
    if (divisor.isConstant() && divisor.constant > 0 &&
        llvm::isPowerOf2_64(divisor.constant))
      return index.remainder(getWrapping(rest.getLhs()), divisor);
  }
  Form lhs = index.getForm(op->getOperand(0));
  Form rhs = index.getForm(op->getOperand(1));
  Value value = op->getResult(0);
  if (isa<arith::RemUIOp, arith::DivUIOp>(op) && isDivisor(rhs)) {
    if (std::optional<Form> plain = getUnsigned(op->getOperand(0)))
      lhs = *plain;
    else if (auto divided = translateUnsignedDivision(op, lhs, rhs))
      return *divided;
  }
  if (auto rest = dyn_cast<arith::RemSIOp>(op))
    if (std::optional<Form> form = translateWrapped(rest, rhs))
      return *form;
  // Other divisions round in other directions.
  if (!isDivisor(rhs) && !index.isNonNegativeAt(rhs, op))
    return translateFunction(op, lhs, rhs);
  bool isFloor = isa<arith::FloorDivSIOp>(op) || index.isNonNegativeAt(lhs, op);
  bool isCeiling =
      isa<arith::CeilDivSIOp>(op) || (isa<arith::CeilDivUIOp>(op) && isFloor);
  if (isa<arith::DivSIOp, arith::RemSIOp>(op) && !isFloor && !isOfChoice(lhs))
    return translateRounded(op, lhs, rhs);
  if (!(isFloor || isCeiling))
    return translateFunction(op, lhs, rhs);
  if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op)) {
    Form raised = index.add(index.add(lhs, rhs, 1, value), Form(-1), 1, value);
    return index.divide(raised, rhs);
  }
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return index.remainder(lhs, rhs);
  return index.divide(lhs, rhs);
}

/// A quotient rounded towards zero, or the rest of it, which has the sign of
/// the dividend.
SymbolicForm SymbolicTranslator::translateRounded(Operation *op,
                                                  const Form &lhs,
                                                  const Form &rhs) {
  Form negated = index.add(Form(0), lhs, -1, nullptr);
  auto divide = [&](const Form &dividend) {
    return isa<arith::RemSIOp>(op) ? index.remainder(dividend, rhs)
                                   : index.divide(dividend, rhs);
  };
  Form below = index.add(Form(0), divide(negated), -1, nullptr);
  return index.select(Condition::of(Condition::NonNegative, lhs), divide(lhs),
                      below);
}

/// The rest of a sum that may wrap to below zero, where it has the sign of
/// that.
std::optional<SymbolicForm>
SymbolicTranslator::translateWrapped(arith::RemSIOp op, const Form &divisor) {
  std::optional<Form> whole = getWhole(op.getLhs());
  if (!whole || !divisor.isConstant() || divisor.constant <= 0 ||
      *whole == index.getForm(op.getLhs()))
    return std::nullopt;
  int64_t size = int64_t(1) << getWidth(op.getType());
  Form below = index.add(Form(size), *whole, -1, nullptr);
  Form fits = index.add(Form(size / 2 - 1), *whole, -1, nullptr);
  return index.select(
      Condition::of(Condition::NonNegative, fits),
      index.remainder(*whole, divisor),
      index.add(Form(0), index.remainder(below, divisor), -1, nullptr));
}

/// The unsigned quotient or rest of a number that may be below zero, and so is
/// large, by one that is not; nothing if that is too large to be told.
std::optional<SymbolicForm>
SymbolicTranslator::translateUnsignedDivision(Operation *op, const Form &lhs,
                                              const Form &rhs) {
  unsigned width = getWidth(op->getResult(0).getType());
  if (!rhs.isConstant() || width == 0 || width > 64 || isOfChoice(lhs))
    return std::nullopt;
  // x + 2^width, of which the rest needs the rest only.
  uint64_t most = llvm::maskTrailingOnes<uint64_t>(width);
  uint64_t divisor = rhs.constant;
  bool isRest = isa<arith::RemUIOp>(op);
  if (!isRest && width > 32)
    return std::nullopt;
  int64_t wrapped = isRest ? (most % divisor + 1) % divisor : most + 1;
  Form large = index.add(lhs, Form(wrapped), 1, nullptr);
  auto divide = [&](const Form &dividend) {
    return isRest ? index.remainder(dividend, rhs)
                  : index.divide(dividend, rhs);
  };
  return index.select(Condition::of(Condition::NonNegative, lhs), divide(lhs),
                      divide(large));
}

/// What `-lower-affine` makes of quotients that are rounded down, or up: of a
/// dividend of any sign, by cases.
std::optional<SymbolicForm>
SymbolicTranslator::translateExpandedQuotient(arith::SelectOp op) {
  auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!op.getType().isIndex() || !compare ||
      !isConstantIntValue(compare.getRhs(), 0))
    return std::nullopt;
  bool isFloor = compare.getPredicate() == arith::CmpIPredicate::slt;
  if (!isFloor && compare.getPredicate() != arith::CmpIPredicate::sle)
    return std::nullopt;
  // Of x < 0: -1 - (-1 - x) / n, and x / n. Of x <= 0: -(-x / n), and
  // (x - 1) / n + 1.
  auto isBelow = [&](Value value, Value of) {
    auto sub = value.getDefiningOp<arith::SubIOp>();
    return sub && sub.getRhs() == of &&
           isConstantIntValue(sub.getLhs(), isFloor ? -1 : 0);
  };
  Value x = compare.getLhs(), quotient = op.getFalseValue();
  if (auto sum = quotient.getDefiningOp<arith::AddIOp>();
      !isFloor && sum && isConstantIntValue(sum.getRhs(), 1))
    quotient = sum.getLhs();
  auto division = quotient.getDefiningOp<arith::DivSIOp>();
  auto chosen = division ? division.getLhs().getDefiningOp<arith::SelectOp>()
                         : arith::SelectOp();
  if (!chosen || chosen.getCondition() != op.getCondition() ||
      !isBelow(op.getTrueValue(), quotient) ||
      !isBelow(chosen.getTrueValue(), x) ||
      (!isFloor && quotient == op.getFalseValue()))
    return std::nullopt;
  Form form = index.getForm(x), divisor = index.getForm(division.getRhs());
  Form last = index.add(form, Form(isFloor ? 0 : -1), 1, nullptr);
  if (!isDivisor(divisor) || index.getForm(chosen.getFalseValue()) != last)
    return std::nullopt;
  Form floor = index.divide(last, divisor);
  return index.add(floor, Form(isFloor ? 0 : 1), 1, nullptr);
}

} // namespace mlir::workgroup
