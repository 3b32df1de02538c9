//===- LinearSystem.h - Linear constraints ----------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Systems of linear equations and inequalities over numbered variables.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INTEGERS_LINEARSYSTEM_H
#define WORKGROUP_LIB_ANALYSIS_INTEGERS_LINEARSYSTEM_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <utility>
#include <vector>

namespace mlir::workgroup {

/// A constant and multiples of variables, in ascending order.
struct LinearRow {
  int64_t constant = 0;
  SmallVector<std::pair<unsigned, int64_t>, 4> terms;

  void add(const LinearRow &other, int64_t factor);
  bool operator==(const LinearRow &other) const {
    return constant == other.constant && terms == other.terms;
  }
};

/// A row that is zero, or not negative.
struct LinearConstraint {
  LinearRow row;
  bool isEquality;
};

/// Whether a system has a solution; unknown where that takes too long to find.
enum class Feasibility { Empty, Solved, Unknown };

/// All of them hold.
using LinearConjunction = SmallVector<LinearConstraint, 4>;
/// One of the cases holds.
using LinearChoice = std::vector<LinearConjunction>;

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INTEGERS_LINEARSYSTEM_H
