//===- SymbolicIndex.h - Index arithmetic as linear forms -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an index is, as a sum of multiples of atoms: ids of threads, iterations
// of loops, quotients, values that nothing is known of. Equal forms are equal
// numbers in the same thread and iteration, however the program spells them:
// with affine maps, with arithmetic on `index` or on narrower integers that do
// not wrap, with induction variables or values that loops carry.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICINDEX_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICINDEX_H

#include "Guards.h"
#include "SymbolicTranslator.h"

namespace mlir::workgroup {

/// What the values of a kernel are, where loops and branches lead, and the
/// algebra of all that. An instance must not outlive a change of the arithmetic
/// it has looked at.
class SymbolicIndex : public FormAlgebra, public ValueForms {
public:
  SymbolicIndex(Operation *scope, const KernelLoops &loops,
                const UniformityAnalysis &block, const UniformityAnalysis &warp,
                const ArgumentAliases &arguments)
      : FormAlgebra(scope, loops, block, warp, arguments), affine(*this, *this),
        loopForms(*this, *this, affine, dominance),
        conditions(*this, *this, affine, loopForms),
        guards(*this, conditions, affine, loopForms, *this, dominance),
        translator(*this, *this, affine, loopForms, known) {}
  // Its parts refer to it.
  SymbolicIndex(const SymbolicIndex &) = delete;

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  SymbolicForm getForm(Value value) override;
  SymbolicForm getForm(OpFoldResult index) { return affine.getForm(index); }
  SymbolicForm getForm(AffineMap map, ValueRange operands) {
    return affine.getForm(map, operands);
  }
  SymbolicForm getForm(const LinearIndex &index) {
    return affine.getForm(index);
  }
  SymbolicCondition getCondition(Value value) override {
    return conditions.getCondition(value);
  }

  //===--------------------------------------------------------------------===//
  // Branches
  //===--------------------------------------------------------------------===//

  /// What holds wherever control gets to `op`.
  SymbolicCondition getGuard(Operation *op) { return getGuard(op->getBlock()); }
  SymbolicCondition getGuard(Block *block) { return guards.getGuard(block); }
  bool isNonNegativeAt(const SymbolicForm &form, Operation *op) override;

  //===--------------------------------------------------------------------===//
  // Parts
  //===--------------------------------------------------------------------===//

  AffineForms &getAffineForms() { return affine; }
  LoopForms &getLoopForms() { return loopForms; }
  Conditions &getConditions() { return conditions; }
  Guards &getGuards() { return guards; }

private:
  unsigned &getDepth() override { return depth; }

  unsigned depth = 0;
  DominanceInfo dominance;
  KnownForms known;
  AffineForms affine;
  LoopForms loopForms;
  Conditions conditions;
  Guards guards;
  SymbolicTranslator translator;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICINDEX_H
