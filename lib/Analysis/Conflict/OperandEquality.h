//===- OperandEquality.h - From quotients to dividends ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two numbers are equal if their quotients and remainders by the same number
// are:
//
// n / c = n' / c, n - c * (n / c) = n' - c * (n' / c) -> n = n'
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_OPERANDEQUALITY_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_OPERANDEQUALITY_H

#include "EquationRule.h"

namespace mlir::workgroup {

/// Learns that dividends are equal.
class OperandEquality : public EquationRule {
public:
  using EquationRule::EquationRule;

  void learn() override;

private:
  bool hasEqualRest(const SymbolicAtom *atom) const;
  bool hasSaidRest(const SymbolicAtom *atom) const;

  /// Of which the operands are in equations.
  DenseSet<const SymbolicAtom *> opened;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_OPERANDEQUALITY_H
