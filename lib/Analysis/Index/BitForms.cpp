//===- BitForms.cpp - From bitwise operations to forms --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all numbers of a form have in common, a power of two that they are
// multiples of, tells which bits are free for the other operand.
//
//===----------------------------------------------------------------------===//

#include "BitForms.h"
#include "Analysis/Integers/IntegerArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Form = SymbolicForm;

/// The largest power of two that all numbers of `form` are multiples of.
static int64_t getPowerOfTwo(const SymbolicForm &form) {
  uint64_t bits = uint64_t(form.constant);
  for (auto [atom, factor] : form.terms)
    bits |= uint64_t(factor);
  constexpr uint64_t kMost = uint64_t(1) << 61;
  return bits == 0 ? kMost : std::min(bits & -bits, kMost);
}

/// The same of what is not constant in it.
static int64_t getStep(SymbolicForm form) {
  form.constant = 0;
  return getPowerOfTwo(form);
}

/// Takes the bits below `step`, a power of two, from `form`; they are the same
/// in all its numbers.
static SymbolicForm takeLow(SymbolicForm &form, int64_t step) {
  int64_t low = form.constant & (step - 1);
  form.constant -= low;
  return SymbolicForm(low);
}

/// `form` / `factor`, which all its numbers are multiples of.
static SymbolicForm divideExactly(SymbolicForm form, int64_t factor) {
  form.constant /= factor;
  for (auto &[atom, times] : form.terms)
    times /= factor;
  return form;
}

/// Of `or` and `xor`: bits that one side has and the other has not are a sum.
SymbolicForm BitForms::translateMixture(Operation *op, Form lhs, Form rhs) {
  if (lhs.isConstant() && rhs.isConstant())
    return algebra.apply(op, lhs, rhs);
  int64_t common = std::min(getPowerOfTwo(lhs), getPowerOfTwo(rhs));
  if (common > 1)
    return algebra.multiply(translateMixture(op, divideExactly(lhs, common),
                                             divideExactly(rhs, common)),
                            Form(common));
  // Below what the other one is a multiple of, bits of the one stay.
  for (unsigned i = 0; i < 2; ++i) {
    std::swap(lhs, rhs);
    Form low = takeLow(lhs, std::min(getStep(lhs), getPowerOfTwo(rhs)));
    if (low.constant != 0)
      return algebra.add(translateMixture(op, lhs, rhs), low, 1, nullptr);
  }
  for (unsigned i = 0; i < 2; ++i) {
    std::swap(lhs, rhs);
    Interval range = getRange(rhs);
    if (!isNonNegative(rhs) || !range.max || *range.max >= getStep(lhs))
      continue;
    // Above what the other one reaches they do, too.
    int64_t mask = int64_t(llvm::bit_ceil(uint64_t(*range.max) + 1) - 1);
    Form high = lhs, low = takeLow(high, mask + 1);
    if (low.constant == 0)
      return algebra.add(lhs, rhs, 1, nullptr);
    if (low.constant == mask)
      return isa<arith::OrIOp>(op) ? lhs : algebra.add(lhs, rhs, -1, nullptr);
    return algebra.add(high, algebra.apply(op, low, rhs), 1, nullptr);
  }
  return algebra.apply(op, lhs, rhs);
}

SymbolicForm BitForms::translate(Operation *op) {
  Value value = op->getResult(0);
  if (value.getType().isInteger(1))
    return algebra.makeOpaque(value);
  Form lhs = values.getForm(op->getOperand(0));
  Form rhs = values.getForm(op->getOperand(1));
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) && lhs.isConstant() &&
      !rhs.isConstant())
    std::swap(lhs, rhs);
  bool isPower = rhs.isConstant() && rhs.constant >= 0 && rhs.constant < 62;
  if (isa<arith::ShLIOp>(op) && isPower)
    return algebra.multiply(lhs, Form(int64_t(1) << rhs.constant));
  if (isa<arith::ShRSIOp, arith::ShRUIOp>(op) && isPower &&
      (isa<arith::ShRSIOp>(op) || isNonNegative(lhs)))
    return algebra.divide(lhs, Form(int64_t(1) << rhs.constant));
  if (isa<arith::AndIOp>(op) && rhs.isConstant() && rhs.constant > 0 &&
      llvm::isShiftedMask_64(rhs.constant)) {
    bool isSecond = values.getForm(op->getOperand(1)).isConstant();
    Form whole = wraps.getWrapping(op->getOperand(isSecond ? 0 : 1));
    int64_t step = rhs.constant & -rhs.constant; // its lowest bit
    Form low = algebra.remainder(whole, Form(rhs.constant + step));
    // The bits below are left out.
    return step == 1 ? low
                     : algebra.add(low, algebra.remainder(whole, Form(step)),
                                   -1, value);
  }
  if (isa<arith::OrIOp, arith::XOrIOp>(op))
    return translateMixture(op, lhs, rhs);
  return algebra.apply(op, lhs, rhs);
}

} // namespace mlir::workgroup
