//===- SymbolicForm.cpp - Sums of multiples of atoms ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Terms are sorted by the numbers of their atoms, so that sums are merged like
// lists. Nothing overflows: a number that gets too large is nothing.
//
//===----------------------------------------------------------------------===//

#include "SymbolicForm.h"
#include "Analysis/Integers/CheckedArithmetic.h"

namespace mlir::workgroup {

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

std::optional<SymbolicCondition> isBelowUnsigned(const SymbolicForm &lhs,
                                                 bool isLhsPlain,
                                                 const SymbolicForm &rhs,
                                                 bool isRhsPlain) {
  std::optional<SymbolicForm> difference = rhs.plus(lhs, -1);
  std::optional<SymbolicForm> distance =
      difference ? difference->plus(SymbolicForm(-1)) : std::nullopt;
  if (!distance || !(isLhsPlain || isRhsPlain))
    return std::nullopt;
  SymbolicCondition less =
      SymbolicCondition::of(SymbolicCondition::NonNegative, *distance);
  if (!isLhsPlain)
    return SymbolicCondition::join(
        SymbolicCondition::All,
        {less, SymbolicCondition::of(SymbolicCondition::NonNegative, lhs)});
  if (!isRhsPlain)
    return SymbolicCondition::join(
        SymbolicCondition::Any,
        {less,
         SymbolicCondition::of(SymbolicCondition::NonNegative, rhs).negate()});
  return less;
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

bool isIdBelow(const SymbolicAtom &id, const SymbolicAtom &size) {
  if (size.kind != SymbolicAtom::GridValue || size.dim != id.dim)
    return false;
  if (id.kind == SymbolicAtom::ThreadId)
    return size.what == SymbolicAtom::BlockSize;
  return id.kind == SymbolicAtom::GridValue &&
         id.what == SymbolicAtom::BlockId &&
         size.what == SymbolicAtom::GridSize;
}

} // namespace mlir::workgroup
