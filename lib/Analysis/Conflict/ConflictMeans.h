//===- ConflictMeans.h - What questions of one kernel share -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever is asked of two threads of a kernel, the forms of its index
// arithmetic, the tables of what its threads do, and how much may still be
// computed are the same.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_CONFLICTMEANS_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_CONFLICTMEANS_H

#include "FactBounds.h"

namespace mlir::workgroup {

/// How much was computed so far, as ThreadPairSystem counts it.
struct ConflictEffort {
  /// Some seconds; few kernels take a tenth.
  static constexpr uint64_t kMost = 1 << 24;

  uint64_t spent = 0;

  /// True if all further questions are answered by what costs little.
  bool isExhausted() const { return spent > kMost; }
};

/// What each question is asked with.
struct ConflictMeans {
  SymbolicIndex &index;
  /// Null if the shape of the block is not known.
  ThreadTables *tables;
  FactBounds &bounds;
  ConflictEffort &effort;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_CONFLICTMEANS_H
