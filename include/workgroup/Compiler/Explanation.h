//===- Explanation.h - What explains a compilation --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a reader of a compiled program wants to know beside the program: which
// lines of each stage's text are made of which, what orders threads in it, and
// what would go wrong without each barrier. Data without behaviour; it is made
// only if it is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_COMPILER_EXPLANATION_H
#define WORKGROUP_COMPILER_EXPLANATION_H

#include "workgroup/Compiler/Records.h"

namespace mlir::workgroup {

/// The file that locations in the text of stage `gpu` have, of which later
/// stages are made.
constexpr const char *kStageFile = "<gpu>";

/// What the lines of a text are made of.
struct TextLinesRecord {
  std::vector<SourceLocation> places;
  /// For each line, in order, the numbers of its places.
  std::vector<std::vector<unsigned>> lines;
};

/// A loop around an operation.
struct LoopRecord {
  /// In the text of stage `gpu`.
  unsigned line = 0;
  /// Nothing if only the launch knows.
  std::optional<int64_t> iterations;
};

/// An operation of a kernel that orders threads, or copies for them.
struct SyncOperationRecord {
  /// The number of the kernel among those of the program; nothing for what
  /// stands in a function.
  std::optional<int64_t> kernel;
  /// `barrier`, `warp_barrier`, `copy`, `bulk_load`, `bulk_store`, `commit`,
  /// `wait`, `mbarrier_init`, `mbarrier_arrive`, `mbarrier_wait`,
  /// `proxy_fence`, `fence`, `exchange`.
  std::string role;
  /// In the text of stage `gpu`, as all places here are.
  SyncPlaceRecord at;
  /// Outermost first.
  std::vector<LoopRecord> loops;
  /// Whether only some threads execute it, or only sometimes: it stands behind
  /// a condition.
  bool isConditional = false;
  /// Of a wait for groups, how many may still be under way behind it.
  std::optional<int64_t> numPending;
};

/// What would be wrong without a barrier.
struct BarrierNeedRecord {
  /// As of `SyncOperationRecord`.
  std::optional<int64_t> kernel;
  SyncPlaceRecord at;
  /// The number of the record that tells why it was inserted; nothing for a
  /// barrier of the program, or of what was lowered to it.
  std::optional<int64_t> inserted;
  /// The verdict on its kernel without it; empty if nobody has tried.
  std::string verdict;
  /// What is wrong without it, and is not with it.
  std::vector<SyncFindingRecord> findings;
};

struct ExplanationRecord {
  std::vector<SyncOperationRecord> operations;
  /// The verdicts on the kernels as they are compiled.
  std::vector<SyncRecord> verdicts;
  std::vector<BarrierNeedRecord> needs;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_COMPILER_EXPLANATION_H
