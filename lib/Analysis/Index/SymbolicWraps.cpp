//===- SymbolicWraps.cpp - Sums that may not fit into their types ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Integers/CheckedArithmetic.h"
#include "SymbolicTranslator.h"

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
  Interval range = SymbolicIndex::getRange(form);
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
bool SymbolicTranslator::isWithinAt(const Form &form, Interval range,
                                    Operation *op) {
  std::optional<Form> above = form.plus(Form(*range.min), -1);
  std::optional<Form> below = Form(*range.max).plus(form, -1);
  return op && above && below && index.isNonNegativeAt(*above, op) &&
         index.isNonNegativeAt(*below, op);
}

/// `form`, if all it may be fits into the type of `value`: then arithmetic did
/// not wrap.
SymbolicForm SymbolicTranslator::fit(const Form &form, Value value) {
  if (!isa<IntegerType>(value.getType()))
    return form;
  Interval range = getCountedRange(form);
  Interval type = getTypeRange(value.getType());
  bool isKnown = range.min && range.max; // and far from 64 bits then
  if (isKnown &&
      (!type.min || (*range.min >= *type.min && *range.max <= *type.max)))
    return form;
  bool isWithin = type.min && isWithinAt(form, type, value.getDefiningOp());
  return isWithin ? form : index.makeOpaque(value);
}

/// The sum or difference that `value` is, if that is not negative and below
/// what its bits hold, whether or not it wraps as a signed number.
std::optional<SymbolicForm> SymbolicTranslator::getWhole(Value value) {
  constexpr unsigned kMaxWidth = 32;
  Operation *op = value.getDefiningOp();
  unsigned width = getWidth(value.getType());
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) || width > kMaxWidth)
    return std::nullopt;
  std::optional<Form> whole = index.getForm(op->getOperand(0))
                                  .plus(index.getForm(op->getOperand(1)),
                                        isa<arith::AddIOp>(op) ? 1 : -1);
  Interval range = {0, llvm::maskTrailingOnes<uint64_t>(width)};
  bool isWithin = whole && isWithinAt(*whole, range, op);
  return isWithin ? whole : std::nullopt;
}

/// What `op` takes for an unsigned number: a sum or difference, unless that is
/// negative. Numbers of so many bits do not get larger by it than these hold.
SymbolicForm SymbolicTranslator::translateUnsigned(Operation *op) {
  constexpr unsigned kMaxWidth = 32;
  Value operand = op->getOperand(0);
  Operation *sum = operand.getDefiningOp();
  unsigned width = getWidth(operand.getType());
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(sum) || width > kMaxWidth)
    return index.makeOpaque(op->getResult(0));
  Form whole = index.add(index.getForm(sum->getOperand(0)),
                         index.getForm(sum->getOperand(1)),
                         isa<arith::AddIOp>(sum) ? 1 : -1, operand);
  return index.select(Condition::of(Condition::NonNegative, whole), whole,
                      index.makeOpaque(op->getResult(0)));
}

/// What `value` is as if sums and products did not wrap around: the same modulo
/// powers of two up to that of its width.
SymbolicForm SymbolicTranslator::getWrapping(Value value, unsigned depth) {
  constexpr unsigned kMaxChain = 8;
  Operation *op = value.getDefiningOp();
  if (depth == kMaxChain ||
      !isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp,
                       arith::TruncIOp, arith::IndexCastOp>(op) ||
      op->getOperand(0).getType().isInteger(1))
    return index.getForm(value);
  // Only where what comes in is at least as wide.
  if (isa<arith::TruncIOp, arith::IndexCastOp>(op))
    return getWidth(op->getOperand(0).getType()) >= getWidth(value.getType())
               ? getWrapping(op->getOperand(0), depth + 1)
               : index.getForm(value);
  Form lhs = getWrapping(op->getOperand(0), depth + 1);
  Form rhs = getWrapping(op->getOperand(1), depth + 1);
  if (isa<arith::MulIOp>(op))
    return index.multiply(lhs, rhs);
  return index.add(lhs, rhs, isa<arith::AddIOp>(op) ? 1 : -1, nullptr);
}

std::optional<SymbolicForm> SymbolicTranslator::getUnsigned(Value value) {
  Form form = index.getForm(value);
  if (isNonNegative(form))
    return form;
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? getUnsignedCount(argument) : getWhole(value);
}

} // namespace mlir::workgroup
