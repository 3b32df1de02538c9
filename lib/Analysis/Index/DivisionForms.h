//===- DivisionForms.h - Quotients and remainders ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The quotient of forms is rounded down, and those of programs in many
// directions: `arith.divsi` is the same where the dividend is not negative, and
// a choice of two where it may be.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_DIVISIONFORMS_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_DIVISIONFORMS_H

#include "WrapForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::workgroup {

/// Translates divisions.
class DivisionForms {
public:
  DivisionForms(FormAlgebra &algebra, ValueForms &values, WrapForms &wraps)
      : algebra(algebra), values(values), wraps(wraps) {}

  SymbolicForm translate(Operation *op);
  /// What `-lower-affine` makes of quotients that are rounded down, or up: of a
  /// dividend of any sign, by cases. Nothing if `op` is none.
  std::optional<SymbolicForm> translateExpandedQuotient(arith::SelectOp op);

private:
  using Form = SymbolicForm;

  Form translateRounded(Operation *op, const Form &lhs, const Form &rhs);
  std::optional<Form> translateWrapped(arith::RemSIOp op, const Form &divisor);

  FormAlgebra &algebra;
  ValueForms &values;
  WrapForms &wraps;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_DIVISIONFORMS_H
