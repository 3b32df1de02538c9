//===- DivisionForms.cpp - Quotients and remainders -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By the sign of the dividend, as ranges and conditions tell it; of unsigned
// operations on what may be below zero no more is known than that equal
// operands have equal results.
//
//===----------------------------------------------------------------------===//

#include "DivisionForms.h"
#include "Analysis/Integers/IntegerArithmetic.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

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

SymbolicForm DivisionForms::translate(Operation *op) {
  if (auto rest = dyn_cast<arith::RemUIOp>(op)) {
    Form divisor = values.getForm(rest.getRhs());
    if (divisor.isConstant() && divisor.constant > 0 &&
        llvm::isPowerOf2_64(divisor.constant))
      return algebra.remainder(wraps.getWrapping(rest.getLhs()), divisor);
  }
  Form lhs = values.getForm(op->getOperand(0));
  Form rhs = values.getForm(op->getOperand(1));
  Value value = op->getResult(0);
  if (isa<arith::RemUIOp, arith::DivUIOp>(op) && isDivisor(rhs))
    if (std::optional<Form> plain = wraps.getUnsigned(op->getOperand(0)))
      lhs = *plain;
  if (auto rest = dyn_cast<arith::RemSIOp>(op))
    if (std::optional<Form> form = translateWrapped(rest, rhs))
      return *form;
  // Other divisions round in other directions.
  if (!isDivisor(rhs) && !values.isNonNegativeAt(rhs, op))
    return algebra.apply(op, lhs, rhs);
  bool isFloor =
      isa<arith::FloorDivSIOp>(op) || values.isNonNegativeAt(lhs, op);
  bool isCeiling =
      isa<arith::CeilDivSIOp>(op) || (isa<arith::CeilDivUIOp>(op) && isFloor);
  if (isa<arith::DivSIOp, arith::RemSIOp>(op) && !isFloor && !isOfChoice(lhs))
    return translateRounded(op, lhs, rhs);
  if (!(isFloor || isCeiling))
    return algebra.apply(op, lhs, rhs);
  if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op)) {
    Form raised =
        algebra.add(algebra.add(lhs, rhs, 1, value), Form(-1), 1, value);
    return algebra.divide(raised, rhs);
  }
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return algebra.remainder(lhs, rhs);
  return algebra.divide(lhs, rhs);
}

/// A quotient rounded towards zero, or the rest of it, which has the sign of
/// the dividend.
SymbolicForm DivisionForms::translateRounded(Operation *op, const Form &lhs,
                                             const Form &rhs) {
  Form negated = algebra.add(Form(0), lhs, -1, nullptr);
  auto divide = [&](const Form &dividend) {
    return isa<arith::RemSIOp>(op) ? algebra.remainder(dividend, rhs)
                                   : algebra.divide(dividend, rhs);
  };
  Form below = algebra.add(Form(0), divide(negated), -1, nullptr);
  return algebra.select(Condition::of(Condition::NonNegative, lhs), divide(lhs),
                        below);
}

/// The rest of a sum that may wrap to below zero, where it has the sign of
/// that.
std::optional<SymbolicForm>
DivisionForms::translateWrapped(arith::RemSIOp op, const Form &divisor) {
  std::optional<Form> whole = wraps.getWhole(op.getLhs());
  if (!whole || !divisor.isConstant() || divisor.constant <= 0 ||
      *whole == values.getForm(op.getLhs()))
    return std::nullopt;
  int64_t size = int64_t(1) << getWidth(op.getType());
  Form below = algebra.add(Form(size), *whole, -1, nullptr);
  Form fits = algebra.add(Form(size / 2 - 1), *whole, -1, nullptr);
  return algebra.select(
      Condition::of(Condition::NonNegative, fits),
      algebra.remainder(*whole, divisor),
      algebra.add(Form(0), algebra.remainder(below, divisor), -1, nullptr));
}

std::optional<SymbolicForm>
DivisionForms::translateExpandedQuotient(arith::SelectOp op) {
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
  Form form = values.getForm(x), divisor = values.getForm(division.getRhs());
  Form last = algebra.add(form, Form(isFloor ? 0 : -1), 1, nullptr);
  if (!isDivisor(divisor) || values.getForm(chosen.getFalseValue()) != last)
    return std::nullopt;
  Form floor = algebra.divide(last, divisor);
  return algebra.add(floor, Form(isFloor ? 0 : 1), 1, nullptr);
}

} // namespace mlir::workgroup
