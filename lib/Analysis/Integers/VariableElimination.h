//===- VariableElimination.h - Fewer variables ------------------*- C++ -*-===//
//-*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes a system simpler that has the same solutions in integers:
//
// * of the constraints on one sum, divided by what its factors have in common,
//   the tightest stay; two that leave the sum one value are an equation;
// * where terms with small factors do not make up for a step of those with
//   large ones, each of the two parts has its own value: 16 * x + y is 0 for y
//   from -15 to 15 only if both are;
// * variables are replaced that an equation determines, of factor 1 or -1;
// * where a sum has a smaller range than one of its variables, it takes its
//   place: x - 4 * (x / 4), which is 0 to 3, that of x.
//
// Integer programming takes a time that grows much faster than the number of
// variables, and would have to find out what the last step says: remainders
// tell threads apart, whatever the quotients are.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INTEGERS_VARIABLEELIMINATION_H
#define WORKGROUP_LIB_ANALYSIS_INTEGERS_VARIABLEELIMINATION_H

#include "Interval.h"
#include "LinearSystem.h"

namespace mlir::workgroup {

class VariableElimination {
public:
  using Row = LinearRow;
  using Constraint = LinearConstraint;

  VariableElimination(ArrayRef<Constraint> rows, unsigned numVariables);

  /// True if there is certainly no solution.
  bool isEmpty() const { return empty; }
  /// Constraints of the variables that are left, which keep their numbers, and
  /// of new ones.
  ArrayRef<Constraint> getRows() const { return rows; }
  ArrayRef<unsigned> getVariables() const { return left; }
  /// Numbers of variables are below that.
  unsigned getNumVariables() const { return numVariables; }

  /// `row` in the variables that are left; nothing if numbers get large by it.
  std::optional<Row> reduce(Row row) const;
  /// The values of all variables, for those of the variables that are left; the
  /// others of `values` do not matter.
  SmallVector<int64_t> expand(ArrayRef<int64_t> values) const;

private:
  /// A sum without a constant, the first factor positive, and its range.
  struct Sum {
    Row row;
    Interval range;
  };

  void tighten();
  std::optional<Sum> normalize(const Constraint &constraint);
  bool splitAny();
  bool split(const Sum &sum, ArrayRef<Interval> ranges);
  bool replaceAny();
  bool replaceOne();
  bool replace(unsigned number, unsigned variable, int64_t factor);
  bool nameSum();
  bool name(const Sum &sum, unsigned variable, int64_t factor);

  SmallVector<Constraint, 0> rows;
  SmallVector<Sum, 0> sums;
  unsigned numVariables;
  bool empty = false;
  SmallVector<unsigned> left;
  /// Variables and what they are, in the order in which they were replaced.
  SmallVector<std::pair<unsigned, Row>, 0> replaced;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INTEGERS_VARIABLEELIMINATION_H
