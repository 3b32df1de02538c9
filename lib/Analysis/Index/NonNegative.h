//===- NonNegative.h - Values that are never below zero ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value is never negative if what it is computed from is not, and the
// operation keeps the sign. For a value that a loop carries this is an
// induction: it is assumed of the value itself, and shown of its initial value
// and of what the loop hands on. A proof that takes too many values is given
// up.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_NONNEGATIVE_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_NONNEGATIVE_H

#include "mlir/IR/Value.h"

namespace mlir::workgroup {

/// True if `value`, an integer or index, is never negative, by induction over
/// the loops that carry it: all that it starts as is not, and neither is what
/// becomes of it. As elsewhere, arithmetic on `index` does not overflow.
bool isNeverNegative(Value value);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_NONNEGATIVE_H
