//===- BitForms.h - From bitwise operations to forms ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shifts and masks are products, quotients and remainders; `or` and `xor` of
// numbers that have no bits in common are sums: 8 * n | r, with 0 <= r < 8, is
// 8 * n + r. Other operations are atoms.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_BITFORMS_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_BITFORMS_H

#include "WrapForms.h"

namespace mlir::workgroup {

/// Translates bitwise operations.
class BitForms {
public:
  BitForms(FormAlgebra &algebra, ValueForms &values, WrapForms &wraps)
      : algebra(algebra), values(values), wraps(wraps) {}

  SymbolicForm translate(Operation *op);

private:
  using Form = SymbolicForm;

  Form translateMixture(Operation *op, Form lhs, Form rhs);

  FormAlgebra &algebra;
  ValueForms &values;
  WrapForms &wraps;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_BITFORMS_H
