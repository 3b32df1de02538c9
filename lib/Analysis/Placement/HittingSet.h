//===- HittingSet.h - The cheapest choices that satisfy all -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cheapest choices that meet all demands. Where these are intervals of
// choices, or arcs of a circle, the cheapest solution takes quadratic time at
// worst; otherwise it takes branch and bound on what is left after demands that
// others imply, and choices that others replace, are gone. A budget bounds it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_HITTINGSET_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_HITTINGSET_H

#include "HittingSetProblem.h"

namespace mlir::workgroup {

/// A solution.
struct HittingSet {
  /// Choices that have a price, ascending.
  llvm::SmallVector<unsigned, 0> chosen;
  /// No other set is cheaper. Otherwise none of the choices can be left out.
  bool isOptimal = false;
};

/// Solves `problem`, in which every required demand can be met.
HittingSet solve(const HittingSetProblem &problem);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_HITTINGSET_H
