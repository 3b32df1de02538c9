//===- IntegerSearch.h - Integers by halving ranges -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks for a solution of linear constraints in integers: bounds of variables
// follow from one constraint after the other, and where none follows any more
// a range is halved, the lower half first. Most systems of two threads have
// solutions that are small, or none for a reason that bounds show, and are
// decided in a small part of the time that integer programming takes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INTEGERS_INTEGERSEARCH_H
#define WORKGROUP_LIB_ANALYSIS_INTEGERS_INTEGERSEARCH_H

#include "BoundPropagation.h"

namespace mlir::workgroup {

class IntegerSearch {
public:
  using Constraint = LinearConstraint;
  using Answer = Feasibility;

  IntegerSearch(ArrayRef<Constraint> rows, unsigned numVariables)
      : rows(rows), bounds(numVariables) {}

  /// Whether `values` of all variables solve `rows`: unknown if numbers get
  /// large.
  static Answer check(ArrayRef<Constraint> rows, ArrayRef<int64_t> values);

  /// False if bounds alone show that there is no solution.
  bool propagate() { return propagate(bounds); }
  /// Unknown after a number of steps, or if there is nothing in the part of a
  /// range without an end that was searched.
  Answer run();
  /// The values of all variables, if there is a solution.
  ArrayRef<int64_t> getSample() const { return sample; }
  /// The bounds of the variables that are known so far.
  const BoundPropagation &getBounds() const { return bounds; }
  /// The number of ranges that were narrowed so far.
  unsigned getNumSteps() const { return numSteps; }

private:
  bool propagate(BoundPropagation &bounds);
  Answer search(const BoundPropagation &bounds);
  Answer searchPart(BoundPropagation bounds, unsigned variable, Interval part);
  Answer take(const BoundPropagation &bounds);

  ArrayRef<Constraint> rows;
  BoundPropagation bounds;
  SmallVector<int64_t> sample;
  unsigned numSteps = 0;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INTEGERS_INTEGERSEARCH_H
