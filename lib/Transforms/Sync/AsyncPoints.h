//===- AsyncPoints.h - Where asynchronous work is waited for ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two accesses, the one of which is asynchronous, something has to
// stand: a wait, or a proxy fence. Each thread does that for itself, and a
// barrier behind it tells the others. So it stands before a barrier that is
// there already, or else as late as it can.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_SYNC_ASYNCPOINTS_H
#define WORKGROUP_LIB_TRANSFORMS_SYNC_ASYNCPOINTS_H

#include "KernelSync.h"

namespace mlir::workgroup {

/// Two accesses, by number, between which something is missing.
struct AsyncPoint {
  unsigned first = 0, second = 0;
  /// The second one comes in a later iteration of that loop; null for none.
  const KernelLoop *carrier = nullptr;
  /// The sequence of steps that what is missing stands in, none if it is part
  /// of one step, and how many loops and branches are around that.
  std::optional<unsigned> sequence;
  unsigned depth = 0;
  /// The index of the point in the sequence.
  unsigned index = 0;
  /// The operation that the point stands before; null if there is no point.
  Operation *next = nullptr;
  /// The operation is a barrier that is there.
  bool isAtBarrier = false;

  using Key = std::tuple<unsigned, unsigned, const KernelLoop *>;
  Key getKey() const { return {first, second, carrier}; }
};

/// Finds where something has to stand that is missing for `hazard`, of `tree`.
/// `isForOthers` says that other threads have to know of it, too.
AsyncPoint findAsyncPoint(const KernelSync &kernel, const SyncTree &tree,
                          const Hazard &hazard, bool isForOthers);

/// Operations that were put into a program and, if that is not what is looked
/// at, into its copy.
struct InsertedOps {
  SmallVector<Operation *, 2> ops;

  void erase(RewriterBase &rewriter) {
    for (Operation *op : ops)
      rewriter.eraseOp(op);
    ops.clear();
  }
  explicit operator bool() const { return !ops.empty(); }
};

/// Puts into `program` before `point`, or behind it, what `make` makes: given
/// how to find in the program what is in the copy that is looked at.
using OriginalOf = llvm::function_ref<Operation *(Operation *)>;
InsertedOps
insertInProgram(RewriterBase &rewriter, InlinedProgram &program,
                Operation *point, bool isBehind,
                llvm::function_ref<Operation *(OriginalOf getOriginal)> make);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_SYNC_ASYNCPOINTS_H
