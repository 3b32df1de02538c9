//===- StridedIds.cpp - Ids and steps by their number ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StridedIds.h"

namespace mlir::workgroup {

/// The only atom of `form`, which is that; else null.
static const SymbolicAtom *getAtom(const SymbolicForm &form) {
  bool isAtom = form.constant == 0 && form.terms.size() == 1 &&
                form.terms.front().second == 1;
  return isAtom ? form.terms.front().first : nullptr;
}

bool StridedIds::split(Equation &equation, const Term &id,
                       const Term &product) {
  const SymbolicAtom *of = product.first.atom;
  if (of->kind != SymbolicAtom::Product ||
      std::abs(id.second) != std::abs(product.second))
    return false;
  for (unsigned i = 0; i < 2; ++i) {
    const SymbolicAtom *size = getAtom(of->operands[i]);
    if (!size || !isIdBelow(*id.first.atom, *size) || !system.isEqual(size))
      continue;
    Equation times, ids;
    for (auto [atom, factor] : of->operands[1 - i].terms)
      times.terms.push_back({{Variable::Difference, atom}, factor});
    ids.terms.push_back({id.first, 1});
    equation = std::move(ids);
    system.equations.push_back(std::move(times)); // invalidates `equation`
    return true;
  }
  return false;
}

bool StridedIds::split(Equation &equation) {
  auto isDifference = [](const Term &term) {
    return term.first.kind == Variable::Difference;
  };
  if (!equation.isZero() || !equation.first.empty() ||
      equation.terms.size() != 2 || !llvm::all_of(equation.terms, isDifference))
    return false;
  Term lhs = equation.terms[0], rhs = equation.terms[1];
  return split(equation, lhs, rhs) || split(equation, rhs, lhs);
}

} // namespace mlir::workgroup
