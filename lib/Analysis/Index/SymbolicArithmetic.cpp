//===- SymbolicArithmetic.cpp - Sums of multiples of atoms ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Integers/CheckedArithmetic.h"
#include "SymbolicIndex.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

using Range = Interval;

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

int64_t SymbolicForm::getFactor(const SymbolicAtom *atom) const {
  for (auto [candidate, factor] : terms)
    if (candidate == atom)
      return factor;
  return 0;
}

std::optional<SymbolicForm> SymbolicForm::plus(const SymbolicForm &other,
                                               int64_t factor) const {
  Number sum = addScaled(constant, other.constant, factor);
  if (!sum)
    return std::nullopt;
  SymbolicForm result(*sum);
  auto lhs = terms.begin(), rhs = other.terms.begin();
  while (lhs != terms.end() || rhs != other.terms.end()) {
    bool isLeft =
        rhs == other.terms.end() ||
        (lhs != terms.end() && lhs->first->number <= rhs->first->number);
    bool isRight =
        lhs == terms.end() ||
        (rhs != other.terms.end() && rhs->first->number <= lhs->first->number);
    Number scaled =
        addScaled(isLeft ? lhs->second : 0, isRight ? rhs->second : 0, factor);
    if (!scaled)
      return std::nullopt;
    if (*scaled != 0)
      result.terms.emplace_back(isLeft ? lhs->first : rhs->first, *scaled);
    lhs += isLeft;
    rhs += isRight;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

SymbolicCondition SymbolicCondition::of(Kind kind, SymbolicForm form) {
  SymbolicCondition result;
  result.kind = kind;
  if (form.isConstant()) {
    bool holds = kind == Zero ? form.constant == 0 : form.constant >= 0;
    result.kind = holds ? True : False;
    return result;
  }
  result.form = std::move(form);
  return result;
}

SymbolicCondition
SymbolicCondition::join(Kind kind, std::vector<SymbolicCondition> parts) {
  Kind neutral = kind == All ? True : False;
  Kind absorbing = kind == All ? False : True;
  SymbolicCondition result;
  result.kind = neutral;
  for (SymbolicCondition &part : parts) {
    if (part.kind == absorbing)
      return part;
    if (part.kind == kind)
      llvm::append_range(result.parts, part.parts);
    else if (part.kind != neutral)
      result.parts.push_back(std::move(part));
  }
  if (result.parts.size() == 1) {
    SymbolicCondition only = std::move(result.parts.front());
    return only;
  }
  if (!result.parts.empty())
    result.kind = kind;
  return result;
}

SymbolicCondition SymbolicCondition::negate() const {
  SymbolicCondition result;
  // -form - 1, or form - 1: what is not negative if `form` is below zero, or
  // above. Sums are limited so that this fits.
  auto negated = [](SymbolicForm form, int64_t sign) {
    form.constant = sign * form.constant - 1;
    for (auto &[atom, factor] : form.terms)
      factor *= sign;
    return form;
  };
  switch (kind) {
  case True:
    result.kind = False;
    return result;
  case False:
    return result;
  case NonNegative:
    return of(NonNegative, negated(form, -1));
  case Zero:
    return join(Any, {of(NonNegative, negated(form, -1)),
                      of(NonNegative, negated(form, 1))});
  case All:
  case Any:
    for (const SymbolicCondition &part : parts)
      result.parts.push_back(part.negate());
    return join(kind == All ? Any : All, std::move(result.parts));
  }
  llvm_unreachable("unknown condition");
}

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

/// Adds what the atoms of `form` are to what `atom` is.
static void inherit(SymbolicAtom &atom, const SymbolicForm &form) {
  for (auto [part, factor] : form.terms) {
    atom.isDivergent |= part->isDivergent;
    atom.isDivergentInWarp |= part->isDivergentInWarp;
    atom.isDivergentInGrid |= part->isDivergentInGrid;
    atom.isUnsteady |= part->isUnsteady;
    atom.isInput &= part->isInput;
    atom.isOfThread &= part->isOfThread;
    for (const KernelLoop *loop : part->loops)
      if (!llvm::is_contained(atom.loops, loop))
        atom.loops.push_back(loop);
  }
}

static void inherit(SymbolicAtom &atom, const SymbolicCondition &condition) {
  inherit(atom, condition.form);
  for (const SymbolicCondition &part : condition.parts)
    inherit(atom, part);
}

void SymbolicIndex::derive(SymbolicAtom &atom) {
  if (!atom.isLeaf()) {
    atom.isOfThread = true;
    for (const SymbolicForm &operand : atom.operands)
      inherit(atom, operand);
    inherit(atom, atom.condition);
  }
  if (atom.kind == SymbolicAtom::Total) {
    atom.loops.push_back(atom.loop);
    atom.isOfThread = false;
  }
  atom.range = deriveRange(atom);
}

static llvm::hash_code hashCondition(const SymbolicCondition &condition) {
  llvm::hash_code hash = llvm::hash_combine(condition.kind, condition.form);
  for (const SymbolicCondition &part : condition.parts)
    hash = llvm::hash_combine(hash, hashCondition(part));
  return hash;
}

const SymbolicAtom *SymbolicIndex::intern(SymbolicAtom atom) {
  // Functions are told apart by what they do, not by where they stand.
  const void *name =
      atom.op ? atom.op->getName().getAsOpaquePointer() : nullptr;
  size_t hash = llvm::hash_combine(
      atom.kind, atom.dim, atom.what, atom.loop,
      atom.value.getAsOpaquePointer(), name,
      llvm::hash_combine_range(atom.operands.begin(), atom.operands.end()),
      hashCondition(atom.condition));
  auto [begin, end] = interned.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const SymbolicAtom &other = *it->second;
    bool isSameFunction =
        (!atom.op && !other.op) ||
        (atom.op && other.op && atom.op->getName() == other.op->getName() &&
         atom.op->getResultTypes() == other.op->getResultTypes());
    // More may be taken for granted of a value than is known.
    bool isSameRange = atom.kind != SymbolicAtom::Opaque ||
                       (atom.range.min == other.range.min &&
                        atom.range.max == other.range.max);
    if (isSameRange && other.kind == atom.kind && other.dim == atom.dim &&
        other.what == atom.what && other.loop == atom.loop &&
        other.value == atom.value && isSameFunction &&
        other.operands == atom.operands && other.condition == atom.condition)
      return &other;
  }
  derive(atom);
  atom.number = atoms.size();
  atoms.push_back(std::make_unique<SymbolicAtom>(std::move(atom)));
  interned.emplace(hash, atoms.back().get());
  return atoms.back().get();
}

SymbolicForm SymbolicIndex::ofAtom(SymbolicAtom atom) {
  const SymbolicAtom *made = intern(std::move(atom));
  SymbolicForm form;
  if (made->range.min && made->range.min == made->range.max)
    form.constant = *made->range.min;
  else
    form.terms.emplace_back(made, 1);
  return form;
}

SymbolicForm SymbolicIndex::makeBinary(SymbolicAtom::Kind kind,
                                       const SymbolicForm &lhs,
                                       const SymbolicForm &rhs) {
  SymbolicAtom atom;
  atom.kind = kind;
  atom.operands = {lhs, rhs};
  return ofAtom(std::move(atom));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

SymbolicForm SymbolicIndex::add(const SymbolicForm &lhs,
                                const SymbolicForm &rhs, int64_t factor,
                                Value fallback) {
  std::optional<SymbolicForm> sum = lhs.plus(rhs, factor);
  return sum ? *sum : makeOpaque(fallback);
}

SymbolicForm SymbolicIndex::multiply(const SymbolicForm &lhs,
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

SymbolicForm SymbolicIndex::divide(const SymbolicForm &lhs,
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

SymbolicForm SymbolicIndex::remainder(const SymbolicForm &lhs,
                                      const SymbolicForm &divisor) {
  return add(lhs, multiply(divide(lhs, divisor), divisor), -1, nullptr);
}

/// True if `condition` is that `form`, which is not negative, is below `size`.
static bool isBelow(const SymbolicCondition &condition,
                    const SymbolicForm &form, int64_t size) {
  auto isUpper = [&](const SymbolicCondition &part) {
    std::optional<SymbolicForm> sum = part.form.plus(form);
    return part.kind == SymbolicCondition::NonNegative && sum &&
           *sum == SymbolicForm(size - 1);
  };
  auto isLower = [&](const SymbolicCondition &part) {
    return part.kind == SymbolicCondition::NonNegative && part.form == form;
  };
  if (condition.kind != SymbolicCondition::All)
    return isUpper(condition);
  return llvm::any_of(condition.parts, isUpper) &&
         llvm::all_of(condition.parts, [&](const SymbolicCondition &part) {
           return isUpper(part) || isLower(part);
         });
}

std::optional<SymbolicForm> matchWrapping(const SymbolicForm &lhs,
                                          const SymbolicForm &rhs,
                                          const SymbolicCondition &condition,
                                          int64_t &size) {
  std::optional<SymbolicForm> distance = lhs.plus(rhs, -1);
  if (!distance || !distance->isConstant() || distance->constant == 0)
    return std::nullopt;
  bool isFirst = distance->constant > 0;
  const SymbolicForm &number = isFirst ? lhs : rhs;
  size = std::abs(distance->constant);
  if (!isBelow(isFirst ? condition : condition.negate(), number, size))
    return std::nullopt;
  return number;
}

SymbolicForm SymbolicIndex::select(const SymbolicCondition &condition,
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
    Range range = getRange(rhs);
    if (size && size->isConstant() && size->constant > 0 &&
        range.isNonNegative() && range.max && *range.max <= size->constant)
      return remainder(rhs, *size);
  }
  int64_t size = 0;
  if (auto number = matchWrapping(lhs, rhs, condition, size)) {
    Range range = getRange(*number);
    if (range.isNonNegative() && range.max && *range.max < 2 * size)
      return remainder(*number, SymbolicForm(size));
  }
  SymbolicAtom atom;
  atom.kind = SymbolicAtom::Select;
  atom.operands = {lhs, rhs};
  atom.condition = condition;
  return ofAtom(std::move(atom));
}

SymbolicForm SymbolicIndex::getLinearThreadId() {
  SymbolicForm yz =
      add(makeThreadId(1), makeThreadId(2), *shape.sizes[1], nullptr);
  return add(makeThreadId(0), yz, *shape.sizes[0], nullptr);
}

SymbolicForm SymbolicIndex::getWarpId() {
  return divide(getLinearThreadId(), SymbolicForm(kWarpSize));
}

SymbolicForm SymbolicIndex::getLane() {
  return remainder(getLinearThreadId(), SymbolicForm(kWarpSize));
}

} // namespace mlir::workgroup
