//===- Interval.h - Ranges of integers --------------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is known of a number without its value: the least and the largest it can
// be.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INTEGERS_INTERVAL_H
#define WORKGROUP_LIB_ANALYSIS_INTEGERS_INTERVAL_H

#include <cstdint>
#include <optional>

namespace mlir::workgroup {

/// A closed interval; an end that is missing is not known.
struct Interval {
  std::optional<int64_t> min, max;

  bool isNonNegative() const { return min && *min >= 0; }
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INTEGERS_INTERVAL_H
