//===- LinearSystem.cpp - Linear constraints ------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinearSystem.h"

namespace mlir::workgroup {

void LinearRow::add(const LinearRow &other, int64_t factor) {
  constant += other.constant * factor;
  SmallVector<std::pair<unsigned, int64_t>, 4> sum;
  auto lhs = terms.begin();
  for (auto [variable, multiple] : other.terms) {
    while (lhs != terms.end() && lhs->first < variable)
      sum.push_back(*lhs++);
    int64_t total = multiple * factor;
    if (lhs != terms.end() && lhs->first == variable)
      total += (lhs++)->second;
    if (total != 0)
      sum.emplace_back(variable, total);
  }
  sum.append(lhs, terms.end());
  terms = std::move(sum);
}

} // namespace mlir::workgroup
