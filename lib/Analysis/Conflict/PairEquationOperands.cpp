//===- PairEquationOperands.cpp - From what is equal to its operands ------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Integers/CheckedArithmetic.h"
#include "PairEquations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Form = SymbolicForm;

/// True if `atom` is a quotient of another one, by a multiple of its divisor,
/// which is equal; or of the other one and multiples of its divisor.
bool PairEquations::isOfEqualQuotient(const Atom *atom) {
  auto getDivisor = [](const Atom *quotient) {
    bool isKnown =
        quotient->kind == Atom::Quotient && quotient->operands[1].isConstant();
    return isKnown ? std::max<int64_t>(quotient->operands[1].constant, 0) : 0;
  };
  int64_t divisor = getDivisor(atom);
  if (divisor == 0)
    return false;
  for (const Atom *finer : llvm::to_vector(equal)) {
    int64_t by = getDivisor(finer);
    if (by == 0 || divisor % by != 0)
      continue;
    std::optional<Form> rest = atom->operands[0].plus(finer->operands[0], -1);
    auto isMultiple = [&](auto term) { return term.second % by == 0; };
    if (rest && rest->constant % by == 0 &&
        llvm::all_of(rest->terms, isMultiple) && isEqual(*rest))
      return true;
  }
  return false;
}

/// True if `atom` is the unsigned quotient by a number that conditions say
/// to be positive, and the rest of that division is equal.
bool PairEquations::hasEqualRest(const Atom *atom) const {
  auto isPositive = [&](const GuardedRanges &ofSide) {
    Interval range = ofSide.get(atom->operands[1]);
    return range.min && *range.min > 0;
  };
  return isa_and_nonnull<arith::DivUIOp>(atom->op) &&
         llvm::all_of(bounds, isPositive) &&
         llvm::any_of(equal, [&](const Atom *rest) {
           return isa_and_nonnull<arith::RemUIOp>(rest->op) &&
                  rest->op->getResultTypes() == atom->op->getResultTypes() &&
                  rest->operands == atom->operands;
         });
}

/// What conditions say `form` to be.
static std::optional<int64_t> getSaid(const Form &form,
                                      const GuardedRanges &bounds) {
  std::optional<int64_t> least, most;
  for (const Form &fact : bounds.getFacts()) { // is not negative
    std::optional<Form> rest = form.plus(fact, -1), sum = form.plus(fact, 1);
    if (rest && rest->isConstant())
      least = std::max(least.value_or(rest->constant), rest->constant);
    if (sum && sum->isConstant())
      most = std::min(most.value_or(sum->constant), sum->constant);
  }
  return least == most ? least : std::nullopt;
}

/// True if conditions say that the rest of a division has one value for both.
bool PairEquations::hasSaidRest(const Atom *atom) const {
  if (atom->kind != Atom::Quotient || !atom->operands[1].isConstant())
    return false;
  Form self;
  self.terms.emplace_back(atom, 1);
  std::optional<Form> rest =
      atom->operands[0].plus(index.multiply(self, atom->operands[1]), -1);
  std::optional<int64_t> first =
      rest ? getSaid(*rest, bounds[0]) : std::nullopt;
  return first && first == getSaid(*rest, bounds[1]);
}

/// Two numbers are equal if their quotients and remainders by the same number
/// are.
void PairEquations::learnOperands() {
  for (const Atom *atom : llvm::to_vector(equal))
    if (atom->operands.size() == 2 && isEqual(atom->operands[1]) &&
        !isEqual(atom->operands[0]) &&
        (hasEqualRest(atom) || hasSaidRest(atom)) && opened.insert(atom).second)
      equations.push_back(makeEquation(atom->operands[0], atom->operands[0]));
}

static bool isExclusiveOr(const Atom *atom) {
  return atom && isa_and_nonnull<arith::XOrIOp>(atom->op) &&
         atom->operands.size() == 2;
}

/// The least power of two that all numbers of `range` are below, if none is
/// negative, and that is not too large for a key.
static std::optional<int64_t> getBound(const Interval &range) {
  constexpr int64_t kMostKey = int64_t(1) << 30;
  if (!range.min || *range.min < 0 || !range.max || *range.max >= kMostKey)
    return std::nullopt;
  return int64_t(llvm::bit_ceil(uint64_t(*range.max) + 1));
}

/// Learns from exclusive ors that are equal, of one thread each. Swizzles take
/// no two elements of a row to one place: numbers are equal if their keys are;
/// and their bits above those of the keys are in any case.
void PairEquations::learnMixture(const Atom *first, const Atom *second) {
  std::optional<int64_t> above;
  const Form *upper = nullptr, *otherUpper = nullptr;
  for (unsigned key = 0; key < 4; ++key) {
    const Form &ofFirst = first->operands[key % 2];
    const Form &ofSecond = second->operands[key / 2];
    const Form &lhs = first->operands[1 - key % 2];
    const Form &rhs = second->operands[1 - key / 2];
    if (ofFirst == ofSecond && isEqual(ofFirst)) {
      if (openedPairs.insert({first, second}).second)
        add(lhs, rhs, 0, 0);
      return;
    }
    std::optional<int64_t> bound = getBound(bounds[0].get(ofFirst));
    std::optional<int64_t> other = getBound(bounds[1].get(ofSecond));
    // The narrower the keys are, the more is left.
    if (!bound || !other || (above && *above <= std::max(*bound, *other)))
      continue;
    above = std::max(*bound, *other);
    upper = &lhs;
    otherUpper = &rhs;
  }
  if (above && openedAbove.insert({first, second}).second)
    addUpper(*upper, *otherUpper, *above);
}

/// Two numbers have the same bits from that of `above`, a power of two, on.
void PairEquations::addUpper(const Form &first, const Form &second,
                             int64_t above) {
  Form upper = index.divide(first, Form(above));
  Form other = index.divide(second, Form(above));
  if (!upper.isConstant() || !other.isConstant())
    add(upper, other, 0, 0);
}

/// An exclusive or of the thread `side` is `sum` of the other one, or up to
/// `slack` more: its bits above those of the key are the number's.
void PairEquations::learnMixtureOfSum(const Atom *mixture, const Form &sum,
                                      int64_t slack, unsigned side) {
  std::optional<int64_t> above;
  const Form *number = nullptr;
  for (unsigned key = 0; key < 2; ++key) {
    auto bound = getBound(bounds[side].get(mixture->operands[key]));
    if (!bound || (above && *above <= *bound))
      continue;
    above = bound;
    number = &mixture->operands[1 - key];
  }
  if (!above || sum.terms.empty())
    return;
  // What is more must not carry over to the bits above.
  Interval below = bounds[1 - side].get(index.remainder(sum, Form(*above)));
  bool isKept = slack == 0 || (below.max && *below.max < *above - slack);
  if (!isKept || !openedAbove.insert({mixture, sum.terms.front().first}).second)
    return;
  if (side == 0)
    addUpper(*number, sum, *above);
  else
    addUpper(sum, *number, *above);
}

/// What an equation says of the first thread and of the second one: lhs - rhs
/// is from `low` to `high`.
struct PairEquations::Sides {
  Form lhs, rhs;
  int64_t low, high;

  void reduce();
};

std::optional<PairEquations::Sides>
PairEquations::getSides(const Equation &equation) const {
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
      part = remainders[variable.rest].form;
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
void PairEquations::Sides::reduce() {
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

/// True if conditions keep the two sides of an equation apart.
bool PairEquations::isRuledOut(const Equation &equation) const {
  std::optional<Sides> sides = getSides(equation);
  if (!sides)
    return false;
  sides->reduce();
  Interval first = bounds[0].getByFacts(sides->lhs);
  Interval second = bounds[1].getByFacts(sides->rhs);
  Number most = first.max && second.min ? addScaled(*first.max, *second.min, -1)
                                        : Number();
  Number least = first.min && second.max
                     ? addScaled(*first.min, *second.max, -1)
                     : Number();
  return (most && *most < sides->low) || (least && *least > sides->high);
}

/// The exclusive or that `form` is.
static const Atom *getMixture(const Form &form) {
  bool isOne = form.constant == 0 && form.terms.size() == 1 &&
               form.terms.front().second == 1 &&
               isExclusiveOr(form.terms.front().first);
  return isOne ? form.terms.front().first : nullptr;
}

/// Learns from an exclusive or of the one thread that is one of the other, or a
/// sum: that is what one of bits that only the one side has is taken for.
void PairEquations::learnMixtures(const Sides &sides) {
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

void PairEquations::learnMixtures() {
  for (const Atom *atom : llvm::to_vector(equal))
    if (isExclusiveOr(atom) &&
        !llvm::all_of(atom->operands,
                      [&](const Form &of) { return isEqual(of); }))
      learnMixture(atom, atom);
  for (size_t i = 0, e = equations.size(); i < e; ++i)
    if (auto sides = getSides(equations[i])) {
      sides->reduce();
      learnMixtures(*sides);
    }
}

} // namespace mlir::workgroup
