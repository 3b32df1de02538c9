//===- EquationRule.h - A way to learn from equations -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rule takes equations apart, or learns what is equal, by one property of
// numbers. Rules know the equations and not each other: `PairEquations` applies
// them in rounds until none learns anything more.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_EQUATIONRULE_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_EQUATIONRULE_H

#include "EquationSystem.h"

namespace mlir::workgroup {

/// One rule, and the equations it is applied to.
class EquationRule {
public:
  using Form = EquationSystem::Form;
  using Variable = EquationSystem::Variable;
  using Term = EquationSystem::Term;
  using Table = EquationSystem::Table;
  using Equation = EquationSystem::Equation;

  explicit EquationRule(EquationSystem &system) : system(system) {}
  virtual ~EquationRule() = default;

  /// Takes `equation`, of the system, apart into several, and returns true;
  /// then the reference is not valid any more.
  virtual bool split(Equation &equation) { return false; }
  /// Learns from all that is known; once in a round.
  virtual void learn() {}
  /// True if no two threads solve `equation`, of which nothing more is learned.
  virtual bool isRuledOut(const Equation &equation) const { return false; }

protected:
  EquationSystem &system;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_EQUATIONRULE_H
