//===- BoundPropagation.h - What single constraints tell --------*- C++ -*-===//
//-*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds of integer variables that follow from one linear constraint after the
// other. Most systems without a solution show it so, in a small part of the
// time that integer programming takes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INTEGERS_BOUNDPROPAGATION_H
#define WORKGROUP_LIB_ANALYSIS_INTEGERS_BOUNDPROPAGATION_H

#include "Interval.h"
#include "LinearSystem.h"

namespace mlir::workgroup {

class BoundPropagation {
public:
  using Row = LinearRow;

  explicit BoundPropagation(unsigned numVariables) : bounds(numVariables) {}

  /// Takes `row` to be zero, or not negative. False if it cannot be.
  bool add(const Row &row, bool isEquality);
  /// Whether an `add` since the last call told something new.
  bool takeChange() { return std::exchange(hasChanged, false); }

  ArrayRef<Interval> getRanges() const { return bounds; }
  void setRange(unsigned variable, Interval range) { bounds[variable] = range; }

private:
  bool addNonNegative(const Row &row, int64_t sign);
  std::optional<int64_t> getMost(unsigned variable, int64_t factor) const;
  bool limit(unsigned variable, int64_t factor, int64_t rest);

  std::vector<Interval> bounds;
  bool hasChanged = false;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INTEGERS_BOUNDPROPAGATION_H
