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
  /// Of what is done about mbarriers, the number of their record.
  std::optional<int64_t> mbarriers;
};

/// Threads by linear ids: `first`, `first + step`, ..., `last`.
struct ThreadRangeRecord {
  int64_t first = 0, last = 0, step = 1;
};

/// One execution of an operation on an mbarrier.
struct MBarrierStepRecord {
  /// Of the loops around it, outermost first.
  std::vector<int64_t> iterations;
  /// The index of the mbarrier in its group.
  int64_t slot = 0;
  /// The phase that is waited for, arrived in or copied in, counted from 0; -1
  /// for a wait that passes because no phase has ended. Nothing if the order of
  /// threads decides.
  std::optional<int64_t> phase;
  /// Of a wait.
  bool parity = false;
  /// That an arrival announces, or a copy brings.
  int64_t bytes = 0;
};

/// What the same threads do by an operation on mbarriers: its first executions.
struct MBarrierUseRecord {
  /// The number of its `SyncOperationRecord`.
  int64_t operation = 0;
  std::vector<ThreadRangeRecord> threads;
  std::vector<MBarrierStepRecord> steps;
};

/// The mbarriers that one operation of a kernel makes.
struct MBarriersRecord {
  /// As of `SyncOperationRecord`.
  std::optional<int64_t> kernel;
  SyncPlaceRecord at;
  /// How many there are, one for each slot of a ring.
  int64_t slots = 0;
  /// How many arrivals end a phase; nothing if that differs, or is not known.
  std::optional<int64_t> arrivals;
  /// `full` if copies by TMA tell them of their bytes; `empty` if threads that
  /// arrive at full ones wait for them; `other`.
  std::string purpose;
  std::vector<MBarrierUseRecord> uses;
  /// Why the uses are not known; empty if they are.
  std::string missing;
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
  std::vector<MBarriersRecord> mbarriers;
  /// The verdicts on the kernels as they are compiled.
  std::vector<SyncRecord> verdicts;
  std::vector<BarrierNeedRecord> needs;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_COMPILER_EXPLANATION_H
