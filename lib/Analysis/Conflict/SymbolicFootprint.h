//===- SymbolicFootprint.h - The places of an access as forms ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The places that an access may touch, in terms of symbolic forms.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_SYMBOLICFOOTPRINT_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_SYMBOLICFOOTPRINT_H

#include "Analysis/Index/SymbolicIndex.h"
#include "workgroup/Analysis/ThreadAccesses.h"

namespace mlir::workgroup {

/// An access in terms of forms.
struct SymbolicFootprint {
  struct Extent {
    SymbolicForm count;
    int64_t stride = 1;
    unsigned coordinate = 0;
    /// There are not more; 0 if that is not known.
    int64_t limit = 0;

    /// How many there are at most; nothing if that is not known.
    std::optional<int64_t> getMost() const {
      if (count.isConstant())
        return count.constant;
      return limit != 0 ? std::optional(limit) : std::nullopt;
    }
  };
  SmallVector<SymbolicForm, 2> coordinates;
  SmallVector<Extent, 1> box;
  int64_t run = 1;
  SymbolicCondition condition;
  AccessScope accessScope = AccessScope::Thread;

  bool operator==(const SymbolicFootprint &other) const;
};

/// Makes `footprint` that in the iteration `iteration` of `loop`; false if that
/// is not known.
bool setIteration(SymbolicIndex &index, SymbolicFootprint &footprint,
                  const KernelLoop *loop, int64_t iteration);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_SYMBOLICFOOTPRINT_H
