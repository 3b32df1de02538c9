//===- PairEquationProducts.cpp - Digits by numbers that are not known ----===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PairEquations.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Form = SymbolicForm;

/// The numbers that `atom` is the product of; itself, if it is none.
static void collectFactors(const Atom *atom,
                           SmallVectorImpl<const Atom *> &to) {
  bool isProduct = atom->kind == Atom::Product &&
                   llvm::all_of(atom->operands, [](const Form &operand) {
                     return operand.constant == 0 &&
                            operand.terms.size() == 1 &&
                            operand.terms.front().second == 1;
                   });
  if (!isProduct) {
    to.push_back(atom);
    return;
  }
  for (const Form &operand : atom->operands)
    collectFactors(operand.terms.front().first, to);
}

static Form makeForm(const Atom *atom) {
  Form form;
  form.terms.emplace_back(atom, 1);
  return form;
}

/// What `atom` is `base` times; nothing if it is no multiple of that.
static std::optional<Form> divide(SymbolicIndex &index, const Atom *atom,
                                  const Atom *base) {
  SmallVector<const Atom *, 4> factors;
  collectFactors(atom, factors);
  auto *it = llvm::find(factors, base);
  if (it == factors.end() || factors.size() == 1)
    return std::nullopt;
  factors.erase(it);
  Form product = makeForm(factors.front());
  for (const Atom *factor : llvm::drop_begin(factors))
    product = index.multiply(product, makeForm(factor));
  return product;
}

/// True if `form` is from 0 to one less than `base` for both threads.
bool PairEquations::isBelow(const Form &form, const Atom *base) const {
  std::optional<Form> distance = makeForm(base).plus(form, -1);
  if (distance)
    distance = distance->plus(Form(-1));
  bool isId = form.constant == 0 && form.terms.size() == 1 &&
              form.terms.front().second == 1 &&
              form.terms.front().first->kind == Atom::ThreadId &&
              base->kind == Atom::GridValue && base->what == Atom::BlockSize &&
              base->dim == form.terms.front().first->dim;
  return distance && llvm::all_of(bounds, [&](const AtomBounds &ofSide) {
           return ofSide.isNonNegative(form) &&
                  (isId || ofSide.isNonNegative(*distance));
         });
}

/// Takes an equation apart that is `base` times one, and another that is of
/// numbers below that: row * columns + column.
bool PairEquations::splitByProduct(Equation &equation, const Atom *base) {
  Form upper, lower;
  for (const auto &[variable, factor] : equation.terms) {
    std::optional<Form> part = divide(index, variable.atom, base);
    Form &sum = part ? upper : lower;
    std::optional<Form> changed =
        sum.plus(part ? *part : makeForm(variable.atom), factor);
    if (!changed)
      return false;
    sum = std::move(*changed);
  }
  if (upper.terms.empty() || lower.terms.empty() || !isBelow(lower, base))
    return false;
  equation = makeEquation(lower, lower);
  equations.push_back(makeEquation(upper, upper)); // invalidates `equation`
  return true;
}

bool PairEquations::splitByProduct(Equation &equation) {
  bool isPlain = equation.isZero() && equation.first.empty() &&
                 llvm::all_of(equation.terms, [](const Term &term) {
                   return term.first.kind == Variable::Difference;
                 });
  if (!isPlain)
    return false;
  llvm::SmallSetVector<const Atom *, 4> bases;
  for (const auto &[variable, factor] : equation.terms) {
    SmallVector<const Atom *, 4> factors;
    collectFactors(variable.atom, factors);
    if (factors.size() > 1)
      bases.insert_range(factors);
  }
  return llvm::any_of(bases, [&](const Atom *base) {
    return isEqual(base) && splitByProduct(equation, base);
  });
}

} // namespace mlir::workgroup
