//===- WrapForms.h - Sums that may not fit into their types -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `arith.addi` of i32 is a sum if all that it may be fits into 32 bits, by
// ranges or by the conditions around; else nothing is known of it, but modulo
// powers of two.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_WRAPFORMS_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_WRAPFORMS_H

#include "LoopForms.h"

namespace mlir::workgroup {

/// Tells which sums and differences do not wrap.
class WrapForms {
public:
  WrapForms(FormAlgebra &algebra, ValueForms &values, LoopForms &loopForms)
      : algebra(algebra), values(values), loopForms(loopForms) {}

  /// `form`, if all it may be fits into the type of `value`: then arithmetic
  /// did not wrap.
  SymbolicForm fit(const SymbolicForm &form, Value value);
  /// The sum or difference that `value` is, if that is not negative and below
  /// what its bits hold, whether or not it wraps as a signed number.
  std::optional<SymbolicForm> getWhole(Value value);
  /// What `value` is as if sums and products did not wrap around: the same
  /// modulo powers of two up to that of its width.
  SymbolicForm getWrapping(Value value, unsigned depth = 0);

  /// What `value` is as an unsigned number; nothing if that is not known.
  std::optional<SymbolicForm> getUnsigned(Value value);
  /// What `op` takes for an unsigned number: a sum or difference, unless that
  /// is negative. Numbers of so many bits do not get larger by it than these
  /// hold.
  SymbolicForm translateUnsigned(Operation *op);

private:
  using Form = SymbolicForm;

  bool isWithinAt(const Form &form, Interval range, Operation *op);
  std::optional<Form> getUnsignedCount(BlockArgument argument);

  FormAlgebra &algebra;
  ValueForms &values;
  LoopForms &loopForms;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_WRAPFORMS_H
