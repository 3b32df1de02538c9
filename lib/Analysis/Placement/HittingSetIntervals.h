//===- HittingSetIntervals.h - Demands that are intervals -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If the choices can be numbered such that each demand is an interval of them,
// the cheapest hitting set takes dynamic programming from the back: the best
// choice from a position on is the cheapest one before the end of the first
// interval that starts there, with all that it takes behind it. Demands of a
// loop are arcs of a circle, which is opened at a position that no arc passes
// (the seam). Straight-line code and plain loops are of this kind.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_HITTINGSETINTERVALS_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_HITTINGSETINTERVALS_H

#include "HittingSetState.h"
#include <optional>

namespace mlir::workgroup {

/// The demands of a state as intervals of its choices, which are numbered anew:
/// in their order, or in that order rotated.
class Intervals {
public:
  /// Nothing if some demand is no arc, or if arcs reach around the circle.
  static std::optional<Intervals> get(const HittingSetMatrix &matrix,
                                      const HittingSetState &state);
  /// The cheapest choices; among equally good ones the preferred first choice,
  /// and so on.
  llvm::SmallVector<unsigned, 0> solve() const;

private:
  explicit Intervals(const HittingSetMatrix &matrix) : matrix(matrix) {}
  bool addArc(const llvm::BitVector &demand,
              const llvm::SmallVectorImpl<int> &positions);
  std::optional<unsigned> findSeam() const;

  const HittingSetMatrix &matrix;
  llvm::SmallVector<unsigned, 0> choices;
  /// First and last position; the last one is smaller if it is past the seam.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 0> arcs;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_HITTINGSETINTERVALS_H
