//===- Guards.h - What holds where control gets to --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conditions of the branches and loops around an operation, joined: in
// `scf.if %c { ... }` the condition of `%c`, in a loop that an iteration is
// there. Between blocks, it is those of the edges that lead from the dominator.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_GUARDS_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_GUARDS_H

#include "Conditions.h"

namespace mlir::workgroup {

/// The guards of the blocks of one kernel.
class Guards {
public:
  Guards(FormAlgebra &algebra, Conditions &conditions, AffineForms &affine,
         LoopForms &loopForms, ValueForms &values, DominanceInfo &dominance)
      : algebra(algebra), conditions(conditions), affine(affine),
        loopForms(loopForms), values(values), dominance(dominance) {}

  /// What holds wherever control gets to `block`.
  SymbolicCondition getGuard(Block *block);
  /// What holds at `op` in the first iteration of the loops around; nothing if
  /// that is not known.
  std::optional<SymbolicCondition> getGuardInFirstIterations(Operation *op);
  /// True if `form` is not negative wherever control gets to `block`, as
  /// conditions tell: not while that is asked of the block already.
  bool implyNonNegative(Block *block, const SymbolicForm &form);

private:
  SymbolicCondition computeGuard(Block *block);
  SymbolicCondition getEdgesCondition(Block *block, Block *dominator);
  SymbolicCondition getEdgeCondition(Block *from, Block *block);
  SymbolicCondition getEntryCondition(Block *block);

  FormAlgebra &algebra;
  Conditions &conditions;
  AffineForms &affine;
  LoopForms &loopForms;
  ValueForms &values;
  DominanceInfo &dominance;
  PostDominanceInfo postDominance;
  DenseMap<Block *, SymbolicCondition> guards;
  /// Those that are being asked what they say of a form.
  DenseSet<Block *> askedGuards;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_GUARDS_H
