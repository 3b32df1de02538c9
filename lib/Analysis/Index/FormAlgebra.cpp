//===- FormAlgebra.cpp - Arithmetic of forms ------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A quotient is taken apart into multiples of the divisor, and a rest that
// ranges may show to be below it.
//
//===----------------------------------------------------------------------===//

#include "FormAlgebra.h"
#include "Analysis/Integers/CheckedArithmetic.h"
#include "Analysis/Integers/IntegerArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

SymbolicForm FormAlgebra::makeBinary(SymbolicAtom::Kind kind,
                                     const SymbolicForm &lhs,
                                     const SymbolicForm &rhs) {
  SymbolicAtom atom;
  atom.kind = kind;
  atom.operands = {lhs, rhs};
  return ofAtom(std::move(atom));
}

SymbolicForm FormAlgebra::add(const SymbolicForm &lhs, const SymbolicForm &rhs,
                              int64_t factor, Value fallback) {
  std::optional<SymbolicForm> sum = lhs.plus(rhs, factor);
  return sum ? *sum : makeOpaque(fallback);
}

SymbolicForm FormAlgebra::multiply(const SymbolicForm &lhs,
                                   const SymbolicForm &rhs) {
  if (lhs.isConstant())
    return add(SymbolicForm(), rhs, lhs.constant, nullptr);
  if (rhs.isConstant())
    return add(SymbolicForm(), lhs, rhs.constant, nullptr);
  // Powers of sums have no end.
  constexpr size_t kMaxTerms = 64;
  if (lhs.terms.size() * rhs.terms.size() > kMaxTerms)
    return makeOpaque(nullptr);
  SymbolicForm product = add(SymbolicForm(), rhs, lhs.constant, nullptr);
  for (auto [left, leftFactor] : lhs.terms) {
    SymbolicForm part;
    part.terms.emplace_back(left, rhs.constant);
    if (rhs.constant != 0)
      product = add(product, part, leftFactor, nullptr);
    for (auto [right, rightFactor] : rhs.terms) {
      SymbolicForm operands[2];
      bool isOrdered = left->number <= right->number;
      operands[0].terms.emplace_back(isOrdered ? left : right, 1);
      operands[1].terms.emplace_back(isOrdered ? right : left, 1);
      SymbolicForm atom =
          makeBinary(SymbolicAtom::Product, operands[0], operands[1]);
      Number factor = addScaled(0, leftFactor, rightFactor);
      product =
          factor ? add(product, atom, *factor, nullptr) : makeOpaque(nullptr);
    }
  }
  return product;
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// What is left of `form` if its multiples of `divisor`, which are added to
/// `quotient`, are taken away.
static SymbolicForm splitMultiples(const SymbolicForm &form, int64_t divisor,
                                   SymbolicForm &quotient) {
  SymbolicForm rest;
  quotient.constant = llvm::divideFloorSigned(form.constant, divisor);
  rest.constant = form.constant - quotient.constant * divisor;
  for (auto [atom, factor] : form.terms) {
    // Of a factor that is more than the divisor, the rest counts: a remainder
    // does not change by multiples.
    int64_t times = llvm::divideFloorSigned(factor, divisor);
    if (factor % divisor != 0)
      times = 0;
    if (times != 0)
      quotient.terms.emplace_back(atom, times);
    else
      rest.terms.emplace_back(atom, factor);
  }
  return rest;
}

/// Puts quotients of what is in `rest` back from `quotient`, from which they
/// were taken as multiples of `divisor`: they may be parts of remainders in it.
static void returnRemainders(SymbolicForm &rest, int64_t divisor,
                             SymbolicForm &quotient) {
  SymbolicForm parts;
  for (auto [atom, times] : quotient.terms)
    if (atom->kind == SymbolicAtom::Quotient &&
        llvm::any_of(atom->operands[0].terms, [&](auto term) {
          return rest.getFactor(term.first) != 0;
        }))
      parts.terms.emplace_back(atom, times);
  std::optional<SymbolicForm> more = rest.plus(parts, divisor);
  std::optional<SymbolicForm> less = quotient.plus(parts, -1);
  if (!more || !less)
    return;
  rest = std::move(*more);
  quotient = std::move(*less);
}

/// Divides both sides by what they have in common.
static void reduce(SymbolicForm &form, int64_t &divisor) {
  int64_t common = divisor;
  for (auto [atom, factor] : form.terms)
    common = std::gcd(common, factor);
  divisor /= common;
  form.constant = llvm::divideFloorSigned(form.constant, common);
  for (auto &[atom, factor] : form.terms)
    factor /= common;
}

/// True if all of `range` is from 0 to below `size`.
static bool isBelow(const Interval &range, int64_t size) {
  return range.isNonNegative() && range.max && *range.max < size;
}

SymbolicForm FormAlgebra::divide(const SymbolicForm &lhs,
                                 const SymbolicForm &divisor) {
  if (!divisor.isConstant() || divisor.constant <= 0)
    return makeBinary(SymbolicAtom::Quotient, lhs, divisor);
  int64_t by = divisor.constant;
  SymbolicForm quotient;
  SymbolicForm rest = splitMultiples(lhs, by, quotient);
  SymbolicForm around = quotient, between = rest;
  returnRemainders(between, by, around);
  if (isBelow(getRange(between), by))
    return around;
  reduce(rest, by);
  if (isBelow(getRange(rest), by))
    return quotient;
  // A quotient of a quotient is one by the product.
  if (rest.constant == 0 && rest.terms.size() == 1 &&
      rest.terms.front().second == 1) {
    const SymbolicAtom *inner = rest.terms.front().first;
    if (inner->kind == SymbolicAtom::Quotient &&
        inner->operands[1].isConstant())
      if (Number product = addScaled(0, by, inner->operands[1].constant))
        return add(quotient, divide(inner->operands[0], *product), 1, nullptr);
  }
  return add(quotient,
             makeBinary(SymbolicAtom::Quotient, rest, SymbolicForm(by)), 1,
             nullptr);
}

SymbolicForm FormAlgebra::remainder(const SymbolicForm &lhs,
                                    const SymbolicForm &divisor) {
  return add(lhs, multiply(divide(lhs, divisor), divisor), -1, nullptr);
}

SymbolicForm FormAlgebra::shift(int64_t number, const SymbolicForm &bits) {
  if (bits.isConstant())
    return number >> std::clamp<int64_t>(bits.constant, 0, 63);
  return makeBinary(SymbolicAtom::Shift, SymbolicForm(number), bits);
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

SymbolicForm FormAlgebra::makeExtremum(bool isMinimum, const SymbolicForm &lhs,
                                       const SymbolicForm &rhs) {
  Interval left = getRange(lhs), right = getRange(rhs);
  if (left.max && right.min && *left.max <= *right.min)
    return isMinimum ? lhs : rhs;
  if (right.max && left.min && *right.max <= *left.min)
    return isMinimum ? rhs : lhs;
  if (lhs == rhs)
    return lhs;
  return makeBinary(isMinimum ? SymbolicAtom::Minimum : SymbolicAtom::Maximum,
                    lhs, rhs);
}

SymbolicForm FormAlgebra::select(const SymbolicCondition &condition,
                                 const SymbolicForm &lhs,
                                 const SymbolicForm &rhs) {
  if (condition.kind == SymbolicCondition::True || lhs == rhs)
    return lhs;
  if (condition.kind == SymbolicCondition::False)
    return rhs;
  // A number that starts again at zero: `x == n ? 0 : x`.
  bool isEnd = condition.kind == SymbolicCondition::Zero ||
               condition.kind == SymbolicCondition::NonNegative;
  if (isEnd && lhs == SymbolicForm(0)) {
    std::optional<SymbolicForm> size = rhs.plus(condition.form, -1);
    Interval range = getRange(rhs);
    if (size && size->isConstant() && size->constant > 0 &&
        range.isNonNegative() && range.max && *range.max <= size->constant)
      return remainder(rhs, *size);
  }
  int64_t size = 0;
  if (auto number = matchWrapping(lhs, rhs, condition, size)) {
    Interval range = getRange(*number);
    if (range.isNonNegative() && range.max && *range.max < 2 * size)
      return remainder(*number, SymbolicForm(size));
  }
  SymbolicAtom atom;
  atom.kind = SymbolicAtom::Select;
  atom.operands = {lhs, rhs};
  atom.condition = condition;
  return ofAtom(std::move(atom));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

SymbolicForm FormAlgebra::makeConstant(const APInt &number, Value value) {
  constexpr unsigned kMaxBits = 62;
  return number.isSignedIntN(kMaxBits) ? SymbolicForm(number.getSExtValue())
                                       : makeOpaque(value);
}

SymbolicForm FormAlgebra::getLinearThreadId() {
  SymbolicForm yz =
      add(getThreadId(1), getThreadId(2), *getShape().sizes[1], nullptr);
  return add(getThreadId(0), yz, *getShape().sizes[0], nullptr);
}

SymbolicForm FormAlgebra::getWarpId() {
  return divide(getLinearThreadId(), SymbolicForm(kWarpSize));
}

SymbolicForm FormAlgebra::getLane() {
  return remainder(getLinearThreadId(), SymbolicForm(kWarpSize));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Any order of forms that is the same in each run.
static bool comesBefore(const SymbolicForm &lhs, const SymbolicForm &rhs) {
  if (lhs.constant != rhs.constant)
    return lhs.constant < rhs.constant;
  return std::lexicographical_compare(
      lhs.terms.begin(), lhs.terms.end(), rhs.terms.begin(), rhs.terms.end(),
      [](auto left, auto right) {
        return std::pair(left.first->number, left.second) <
               std::pair(right.first->number, right.second);
      });
}

SymbolicForm FormAlgebra::apply(Operation *op, const Form &lhs,
                                const Form &rhs) {
  BinaryFn fn = getBinaryFn(op);
  Value value = op->getResult(0);
  unsigned width = getWidth(value.getType());
  if (!fn || width == 0)
    return makeOpaque(value);
  if (lhs.isConstant() && rhs.isConstant()) {
    Number number = fn(lhs.constant, rhs.constant, width);
    return number ? makeConstant(APInt(64, wrap(*number, width), true), value)
                  : makeOpaque(value);
  }
  Atom atom;
  atom.kind = Atom::Function;
  atom.op = op;
  atom.operands = {lhs, rhs};
  bool isSymmetric = isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
  if (isSymmetric && comesBefore(rhs, lhs))
    std::swap(atom.operands[0], atom.operands[1]);
  return ofAtom(std::move(atom));
}

} // namespace mlir::workgroup
