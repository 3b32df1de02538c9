//===- RowReduction.h - Fewer variables, the same solutions -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces variables that an equation determines in integers: of factor 1 or
// -1. Integer programming takes a time that grows much faster than the number
// of variables, and most of those of a pair of threads are of this kind.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_ROWREDUCTION_H
#define WORKGROUP_LIB_ANALYSIS_ROWREDUCTION_H

#include "ThreadPairSystem.h"

namespace mlir::workgroup {

class RowReduction {
public:
  using Row = ThreadPairSystem::Row;
  using Constraint = ThreadPairSystem::Constraint;

  RowReduction(ArrayRef<Constraint> rows, unsigned numVariables);

  /// Constraints of the variables that are left, which keep their numbers.
  ArrayRef<Constraint> getRows() const { return rows; }
  ArrayRef<unsigned> getVariables() const { return left; }

  /// The values of all variables, for those of the variables that are left.
  SmallVector<int64_t> expand(ArrayRef<int64_t> values) const;

private:
  bool replaceOne();
  bool replace(unsigned number, unsigned variable, int64_t factor);

  SmallVector<Constraint, 0> rows;
  unsigned numVariables;
  SmallVector<unsigned> left;
  /// Variables and what they are, in the order in which they were replaced.
  SmallVector<std::pair<unsigned, Row>, 0> replaced;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_ROWREDUCTION_H
