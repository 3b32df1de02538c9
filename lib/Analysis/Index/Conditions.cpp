//===- Conditions.cpp - Comparisons and branches as forms -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All orders become `<`, and conjunctions, disjunctions and negations of bits
// those of conditions.
//
//===----------------------------------------------------------------------===//

#include "Conditions.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/Matchers.h"

namespace mlir::workgroup {

using Condition = SymbolicCondition;
using Form = SymbolicForm;

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// When the `arith.cmpi` `op` holds; nothing if that is not known.
std::optional<SymbolicCondition> Conditions::compare(Operation *op) {
  auto compare = cast<arith::CmpIOp>(op);
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  if (!compare.getLhs().getType().isIntOrIndex() ||
      compare.getLhs().getType().isInteger(1))
    return std::nullopt;
  Form lhs = values.getForm(compare.getLhs()),
       rhs = values.getForm(compare.getRhs());
  // Only `<` is left of the orders.
  bool isSwapped = predicate == P::sgt || predicate == P::ugt ||
                   predicate == P::sle || predicate == P::ule;
  bool isNegated = predicate == P::sge || predicate == P::uge ||
                   predicate == P::sle || predicate == P::ule ||
                   predicate == P::ne;
  if (isSwapped)
    std::swap(lhs, rhs);
  bool isUnsigned = predicate == P::ult || predicate == P::ule ||
                    predicate == P::ugt || predicate == P::uge;
  auto isPlain = [&](const Form &form) {
    return !isUnsigned || isNonNegative(form);
  };
  Condition result;
  if (predicate == P::eq || predicate == P::ne) {
    std::optional<Form> difference = lhs.plus(rhs, -1);
    if (!difference)
      return std::nullopt;
    result = Condition::of(Condition::Zero, *difference);
  } else {
    std::optional<Condition> below =
        isBelowUnsigned(lhs, isPlain(lhs), rhs, isPlain(rhs));
    if (!below)
      return std::nullopt;
    result = *below;
  }
  // The same for all, as far as ranges tell.
  Interval range = getRange(result.form);
  if (result.kind == Condition::NonNegative && range.min && *range.min >= 0)
    result = Condition();
  else if (result.kind == Condition::NonNegative && range.max && *range.max < 0)
    result.kind = Condition::False;
  return isNegated ? result.negate() : result;
}

SymbolicCondition Conditions::getCondition(Value value) {
  Operation *op = value.getDefiningOp();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    Condition result;
    result.kind = constant.isZero() ? Condition::False : Condition::True;
    return result;
  }
  if (isa_and_nonnull<arith::CmpIOp>(op))
    if (std::optional<Condition> result = compare(op))
      return *result;
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op) &&
      values.getDepth() < 64) {
    ++values.getDepth();
    Condition lhs = values.getCondition(op->getOperand(0));
    Condition rhs = values.getCondition(op->getOperand(1));
    --values.getDepth();
    return Condition::join(
        isa<arith::AndIOp>(op) ? Condition::All : Condition::Any, {lhs, rhs});
  }
  if (isa_and_nonnull<arith::XOrIOp>(op) &&
      matchPattern(op->getOperand(1), m_One()) && values.getDepth() < 64) {
    ++values.getDepth();
    Condition negated = values.getCondition(op->getOperand(0)).negate();
    --values.getDepth();
    return negated;
  }
  return AtomTable::isOne(algebra.makeOpaque(value));
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

SymbolicCondition Conditions::getCase(scf::IndexSwitchOp op, Region *region) {
  Form argument = values.getForm(op.getArg());
  auto isCase = [&](int64_t number) {
    std::optional<Form> difference = argument.plus(Form(number), -1);
    return difference ? Condition::of(Condition::Zero, *difference)
                      : algebra.getUnknown();
  };
  if (region != &op.getDefaultRegion())
    return isCase(op.getCases()[region->getRegionNumber() - 1]);
  std::vector<Condition> others;
  for (int64_t number : op.getCases())
    others.push_back(isCase(number).negate());
  return Condition::join(Condition::All, std::move(others));
}

/// When `flag` is `number`.
SymbolicCondition Conditions::isValue(Value flag, const APInt &number) {
  if (number.getBitWidth() == 1) {
    Condition isTrue = values.getCondition(flag);
    return number.isZero() ? isTrue.negate() : isTrue;
  }
  std::optional<Form> difference =
      number.isSignedIntN(64)
          ? values.getForm(flag).plus(Form(number.getSExtValue()), -1)
          : std::nullopt;
  return difference ? Condition::of(Condition::Zero, *difference)
                    : algebra.getUnknown();
}

SymbolicCondition Conditions::getCase(cf::SwitchOp op, Block *block) {
  std::vector<Condition> isOther, isHere;
  std::optional<DenseIntElementsAttr> cases = op.getCaseValues();
  for (auto [number, successor] : llvm::enumerate(op.getCaseDestinations())) {
    Condition isCase = isValue(op.getFlag(), cases->getValues<APInt>()[number]);
    isOther.push_back(isCase.negate());
    if (successor == block)
      isHere.push_back(std::move(isCase));
  }
  if (op.getDefaultDestination() == block)
    isHere.push_back(Condition::join(Condition::All, std::move(isOther)));
  return Condition::join(Condition::Any, std::move(isHere));
}

std::optional<SymbolicCondition> Conditions::getDecision(Operation *branch,
                                                         unsigned region) {
  if (isa<affine::AffineIfOp>(branch)) {
    Condition condition = affine.getSet(branch);
    return region == 0 ? condition : condition.negate();
  }
  if (auto choice = dyn_cast<scf::IndexSwitchOp>(branch))
    return getCase(choice, &choice->getRegion(region));
  Value test;
  if (auto structured = dyn_cast<scf::IfOp>(branch))
    test = structured.getCondition();
  else if (auto jump = dyn_cast<cf::CondBranchOp>(branch);
           jump && jump.getTrueDest() != jump.getFalseDest())
    test = jump.getCondition();
  if (!test)
    return std::nullopt;
  SymbolicCondition condition = values.getCondition(test);
  return region == 0 ? condition : condition.negate();
}

std::optional<SymbolicCondition> Conditions::getDecision(Operation *branch,
                                                         unsigned region,
                                                         const KernelLoop *loop,
                                                         int64_t later) {
  std::optional<SymbolicCondition> condition = getDecision(branch, region);
  if (!condition || !loop)
    return condition;
  return substitute(
      algebra, *condition, loop,
      algebra.add(loopForms.getIteration(loop), Form(later), 1, nullptr));
}

} // namespace mlir::workgroup
