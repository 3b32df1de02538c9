//===- ExclusiveOrs.h - Equations of exclusive ors --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Swizzles take no two elements of a row to one address: `(column ^ key)` is
// the same for two threads with the same key only if the column is. With other
// keys, which are below 8, the bits of the columns from the fourth on are still
// the same.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_EXCLUSIVEORS_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_EXCLUSIVEORS_H

#include "EquationRule.h"

namespace mlir::workgroup {

/// Learns from exclusive ors that are equal, or equal to a sum.
class ExclusiveOrs : public EquationRule {
public:
  using EquationRule::EquationRule;

  void learn() override;
  /// True if conditions keep the two sides of an equation apart.
  bool isRuledOut(const Equation &equation) const override;

private:
  /// What an equation says of the first thread and of the second one: lhs - rhs
  /// is from `low` to `high`.
  struct Sides {
    Form lhs, rhs;
    int64_t low, high;

    void reduce();
  };

  std::optional<Sides> getSides(const Equation &equation) const;
  void learn(const Sides &sides);
  void learnMixture(const SymbolicAtom *first, const SymbolicAtom *second);
  void learnMixtureOfSum(const SymbolicAtom *mixture, const Form &sum,
                         int64_t slack, unsigned side);
  void addUpper(const Form &first, const Form &second, int64_t above);

  /// Of two threads: of which the upper bits are in equations, and of which the
  /// operands are.
  DenseSet<std::pair<const SymbolicAtom *, const SymbolicAtom *>> openedAbove,
      openedPairs;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_EXCLUSIVEORS_H
