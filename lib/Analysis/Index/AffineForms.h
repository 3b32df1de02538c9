//===- AffineForms.h - From affine maps to forms ----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the operations of the affine dialect, and linear indices, make of
// values: `affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%i)` is the
// quotient of what `%i` is.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_AFFINEFORMS_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_AFFINEFORMS_H

#include "FormAlgebra.h"
#include "ValueForms.h"
#include "workgroup/Analysis/LinearIndex.h"

namespace mlir::workgroup {

/// Translates affine maps and operations.
class AffineForms {
public:
  AffineForms(FormAlgebra &algebra, ValueForms &values)
      : algebra(algebra), values(values) {}

  SymbolicForm getForm(OpFoldResult index);
  SymbolicForm getForm(AffineExpr expr, ValueRange operands, unsigned numDims);
  SymbolicForm getForm(AffineMap map, ValueRange operands) {
    return getForm(map.getResult(0), operands, map.getNumDims());
  }
  SymbolicForm getForm(const LinearIndex &index);
  /// The least, or greatest, of the results of `map`.
  SymbolicForm getExtremum(AffineMap map, ValueRange operands, bool isMinimum);
  /// Result number `result` of `op`; nothing if that is no operation of the
  /// dialect that computes an index.
  std::optional<SymbolicForm> translate(Operation *op, unsigned result);
  /// When the first region of `op`, an `affine.if`, is taken.
  SymbolicCondition getSet(Operation *op);

private:
  using Form = SymbolicForm;

  FormAlgebra &algebra;
  ValueForms &values;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_AFFINEFORMS_H
