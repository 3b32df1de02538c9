//===- RowReduction.cpp - Fewer variables, the same solutions -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowReduction.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::workgroup {

RowReduction::RowReduction(ArrayRef<Constraint> rows, unsigned numVariables)
    : rows(rows.begin(), rows.end()), numVariables(numVariables) {
  while (replaceOne())
    ;
  llvm::BitVector isGone(numVariables);
  for (auto &[variable, row] : replaced)
    isGone.set(variable);
  for (unsigned variable = 0; variable < numVariables; ++variable)
    if (!isGone[variable])
      left.push_back(variable);
}

/// Replaces a variable; false if there is none left to be replaced.
bool RowReduction::replaceOne() {
  for (unsigned number = 0; number < rows.size(); ++number) {
    if (!rows[number].isEquality)
      continue;
    for (auto [variable, factor] : rows[number].row.terms)
      if ((factor == 1 || factor == -1) && replace(number, variable, factor))
        return true;
  }
  return false;
}

/// Replaces `variable` everywhere by what equation `number` says it is. False,
/// and nothing changes, if numbers get large by it.
bool RowReduction::replace(unsigned number, unsigned variable, int64_t factor) {
  constexpr int64_t kLimit = int64_t(1) << 31;
  auto isSmall = [](const Row &row) {
    return std::abs(row.constant) < kLimit &&
           llvm::all_of(
               row.terms,
               [](auto term) { return std::abs(term.second) < kLimit; });
  };
  // factor * variable + others = 0
  Row others = rows[number].row, value;
  llvm::erase_if(others.terms,
                 [&](auto term) { return term.first == variable; });
  value.add(others, -factor);
  SmallVector<std::pair<unsigned, Row>> changed;
  if (!isSmall(value))
    return false;
  for (auto [other, constraint] : llvm::enumerate(rows)) {
    auto *term = llvm::find_if(constraint.row.terms, [&](auto term) {
      return term.first == variable;
    });
    if (other == number || term == constraint.row.terms.end())
      continue;
    if (!isSmall(constraint.row))
      return false;
    Row row = constraint.row;
    int64_t count = term->second;
    llvm::erase_if(row.terms,
                   [&](auto term) { return term.first == variable; });
    row.add(value, count);
    changed.emplace_back(other, std::move(row));
  }
  for (auto &[other, row] : changed)
    rows[other].row = std::move(row);
  rows.erase(rows.begin() + number);
  replaced.emplace_back(variable, std::move(value));
  return true;
}

SmallVector<int64_t> RowReduction::expand(ArrayRef<int64_t> values) const {
  SmallVector<int64_t> all(numVariables, 0);
  for (auto [variable, value] : llvm::zip_equal(left, values))
    all[variable] = value;
  // What was replaced first may be made of what was replaced later.
  for (const auto &[variable, row] : llvm::reverse(replaced)) {
    int64_t sum = row.constant;
    for (auto [other, factor] : row.terms)
      sum += factor * all[other];
    all[variable] = sum;
  }
  return all;
}

} // namespace mlir::workgroup
