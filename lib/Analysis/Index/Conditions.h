//===- Conditions.h - Comparisons and branches as forms ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `arith.cmpi slt, %a, %b` holds where b - a - 1 is not negative. A branch
// region is taken if the condition of the branch holds, or does not.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_CONDITIONS_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_CONDITIONS_H

#include "LoopForms.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::workgroup {

/// Translates comparisons and branches.
class Conditions {
public:
  Conditions(FormAlgebra &algebra, ValueForms &values, AffineForms &affine,
             LoopForms &loopForms)
      : algebra(algebra), values(values), affine(affine), loopForms(loopForms) {
  }

  /// When `value`, of type i1, is true.
  SymbolicCondition getCondition(Value value);

  /// When control that gets to `branch` goes on with its branch region, a
  /// region or a successor, of that number; nothing if that is not known.
  std::optional<SymbolicCondition> getDecision(Operation *branch,
                                               unsigned region);
  /// The same, `later` iterations of `loop` later.
  std::optional<SymbolicCondition> getDecision(Operation *branch,
                                               unsigned region,
                                               const KernelLoop *loop,
                                               int64_t later);
  /// When `region` of the switch `op` is taken.
  SymbolicCondition getCase(scf::IndexSwitchOp op, Region *region);
  /// When the switch between blocks `op` goes to `block`.
  SymbolicCondition getCase(cf::SwitchOp op, Block *block);

private:
  std::optional<SymbolicCondition> compare(Operation *op);
  SymbolicCondition isValue(Value flag, const APInt &number);

  FormAlgebra &algebra;
  ValueForms &values;
  AffineForms &affine;
  LoopForms &loopForms;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_CONDITIONS_H
