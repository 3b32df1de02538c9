//===- IntegerSolver.h - Linear constraints in integers ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether linear constraints, and disjunctions of them, have a solution in
// integers, and one if so. From cheap to dear: bounds that follow from one
// constraint after the other; the system in fewer variables; a short search
// that halves ranges; and what is left goes to MLIR's Presburger library.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INTEGERS_INTEGERSOLVER_H
#define WORKGROUP_LIB_ANALYSIS_INTEGERS_INTEGERSOLVER_H

#include "LinearSystem.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::workgroup {

class VariableElimination;

class IntegerSolver {
public:
  using Answer = Feasibility;

  /// If only emptiness is asked for, it is given up where that is not found.
  explicit IntegerSolver(unsigned numVariables, bool isRational = false,
                         bool isForEmptiness = false)
      : numVariables(numVariables), isRational(isRational),
        isForEmptiness(isForEmptiness) {}

  /// Solves `rows` and one case of each of `choices` in integers; or in
  /// rationals only, which takes a small part of the time, and then there is no
  /// sample. The work of all calls together is limited. A sample need not
  /// satisfy `implied`: constraints that follow from more than linear ones.
  Answer solve(ArrayRef<LinearConstraint> rows,
               ArrayRef<LinearChoice> choices = {},
               ArrayRef<LinearConstraint> implied = {});

  /// The values of the variables, where the last call solved in integers.
  ArrayRef<int64_t> getSample() const { return sample; }
  /// The work of all calls: entries of matrices that were computed.
  uint64_t getEffort() const { return effort; }

private:
  using Rows = SmallVector<LinearConstraint, 0>;
  using Choices = SmallVector<const LinearChoice *>;

  Answer search(Rows rows, Choices choices);
  Answer searchCases(const Rows &rows, const Choices &choices,
                     ArrayRef<const LinearConjunction *> cases);
  bool isConsistent(Rows rows, const LinearConjunction &part);
  Answer solveRows(const Rows &rows, const VariableElimination &reduction,
                   bool isLast);
  Answer solveByLibrary(const VariableElimination &reduction, bool isLast);
  void setSample(const VariableElimination &reduction,
                 ArrayRef<int64_t> values);

  unsigned numVariables, numImplied = 0;
  bool isRational, isForEmptiness;
  SmallVector<int64_t> sample;
  unsigned numChecks = 0, numTries = 0;
  uint64_t effort = 0;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INTEGERS_INTEGERSOLVER_H
