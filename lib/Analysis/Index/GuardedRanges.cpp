//===- GuardedRanges.cpp - What conditions say of single numbers ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GuardedRanges.h"
#include "Analysis/Integers/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Form = SymbolicForm;
using Range = Interval;

/// The least that is not negative if `form` is not: of a sum of multiples, the
/// constant is one, too. From 8 * n >= 63 follows 8 * n >= 64.
static Form tighten(Form form) {
  int64_t common = 0;
  for (auto [_, factor] : form.terms)
    common = std::gcd(common, factor);
  if (common > 1)
    form.constant = llvm::divideFloorSigned(form.constant, common) * common;
  return form;
}

/// Says that `given` is not negative, and so what it is with more in it: of
/// several numbers, each is no less than the least of them.
void GuardedRanges::addFact(const Form &given) {
  Form form = tighten(given);
  isNew = true;
  ++version;
  facts.push_back(form);
  for (auto [atom, factor] : form.terms) {
    bool isLess = (atom->kind == Atom::Minimum && factor > 0) ||
                  (atom->kind == Atom::Maximum && factor < 0);
    if (!isLess)
      continue;
    Form self;
    self.terms.emplace_back(atom, 1);
    std::optional<Form> rest = form.plus(self, -factor);
    for (const Form &operand : atom->operands)
      if (std::optional<Form> more =
              rest ? rest->plus(operand, factor) : std::nullopt;
          more && !more->isConstant())
        facts.push_back(std::move(*more));
  }
}

void GuardedRanges::add(const SymbolicCondition &condition) {
  switch (condition.kind) {
  case SymbolicCondition::All:
    for (const SymbolicCondition &part : condition.parts)
      add(part);
    return;
  case SymbolicCondition::Zero:
    if (std::optional<Form> negated = Form().plus(condition.form, -1))
      addFact(*negated);
    [[fallthrough]];
  case SymbolicCondition::NonNegative:
    addFact(condition.form);
    add(condition.form);
    return;
  default:
    return; // one of several cases, or nothing
  }
}

void GuardedRanges::add(const Form &form) {
  for (auto [atom, factor] : form.terms)
    if (atoms.try_emplace(atom->number, atom).second) {
      isNew = true;
      for (const Form &operand : atom->operands)
        add(operand);
    }
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

Range GuardedRanges::get(const Atom *atom) const {
  auto it = ranges.find(atom->number);
  return it == ranges.end() ? atom->range : it->second;
}

Range GuardedRanges::get(const Form &form) const {
  Range known = getRange(form);
  if (ranges.empty()) // that of the sum is what was asked for
    return known;
  Number low = form.constant, high = form.constant;
  for (auto [atom, factor] : form.terms) {
    Range range = get(atom);
    Number least = factor > 0 ? range.min : range.max;
    Number most = factor > 0 ? range.max : range.min;
    low = low && least ? addScaled(*low, *least, factor) : Number();
    high = high && most ? addScaled(*high, *most, factor) : Number();
  }
  if (low && (!known.min || *known.min < *low))
    known.min = low;
  if (high && (!known.max || *known.max > *high))
    known.max = high;
  return known;
}

/// The range of `form` by its atoms, and by single facts that are multiples of
/// parts of it: 4 * q + i, where i < n - 4 * q, is less than n.
Range GuardedRanges::getByFacts(const Form &form) const {
  Range range = get(form);
  auto raise = [&](Number least) {
    if (least && (!range.min || *range.min < *least))
      range.min = least;
  };
  auto lower = [&](Number most) {
    if (most && (!range.max || *range.max > *most))
      range.max = most;
  };
  for (const Form &fact : facts) {
    auto *lead = llvm::find_if(
        fact.terms, [&](auto term) { return form.getFactor(term.first) != 0; });
    if (lead == fact.terms.end())
      continue;
    int64_t ofForm = form.getFactor(lead->first), ofFact = lead->second;
    if (ofForm % ofFact == 0) { // form = times * fact + rest
      int64_t times = ofForm / ofFact;
      std::optional<Form> rest = form.plus(fact, -times);
      if (rest && times > 0)
        raise(get(*rest).min);
      else if (rest)
        lower(get(*rest).max);
    } else if (ofFact % ofForm == 0) { // fact = times * form + rest
      int64_t times = ofFact / ofForm;
      std::optional<Form> rest = fact.plus(form, -times);
      Number most = rest ? get(*rest).max : Number();
      Number least = most ? addScaled(0, *most, -1) : Number();
      if (least && times > 0)
        raise(llvm::divideCeilSigned(*least, times));
      else if (least)
        lower(llvm::divideFloorSigned(*least, times));
    }
  }
  return range;
}

void GuardedRanges::raise(const Atom *atom, int64_t least) {
  Range range = get(atom);
  if (range.min && *range.min >= least)
    return;
  range.min = least;
  ranges[atom->number] = range;
  ++version;
  hasChanged = true;
}

void GuardedRanges::lower(const Atom *atom, int64_t most) {
  Range range = get(atom);
  if (range.max && *range.max <= most)
    return;
  range.max = most;
  ranges[atom->number] = range;
  ++version;
  hasChanged = true;
}

void GuardedRanges::narrow(const Atom *atom, const Range &range) {
  if (range.min)
    raise(atom, *range.min);
  if (range.max)
    lower(atom, *range.max);
}

bool GuardedRanges::limit(const Atom *atom, const Range &range) {
  bool before = std::exchange(hasChanged, false);
  narrow(atom, range);
  isNew |= hasChanged;
  return std::exchange(hasChanged, before);
}

/// `form` is `least` or more: so each atom is what the others leave to it.
void GuardedRanges::boundBelow(const Form &form, int64_t least) {
  for (auto [atom, factor] : form.terms) {
    Form others = form;
    llvm::erase_if(others.terms,
                   [&, atom = atom](auto term) { return term.first == atom; });
    Range range = get(others);
    Number left = range.max ? addScaled(least, *range.max, -1) : Number();
    if (!left)
      continue;
    if (factor > 0)
      raise(atom, llvm::divideCeilSigned(*left, factor));
    else
      lower(atom, llvm::divideFloorSigned(*left, factor));
  }
}

void GuardedRanges::boundAbove(const Form &form, int64_t most) {
  if (std::optional<Form> negated = Form().plus(form, -1))
    boundBelow(*negated, -most);
}

//===----------------------------------------------------------------------===//
// What atoms are made of
//===----------------------------------------------------------------------===//

/// The factor of `divisor`, one atom, in each term of `product`, as a form;
/// nothing if some term does not have it.
static std::optional<Form> divideExactly(const Form &product,
                                         const Atom *divisor) {
  if (product.constant != 0)
    return std::nullopt;
  std::optional<Form> quotient = Form();
  for (auto [atom, factor] : product.terms) {
    Form part;
    if (atom == divisor) {
      part.constant = factor;
    } else {
      if (atom->kind != Atom::Product)
        return std::nullopt;
      Form self;
      self.terms.emplace_back(divisor, 1);
      unsigned other = atom->operands[0] == self ? 1 : 0;
      if (atom->operands[1 - other] != self)
        return std::nullopt;
      std::optional<Form> scaled = Form().plus(atom->operands[other], factor);
      if (!scaled)
        return std::nullopt;
      part = std::move(*scaled);
    }
    quotient = quotient->plus(part);
    if (!quotient)
      return std::nullopt;
  }
  return quotient;
}

/// n < r * c, where `below` is r * c - n - 1, and the quotient is that of n by
/// a multiple of c, which is positive.
void GuardedRanges::boundByProduct(const Atom *quotient, const Form &below) {
  const Form &divisor = quotient->operands[1];
  std::optional<Form> product = below.plus(quotient->operands[0]);
  if (product)
    product = product->plus(Form(1));
  if (!product)
    return;
  std::optional<Form> rows =
      divideExactly(*product, divisor.terms.front().first);
  Range range = rows ? get(*rows) : Range();
  if (range.max)
    lower(quotient, llvm::divideFloorSigned(*range.max - 1,
                                            divisor.terms.front().second));
}

void GuardedRanges::boundQuotient(const Atom *atom) {
  const Form &divisor = atom->operands[1];
  Range by = get(divisor);
  if (divisor.isConstant() && divisor.constant > 0) {
    Range dividend = getByFacts(atom->operands[0]);
    if (dividend.min)
      raise(atom, llvm::divideFloorSigned(*dividend.min, divisor.constant));
    if (dividend.max)
      lower(atom, llvm::divideFloorSigned(*dividend.max, divisor.constant));
    return;
  }
  bool isPlain = divisor.constant == 0 && divisor.terms.size() == 1 &&
                 divisor.terms.front().second > 0;
  if (!isPlain || !by.min || *by.min <= 0)
    return;
  for (const Form &fact : facts)
    boundByProduct(atom, fact);
}

/// Takes what is known of an atom to what it is made of, and back.
void GuardedRanges::derive(const Atom *atom) {
  Range range = get(atom);
  switch (atom->kind) {
  case Atom::Quotient:
    return boundQuotient(atom);
  case Atom::Function:
    if (atom->operands.size() == 2)
      narrow(atom, getRangeOfFunction(atom->op, getByFacts(atom->operands[0]),
                                      getByFacts(atom->operands[1])));
    return;
  case Atom::Minimum:
    for (const Form &operand : atom->operands) {
      if (range.min)
        boundBelow(operand, *range.min);
      if (Range part = get(operand); part.max)
        lower(atom, *part.max);
    }
    return;
  case Atom::Maximum:
    for (unsigned i = 0; i < 2; ++i) {
      if (range.max)
        boundAbove(atom->operands[i], *range.max);
      // It is the one if it is more than the other may be.
      Range other = get(atom->operands[1 - i]);
      if (range.min && other.max && *other.max < *range.min)
        boundBelow(atom->operands[i], *range.min);
    }
    return;
  case Atom::Product: {
    Range lhs = get(atom->operands[0]), rhs = get(atom->operands[1]);
    bool isLeftPlain = lhs.min && *lhs.min >= 0;
    bool isRightPlain = rhs.min && *rhs.min >= 0;
    bool isPlain = isLeftPlain && isRightPlain;
    // Both are positive if one is not negative.
    if ((isLeftPlain || isRightPlain) && range.min && *range.min > 0)
      for (const Form &operand : atom->operands)
        boundBelow(operand, 1);
    if (isPlain && lhs.max && rhs.max)
      if (Number most = addScaled(0, *lhs.max, *rhs.max))
        lower(atom, *most);
    return;
  }
  default:
    return;
  }
}

/// Adds sums of two facts in which something cancels: what lies between two
/// numbers says how far apart they are.
void GuardedRanges::combine() {
  constexpr size_t kMaxFacts = 16;
  size_t numFacts = std::min(facts.size(), kMaxFacts);
  for (size_t i = 0; i < numFacts; ++i)
    for (size_t j = 0; j < i; ++j) {
      std::optional<Form> sum = facts[i].plus(facts[j]);
      if (sum && !sum->terms.empty() &&
          sum->terms.size() <
              std::min(facts[i].terms.size(), facts[j].terms.size())) {
        facts.push_back(std::move(*sum));
        ++version;
        isNew = true;
      }
    }
}

void GuardedRanges::propagate() {
  constexpr unsigned kMaxRounds = 4;
  hasChanged = std::exchange(isNew, false) && !facts.empty();
  for (unsigned round = 0; round < kMaxRounds && hasChanged; ++round) {
    hasChanged = false;
    for (const Form &fact : facts)
      boundBelow(fact, 0);
    for (auto [number, atom] : atoms)
      derive(atom);
  }
}

} // namespace mlir::workgroup
