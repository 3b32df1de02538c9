//===- ExclusiveOrs.cpp - Equations of exclusive ors ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of the operands of an exclusive or, the key is the one with the lesser bound;
// the bits of the other one above that of the key are those of the result.
//
//===----------------------------------------------------------------------===//

#include "ExclusiveOrs.h"
#include "Analysis/Integers/CheckedArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Form = SymbolicForm;

//===----------------------------------------------------------------------===//
// Sides
//===----------------------------------------------------------------------===//

std::optional<ExclusiveOrs::Sides>
ExclusiveOrs::getSides(const Equation &equation) const {
  if (!equation.first.empty() || equation.terms.empty())
    return std::nullopt;
  Sides sides{{}, {}, equation.low, equation.high};
  bool isKnown = true;
  auto add = [&](Form &side, const Form &part, int64_t factor) {
    std::optional<Form> sum = side.plus(part, factor);
    isKnown &= sum.has_value();
    if (sum)
      side = std::move(*sum);
  };
  for (const auto &[variable, factor] : equation.terms) {
    Form part;
    if (variable.kind == Variable::Rest)
      part = system.remainders[variable.rest].form;
    else
      part.terms.emplace_back(variable.atom, 1);
    if (variable.kind != Variable::Second)
      add(sides.lhs, part, factor);
    if (variable.kind != Variable::First)
      add(sides.rhs, part,
          variable.kind == Variable::Second ? -factor : factor);
  }
  return isKnown ? std::optional(std::move(sides)) : std::nullopt;
}

/// Takes what all factors of the two sides have in common out of them.
void ExclusiveOrs::Sides::reduce() {
  int64_t common = 0;
  for (Form *side : {&lhs, &rhs})
    for (auto [atom, factor] : side->terms)
      common = std::gcd(common, factor);
  bool isPlain = lhs.constant == 0 && rhs.constant == 0;
  if (common <= 1 || !isPlain)
    return;
  for (Form *side : {&lhs, &rhs})
    for (auto &[atom, factor] : side->terms)
      factor /= common;
  low = llvm::divideCeilSigned(low, common);
  high = llvm::divideFloorSigned(high, common);
}

bool ExclusiveOrs::isRuledOut(const Equation &equation) const {
  std::optional<Sides> sides = getSides(equation);
  if (!sides)
    return false;
  sides->reduce();
  Interval first = system.bounds[0].getByFacts(sides->lhs);
  Interval second = system.bounds[1].getByFacts(sides->rhs);
  Number most = first.max && second.min ? addScaled(*first.max, *second.min, -1)
                                        : Number();
  Number least = first.min && second.max
                     ? addScaled(*first.min, *second.max, -1)
                     : Number();
  return (most && *most < sides->low) || (least && *least > sides->high);
}

//===----------------------------------------------------------------------===//
// Exclusive ors
//===----------------------------------------------------------------------===//

static bool isExclusiveOr(const Atom *atom) {
  return atom && isa_and_nonnull<arith::XOrIOp>(atom->op) &&
         atom->operands.size() == 2;
}

/// True if an exclusive or is part of `form`.
static bool hasExclusiveOr(const Form &form) {
  return llvm::any_of(form.terms, [](auto term) {
    return isExclusiveOr(term.first) ||
           llvm::any_of(term.first->operands, hasExclusiveOr);
  });
}

/// The exclusive or that `form` is.
static const Atom *getMixture(const Form &form) {
  bool isOne = form.constant == 0 && form.terms.size() == 1 &&
               form.terms.front().second == 1 &&
               isExclusiveOr(form.terms.front().first);
  return isOne ? form.terms.front().first : nullptr;
}

/// The least power of two that all numbers of `range` are below, if none is
/// negative, and that is not too large for a key.
static std::optional<int64_t> getBound(const Interval &range) {
  constexpr int64_t kMostKey = int64_t(1) << 30;
  if (!range.min || *range.min < 0 || !range.max || *range.max >= kMostKey)
    return std::nullopt;
  return int64_t(llvm::bit_ceil(uint64_t(*range.max) + 1));
}

/// Two numbers have the same bits from that of `above`, a power of two, on.
void ExclusiveOrs::addUpper(const Form &first, const Form &second,
                            int64_t above) {
  Form upper = system.index.divide(first, Form(above));
  Form other = system.index.divide(second, Form(above));
  if (!upper.isConstant() || !other.isConstant())
    system.add(upper, other, 0, 0);
}

/// Learns from exclusive ors that are equal, of one thread each.
/// Swizzles take no two elements of a row to one place: numbers are
/// equal if their keys are; and their bits above those of the keys are
/// in any case.
void ExclusiveOrs::learnMixture(const Atom *first, const Atom *second) {
  std::optional<int64_t> above;
  const Form *upper = nullptr, *otherUpper = nullptr, *ofUpper = nullptr;
  for (unsigned key = 0; key < 4; ++key) {
    const Form &ofFirst = first->operands[key % 2];
    const Form &ofSecond = second->operands[key / 2];
    const Form &lhs = first->operands[1 - key % 2];
    const Form &rhs = second->operands[1 - key / 2];
    if (ofFirst == ofSecond && system.isEqual(ofFirst)) {
      if (openedPairs.insert({first, second}).second)
        system.add(lhs, rhs, 0, 0);
      return;
    }
    std::optional<int64_t> bound = getBound(system.bounds[0].get(ofFirst));
    std::optional<int64_t> other = getBound(system.bounds[1].get(ofSecond));
    // The narrower the keys are, the more is left.
    if (!bound || !other || (above && *above <= std::max(*bound, *other)))
      continue;
    above = std::max(*bound, *other);
    upper = &lhs;
    otherUpper = &rhs;
    ofUpper = &ofFirst;
  }
  if (!above || !openedAbove.insert({first, second}).second)
    return;
  addUpper(*upper, *otherUpper, *above);
  // A key of such bits may be the same because of them.
  constexpr unsigned kMaxBits = 4;
  if (!hasExclusiveOr(*ofUpper))
    return;
  std::optional<int64_t> end = getBound(system.bounds[0].get(*upper));
  for (unsigned bit = 1; bit <= kMaxBits && end && *above << bit < *end; ++bit)
    addUpper(*upper, *otherUpper, *above << bit);
}

/// An exclusive or of the thread `side` is `sum` of the other one, or up to
/// `slack` more: its bits above those of the key are the number's.
void ExclusiveOrs::learnMixtureOfSum(const Atom *mixture, const Form &sum,
                                     int64_t slack, unsigned side) {
  std::optional<int64_t> above;
  const Form *number = nullptr;
  for (unsigned key = 0; key < 2; ++key) {
    auto bound = getBound(system.bounds[side].get(mixture->operands[key]));
    if (!bound || (above && *above <= *bound))
      continue;
    above = bound;
    number = &mixture->operands[1 - key];
  }
  if (!above || sum.terms.empty())
    return;
  // What is more must not carry over to the bits above.
  Interval below =
      system.bounds[1 - side].get(system.index.remainder(sum, Form(*above)));
  bool isKept = slack == 0 || (below.max && *below.max < *above - slack);
  if (!isKept || !openedAbove.insert({mixture, sum.terms.front().first}).second)
    return;
  if (side == 0)
    addUpper(*number, sum, *above);
  else
    addUpper(sum, *number, *above);
}

/// Learns from an exclusive or of the one thread that is one of the other, or a
/// sum: that is what one of bits that only the one side has is taken for.
void ExclusiveOrs::learn(const Sides &sides) {
  for (int64_t sign : {1, -1}) {
    std::optional<Form> lhs = Form().plus(sides.lhs, sign);
    std::optional<Form> rhs = Form().plus(sides.rhs, sign);
    int64_t low = sign == 1 ? sides.low : -sides.high;
    int64_t high = sign == 1 ? sides.high : -sides.low;
    if (!lhs || !rhs || low > high)
      return;
    const Atom *first = getMixture(*lhs), *second = getMixture(*rhs);
    if (first && second) {
      if (low == 0 && high == 0)
        learnMixture(first, second);
      continue;
    }
    if (auto least = first ? rhs->plus(Form(low)) : std::nullopt)
      learnMixtureOfSum(first, *least, high - low, 0);
    if (auto least = second ? lhs->plus(Form(-high)) : std::nullopt)
      learnMixtureOfSum(second, *least, high - low, 1);
  }
}

void ExclusiveOrs::learn() {
  for (const Atom *atom : llvm::to_vector(system.equal))
    if (isExclusiveOr(atom) &&
        !llvm::all_of(atom->operands,
                      [&](const Form &of) { return system.isEqual(of); }))
      learnMixture(atom, atom);
  for (size_t i = 0, e = system.equations.size(); i < e; ++i)
    if (auto sides = getSides(system.equations[i])) {
      sides->reduce();
      learn(*sides);
    }
}

} // namespace mlir::workgroup
