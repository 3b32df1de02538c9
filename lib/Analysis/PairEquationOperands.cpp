//===- PairEquationOperands.cpp - From what is equal to its operands ------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PairEquations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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
  auto isPositive = [&](const AtomBounds &ofSide) {
    SymbolicRange range = ofSide.get(atom->operands[1]);
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
                                      const AtomBounds &bounds) {
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

/// Learns from exclusive ors that are equal, of one thread each. Swizzles take
/// no two elements of a row to one place: numbers are equal if their keys are;
/// and their bits above those of the keys are in any case.
void PairEquations::learnMixture(const Atom *first, const Atom *second) {
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
    SymbolicRange range = bounds[0].get(ofFirst);
    SymbolicRange other = bounds[1].get(ofSecond);
    constexpr int64_t kMostKey = int64_t(1) << 30;
    if (!range.min || *range.min < 0 || !other.min || *other.min < 0 ||
        !range.max || *range.max >= kMostKey || !other.max ||
        *other.max >= kMostKey)
      continue;
    Form above(llvm::bit_ceil(uint64_t(std::max(*range.max, *other.max)) + 1));
    Form upper = index.divide(lhs, above),
         otherUpper = index.divide(rhs, above);
    if ((!upper.isConstant() || !otherUpper.isConstant()) &&
        openedAbove.insert({first, second}).second)
      add(upper, otherUpper, 0, 0);
  }
}

void PairEquations::learnMixtures() {
  for (const Atom *atom : llvm::to_vector(equal))
    if (isExclusiveOr(atom) &&
        !llvm::all_of(atom->operands,
                      [&](const Form &of) { return isEqual(of); }))
      learnMixture(atom, atom);
  for (size_t i = 0, e = equations.size(); i < e; ++i) {
    const Equation &equation = equations[i];
    if (!equation.isZero() || !equation.first.empty() ||
        equation.terms.size() != 2)
      continue;
    auto [first, factor] = equation.terms[0];
    auto [second, otherFactor] = equation.terms[1];
    if (first.kind == Variable::First && second.kind == Variable::Second &&
        factor == -otherFactor && isExclusiveOr(first.atom) &&
        isExclusiveOr(second.atom))
      learnMixture(first.atom, second.atom);
  }
}

} // namespace mlir::workgroup
