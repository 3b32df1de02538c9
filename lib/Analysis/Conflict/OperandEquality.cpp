//===- OperandEquality.cpp - From quotients to dividends ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A remainder is equal if an operation that computes it is, or if conditions
// give it a value, as `if (n % 4 == 1)` does.
//
//===----------------------------------------------------------------------===//

#include "OperandEquality.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Form = SymbolicForm;

/// True if `atom` is the unsigned quotient by a number that conditions say
/// to be positive, and the rest of that division is equal.
bool OperandEquality::hasEqualRest(const Atom *atom) const {
  auto isPositive = [&](const GuardedRanges &ofSide) {
    Interval range = ofSide.get(atom->operands[1]);
    return range.min && *range.min > 0;
  };
  return isa_and_nonnull<arith::DivUIOp>(atom->op) &&
         llvm::all_of(system.bounds, isPositive) &&
         llvm::any_of(system.equal, [&](const Atom *rest) {
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
bool OperandEquality::hasSaidRest(const Atom *atom) const {
  if (atom->kind != Atom::Quotient || !atom->operands[1].isConstant())
    return false;
  Form self;
  self.terms.emplace_back(atom, 1);
  std::optional<Form> rest = atom->operands[0].plus(
      system.index.multiply(self, atom->operands[1]), -1);
  std::optional<int64_t> first =
      rest ? getSaid(*rest, system.bounds[0]) : std::nullopt;
  return first && first == getSaid(*rest, system.bounds[1]);
}

void OperandEquality::learn() {
  for (const Atom *atom : llvm::to_vector(system.equal))
    if (atom->operands.size() == 2 && system.isEqual(atom->operands[1]) &&
        !system.isEqual(atom->operands[0]) &&
        (hasEqualRest(atom) || hasSaidRest(atom)) && opened.insert(atom).second)
      system.equations.push_back(
          system.makeEquation(atom->operands[0], atom->operands[0]));
}

} // namespace mlir::workgroup
