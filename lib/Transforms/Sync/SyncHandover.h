//===- SyncHandover.h - What one pass leaves to the next --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verification asks much of what insertion has asked before: whether two
// accesses of two threads meet. That does not depend on where barriers stand.
// So insertion, which looks at a copy of the program then and puts barriers
// into both, leaves this copy with all that it has found out of the accesses.
// Verification takes it if it is the same program operation by operation, and
// looks for barriers and hazards in it afresh.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_SYNC_SYNCHANDOVER_H
#define WORKGROUP_LIB_TRANSFORMS_SYNC_SYNCHANDOVER_H

#include "KernelSync.h"
#include <mutex>

namespace mlir::workgroup {

/// A program, and what is known of the accesses of its kernels.
class KnownProgram {
public:
  /// Looks at `root` itself or, if it is to be kept and can be, at a copy.
  KnownProgram(Operation *root, const SyncOptions &options, bool isToBeKept);

  InlinedProgram &getProgram() { return program; }
  /// Analyses the program as it is now.
  SyncAnalyses &analyze();
  SyncAnalyses &getAnalyses() { return *analyses; }
  void add(const KernelSync &kernel) {
    facts[kernel.getScope()] = kernel.getFacts();
  }

  /// True if it can be looked at in place of what it is a copy of.
  bool isKept() const { return canBeKept; }
  /// True if it is the same as `root`, but for where constants stand, and
  /// nothing has come to it since it was analysed that accesses memory.
  bool isSame(Operation *root, const SyncOptions &options) const;
  /// The kernels, with what is known of each.
  std::vector<std::unique_ptr<KernelSync>> getKernels();

private:
  const SyncOptions options;
  bool canBeKept;
  InlinedProgram program;
  std::optional<SyncAnalyses> analyses;
  DenseMap<Operation *, std::shared_ptr<KernelFacts>> facts;
};

/// Where a pass leaves programs, and another one finds them, by what they are
/// copies of.
class SyncHandover {
public:
  void leave(Operation *root, std::unique_ptr<KnownProgram> program);
  /// What was left of `root`, if it is still the same; else null.
  std::unique_ptr<KnownProgram> take(Operation *root,
                                     const SyncOptions &options);

private:
  /// Passes on different operations may run at the same time.
  std::mutex mutex;
  DenseMap<Operation *, std::unique_ptr<KnownProgram>> programs;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_SYNC_SYNCHANDOVER_H
