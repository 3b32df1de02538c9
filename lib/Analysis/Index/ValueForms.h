//===- ValueForms.h - What parts ask each other -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a value is may follow from loops, branches and values that loops carry,
// each of which has a class of its own; these ask for other values, and
// conditions, by this interface.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_VALUEFORMS_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_VALUEFORMS_H

#include "SymbolicForm.h"

namespace mlir::workgroup {

/// What values of a kernel are.
class ValueForms {
public:
  virtual ~ValueForms() = default;

  /// What `value`, an integer or index, is.
  virtual SymbolicForm getForm(Value value) = 0;
  /// When `value`, of type i1, is true.
  virtual SymbolicCondition getCondition(Value value) = 0;
  /// True if `form` is not negative wherever control gets to `op`.
  virtual bool isNonNegativeAt(const SymbolicForm &form, Operation *op) = 0;

  /// The number of questions that wait for the answer to this one.
  virtual unsigned &getDepth() = 0;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_VALUEFORMS_H
