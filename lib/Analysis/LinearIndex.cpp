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

void LinearIndex::add(const LinearIndex &other, int64_t factor) {
  constant = addMultiple(constant, other.constant, factor);
  for (auto [value, multiple] : other.terms)
    add(value, addMultiple(0, multiple, factor));
}

} // namespace mlir::workgroup
