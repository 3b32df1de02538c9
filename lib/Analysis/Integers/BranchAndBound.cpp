//===- BranchAndBound.cpp - Integers among rationals ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BranchAndBound.h"

namespace mlir::workgroup {

using Answer = BranchAndBound::Answer;

static constexpr unsigned kMaxSystems = 50;

Answer BranchAndBound::run() {
  if (simplex.isEmpty())
    return Answer::Empty;
  if (++numSystems > kMaxSystems)
    return Answer::Unknown;
  SmallVector<presburger::Fraction, 8> point = *simplex.getRationalSample();
  auto *fraction = llvm::find_if(
      point, [](const auto &value) { return value.num % value.den != 0; });
  if (fraction == point.end()) {
    sample.clear();
    for (const presburger::Fraction &value : point)
      sample.push_back(value.num / value.den);
    return Answer::Solved;
  }
  unsigned variable = fraction - point.begin();
  Answer below =
      searchBound(variable, DynamicAPInt(-1), presburger::floor(*fraction));
  if (below == Answer::Solved)
    return below;
  Answer above =
      searchBound(variable, DynamicAPInt(1), -presburger::ceil(*fraction));
  return above == Answer::Empty ? below : above;
}

/// Searches where `factor` times the variable plus `constant` is not negative,
/// too.
Answer BranchAndBound::searchBound(unsigned variable,
                                   const DynamicAPInt &factor,
                                   const DynamicAPInt &constant) {
  presburger::SimplexRollbackScopeExit restore(simplex);
  SmallVector<DynamicAPInt, 8> row(simplex.getNumVariables() + 1);
  row[variable] = factor;
  row.back() = constant;
  simplex.addInequality(row);
  return run();
}

} // namespace mlir::workgroup
