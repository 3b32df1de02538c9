//===- LinearIndex.h - Sums of multiples of values --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_ANALYSIS_LINEARINDEX_H
#define WORKGROUP_ANALYSIS_LINEARINDEX_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::workgroup {

/// A constant and multiples of values, no value twice. Constants wrap around, as
/// addresses do.
struct LinearIndex {
  int64_t constant = 0;
  SmallVector<std::pair<Value, int64_t>, 4> terms;

  /// Adds `factor` times `index`.
  void add(OpFoldResult index, int64_t factor);
  /// Adds `factor` times `other`.
  void add(const LinearIndex &other, int64_t factor);

  bool isZero() const { return constant == 0 && terms.empty(); }
  bool operator==(const LinearIndex &other) const {
    return constant == other.constant && terms == other.terms;
  }
  bool operator!=(const LinearIndex &other) const { return !(*this == other); }
};

} // namespace mlir::workgroup

#endif // WORKGROUP_ANALYSIS_LINEARINDEX_H
