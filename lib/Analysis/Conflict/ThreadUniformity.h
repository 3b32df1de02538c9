//===- ThreadUniformity.h - Uniformity by arithmetic ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether threads that get to a loop or a branch together go the same way from
// there, as index arithmetic tells.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADUNIFORMITY_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADUNIFORMITY_H

#include "Analysis/Index/SymbolicIndex.h"
#include "ThreadTables.h"

namespace mlir::workgroup {

class ThreadUniformity {
public:
  /// `tables` is null if the shape of the block is not known.
  ThreadUniformity(SymbolicIndex &index, ThreadTables *tables)
      : index(index), tables(tables) {}

  /// True if all threads of the block or warp that get to `op`, a loop or a
  /// branch, together go the same way from there.
  bool takesOnePath(Operation *op, UniformityUnit unit);

private:
  /// Threads of a unit that get somewhere together, if they do at all.
  struct Crowd {
    UniformityUnit unit;
    /// The innermost loop there, of which they are in the same iteration.
    const KernelLoop *around = nullptr;
    /// Those that may get there, if that is known.
    std::vector<bool> present;
  };
  /// What of `form` follows from the thread alone; nothing if they may not all
  /// have the same of the rest.
  std::optional<SymbolicForm> getOfThread(const SymbolicForm &form,
                                          const Crowd &crowd);
  /// Whether they all have the same.
  bool isUniform(const SymbolicForm &form, const Crowd &crowd);
  bool isUniformSign(const SymbolicForm &form, const Crowd &crowd);
  bool isUniform(const SymbolicCondition &condition, const Crowd &crowd);

  SymbolicIndex &index;
  ThreadTables *tables;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADUNIFORMITY_H
