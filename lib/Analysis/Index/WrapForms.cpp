//===- WrapForms.cpp - Sums that may not fit into their types -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What counts starts near zero and iterates less than 2^50 times, so that 64
// bits are never left.
//
//===----------------------------------------------------------------------===//

#include "WrapForms.h"
#include "Analysis/Integers/CheckedArithmetic.h"
#include "Analysis/Integers/IntegerArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Condition = SymbolicCondition;
using Form = SymbolicForm;

static Interval getCountedRange(const SymbolicForm &form);

/// The range of `atom`, given that no loop has more iterations than there can
/// be.
static Interval getCountedRange(const SymbolicAtom &atom) {
  Interval range = atom.range;
  if (range.max)
    return range;
  if (atom.kind == Atom::Iteration)
    range.max = kMaxIterations;
  else if (atom.kind == Atom::Quotient && range.min == 0)
    range.max = getCountedRange(atom.operands[0]).max;
  return range;
}

static Interval getCountedRange(const SymbolicForm &form) {
  Interval range = getRange(form);
  if (range.min && range.max)
    return range;
  range = {form.constant, form.constant};
  for (auto [atom, factor] : form.terms) {
    Interval part = getCountedRange(*atom);
    if (factor < 0)
      std::swap(part.min, part.max);
    range.min = range.min && part.min ? addScaled(*range.min, *part.min, factor)
                                      : std::nullopt;
    range.max = range.max && part.max ? addScaled(*range.max, *part.max, factor)
                                      : std::nullopt;
  }
  return range;
}

/// True if `form` is in `range` wherever control gets to `op`.
bool WrapForms::isWithinAt(const Form &form, Interval range, Operation *op) {
  std::optional<Form> above = form.plus(Form(*range.min), -1);
  std::optional<Form> below = Form(*range.max).plus(form, -1);
  return op && above && below && values.isNonNegativeAt(*above, op) &&
         values.isNonNegativeAt(*below, op);
}

SymbolicForm WrapForms::fit(const Form &form, Value value) {
  if (!isa<IntegerType>(value.getType()))
    return form;
  Interval range = getCountedRange(form);
  Interval type = getTypeRange(value.getType());
  bool isKnown = range.min && range.max; // and far from 64 bits then
  if (isKnown &&
      (!type.min || (*range.min >= *type.min && *range.max <= *type.max)))
    return form;
  bool isWithin = type.min && isWithinAt(form, type, value.getDefiningOp());
  return isWithin ? form : algebra.makeOpaque(value);
}

std::optional<SymbolicForm> WrapForms::getWhole(Value value) {
  constexpr unsigned kMaxWidth = 32;
  Operation *op = value.getDefiningOp();
  unsigned width = getWidth(value.getType());
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) || width > kMaxWidth)
    return std::nullopt;
  std::optional<Form> whole = values.getForm(op->getOperand(0))
                                  .plus(values.getForm(op->getOperand(1)),
                                        isa<arith::AddIOp>(op) ? 1 : -1);
  Interval range = {0, llvm::maskTrailingOnes<uint64_t>(width)};
  bool isWithin = whole && isWithinAt(*whole, range, op);
  return isWithin ? whole : std::nullopt;
}

SymbolicForm WrapForms::getWrapping(Value value, unsigned depth) {
  constexpr unsigned kMaxChain = 8;
  Operation *op = value.getDefiningOp();
  if (depth == kMaxChain ||
      !isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp,
                       arith::TruncIOp, arith::IndexCastOp>(op) ||
      op->getOperand(0).getType().isInteger(1))
    return values.getForm(value);
  // Only where what comes in is at least as wide.
  if (isa<arith::TruncIOp, arith::IndexCastOp>(op))
    return getWidth(op->getOperand(0).getType()) >= getWidth(value.getType())
               ? getWrapping(op->getOperand(0), depth + 1)
               : values.getForm(value);
  Form lhs = getWrapping(op->getOperand(0), depth + 1);
  Form rhs = getWrapping(op->getOperand(1), depth + 1);
  if (isa<arith::MulIOp>(op))
    return algebra.multiply(lhs, rhs);
  return algebra.add(lhs, rhs, isa<arith::AddIOp>(op) ? 1 : -1, nullptr);
}

//===----------------------------------------------------------------------===//
// Unsigned numbers
//===----------------------------------------------------------------------===//

/// The unsigned number that `argument` is, which counts by one from what is not
/// negative, as long as that is below a number: so it does not wrap.
std::optional<SymbolicForm>
WrapForms::getUnsignedCount(BlockArgument argument) {
  if (argument.getType().isIndex() || argument.getType().isInteger(64))
    return std::nullopt; // far from the end of these
  auto counted = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (counted && argument == counted.getInductionVar()) {
    const KernelLoop *loop = algebra.getLoops().getLoopOf(counted);
    Form lower = values.getForm(counted.getLowerBound());
    if (!loop || !counted.getUnsignedCmp() || !isNonNegative(lower) ||
        values.getForm(counted.getStep()) != Form(1))
      return std::nullopt;
    return algebra.add(lower, loopForms.getIteration(loop), 1, nullptr);
  }
  std::optional<CarriedValue> carried = algebra.getLoops().getCarried(argument);
  if (!carried || !carried->loop->isCountable || carried->loop->op)
    return std::nullopt;
  std::optional<LoopTest> test = algebra.getLoops().getTest(carried->loop);
  auto sum = carried->next.getDefiningOp<arith::AddIOp>();
  bool isTested = test && test->goesOnIf &&
                  test->compare.getLhs() == argument &&
                  test->compare.getPredicate() == arith::CmpIPredicate::ult;
  bool isCounted = sum && sum.getLhs() == argument &&
                   values.getForm(sum.getRhs()) == Form(1);
  Form initial = values.getForm(carried->initial);
  if (!isTested || !isCounted || !isNonNegative(initial))
    return std::nullopt;
  return algebra.add(initial, loopForms.getIteration(carried->loop), 1,
                     nullptr);
}

std::optional<SymbolicForm> WrapForms::getUnsigned(Value value) {
  Form form = values.getForm(value);
  if (isNonNegative(form))
    return form;
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? getUnsignedCount(argument) : getWhole(value);
}

SymbolicForm WrapForms::translateUnsigned(Operation *op) {
  constexpr unsigned kMaxWidth = 32;
  Value operand = op->getOperand(0);
  Operation *sum = operand.getDefiningOp();
  unsigned width = getWidth(operand.getType());
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(sum) || width > kMaxWidth)
    return algebra.makeOpaque(op->getResult(0));
  Form whole = algebra.add(values.getForm(sum->getOperand(0)),
                           values.getForm(sum->getOperand(1)),
                           isa<arith::AddIOp>(sum) ? 1 : -1, operand);
  return algebra.select(Condition::of(Condition::NonNegative, whole), whole,
                        algebra.makeOpaque(op->getResult(0)));
}

} // namespace mlir::workgroup
