//===- BranchAndBound.h - Integers among rationals --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer programming with an end: solves the constraints in rationals, and
// where a variable has a fraction, looks below it and above it (A. H. Land and
// A. G. Doig, An Automatic Method of Solving Discrete Programming Problems,
// Econometrica 28, 1960). The search of MLIR's Presburger library reduces the
// basis of the lattice instead, and always ends, but some systems keep it for
// hours: this one gives up.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INTEGERS_BRANCHANDBOUND_H
#define WORKGROUP_LIB_ANALYSIS_INTEGERS_BRANCHANDBOUND_H

#include "LinearSystem.h"
#include "mlir/Analysis/Presburger/Simplex.h"

namespace mlir::workgroup {

class BranchAndBound {
public:
  using Answer = Feasibility;

  explicit BranchAndBound(const presburger::IntegerPolyhedron &system)
      : simplex(system) {}

  /// Unknown after a number of systems.
  Answer run();
  /// A solution, if there is one.
  ArrayRef<DynamicAPInt> getSample() const { return sample; }

private:
  Answer searchBound(unsigned variable, const DynamicAPInt &factor,
                     const DynamicAPInt &constant);

  presburger::Simplex simplex;
  SmallVector<DynamicAPInt, 8> sample;
  unsigned numSystems = 0;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INTEGERS_BRANCHANDBOUND_H
