//===- LinearIndex.cpp - Sums of multiples of values ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/LinearIndex.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::workgroup {

/// `lhs + rhs * factor`, modulo 2^64.
static int64_t addMultiple(int64_t lhs, int64_t rhs, int64_t factor) {
  return int64_t(uint64_t(lhs) + uint64_t(rhs) * uint64_t(factor));
}

void LinearIndex::add(OpFoldResult index, int64_t factor) {
  if (std::optional<int64_t> number = getConstantIntValue(index)) {
    constant = addMultiple(constant, *number, factor);
    return;
  }
  auto value = cast<Value>(index);
  auto *term = llvm::find_if(
      terms, [&](auto &candidate) { return candidate.first == value; });
  if (term == terms.end())
    term = &terms.emplace_back(value, 0);
  term->second = addMultiple(term->second, 1, factor);
  if (term->second == 0)
    terms.erase(term);
}

void LinearIndex::add(AffineMap map, ValueRange operands, int64_t factor) {
  AffineExpr expr = map.getResult(0);
  auto addPart = [&](AffineExpr part, int64_t multiple) {
    add(AffineMap::get(map.getNumDims(), map.getNumSymbols(), part), operands,
        addMultiple(0, multiple, factor));
  };
  if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    constant = addMultiple(constant, number.getValue(), factor);
    return;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return add(operands[dim.getPosition()], factor);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return add(operands[map.getNumDims() + symbol.getPosition()], factor);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add) {
    addPart(binary.getLHS(), 1);
    return addPart(binary.getRHS(), 1);
  }
  auto multiple = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Mul && multiple)
    return addPart(binary.getLHS(), multiple.getValue());
  affineTerms.push_back({map, SmallVector<Value, 2>(operands), factor});
}

void LinearIndex::add(const LinearIndex &other, int64_t factor) {
  constant = addMultiple(constant, other.constant, factor);
  for (auto [value, multiple] : other.terms)
    add(value, addMultiple(0, multiple, factor));
  for (const AffineTerm &term : other.affineTerms) {
    affineTerms.push_back(term);
    affineTerms.back().factor = addMultiple(0, term.factor, factor);
  }
}

} // namespace mlir::workgroup
