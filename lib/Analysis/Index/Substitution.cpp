//===- Substitution.cpp - Forms in another iteration ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Atoms that depend on the loop are made again of operands that are
// substituted; of totals, selections and functions that is not known.
//
//===----------------------------------------------------------------------===//

#include "Substitution.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Form = SymbolicForm;

/// `atom` where the iteration of `loop` is `iterations`.
static std::optional<SymbolicForm> substitute(FormAlgebra &algebra,
                                              const SymbolicAtom *atom,
                                              const KernelLoop *loop,
                                              const Form &iterations) {
  if (!llvm::any_of(atom->loops, [&](const KernelLoop *inner) {
        return loop->contains(inner);
      })) {
    Form form;
    form.terms.emplace_back(atom, 1);
    return form;
  }
  if (atom->kind == Atom::Iteration && atom->loop == loop)
    return iterations;
  if (atom->isLeaf() || atom->kind == Atom::Total)
    return std::nullopt;
  std::optional<Form> lhs =
      substitute(algebra, atom->operands[0], loop, iterations);
  std::optional<Form> rhs =
      substitute(algebra, atom->operands[1], loop, iterations);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (atom->kind) {
  case Atom::Quotient:
    return algebra.divide(*lhs, *rhs);
  case Atom::Product:
    return algebra.multiply(*lhs, *rhs);
  case Atom::Shift:
    return algebra.shift(lhs->constant, *rhs);
  case Atom::Select:
    if (auto condition = substitute(algebra, atom->condition, loop, iterations))
      return algebra.select(*condition, *lhs, *rhs);
    return std::nullopt;
  case Atom::Function: {
    Form result = algebra.apply(atom->op, *lhs, *rhs);
    // Where it is not defined, nothing is known, and in no iteration.
    bool isUnknown = llvm::any_of(result.terms, [](auto term) {
      return term.first->kind == Atom::Opaque;
    });
    return isUnknown ? std::nullopt : std::optional(result);
  }
  default:
    return algebra.makeExtremum(atom->kind == Atom::Minimum, *lhs, *rhs);
  }
}

std::optional<SymbolicForm> substitute(FormAlgebra &algebra, const Form &form,
                                       const KernelLoop *loop,
                                       const Form &iterations) {
  Form result = form.constant;
  for (auto [atom, factor] : form.terms) {
    std::optional<Form> part = substitute(algebra, atom, loop, iterations);
    if (!part)
      return std::nullopt;
    result = algebra.add(result, *part, factor, nullptr);
  }
  return result;
}

std::optional<SymbolicCondition> substitute(FormAlgebra &algebra,
                                            const SymbolicCondition &condition,
                                            const KernelLoop *loop,
                                            const Form &iterations) {
  SymbolicCondition result = condition;
  std::optional<Form> form =
      substitute(algebra, condition.form, loop, iterations);
  if (!form)
    return std::nullopt;
  result.form = *form;
  for (SymbolicCondition &part : result.parts) {
    std::optional<SymbolicCondition> other =
        substitute(algebra, part, loop, iterations);
    if (!other)
      return std::nullopt;
    part = *other;
  }
  return result;
}

} // namespace mlir::workgroup
