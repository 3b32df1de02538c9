//===- AsyncCompletion.h - When asynchronous accesses are done --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where in a kernel a copy that goes on by itself is done, and waits that miss
// it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_TREE_ASYNCCOMPLETION_H
#define WORKGROUP_LIB_ANALYSIS_TREE_ASYNCCOMPLETION_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <cstdint>
#include <optional>

namespace mlir::workgroup {

/// The completion of an asynchronous access, for a thread that goes there.
struct AsyncCompletion {
  /// The step behind which it is done whenever control gets there from the
  /// access; none if that is not known.
  std::optional<unsigned> last;
  /// A step of the body of a loop behind which it is done before that, in some
  /// iteration.
  struct InLoop {
    unsigned step = 0, loop = 0;
    /// The number of iterations of the loop later, if `isAround`: the access is
    /// in it. Otherwise the number of the iteration, counted from 0.
    int64_t iterations = 0;
    bool isAround = false;
    /// A loop that the access is in, before `loop`: that many iterations more
    /// as the one of the access comes behind its first.
    std::optional<unsigned> before = std::nullopt;
  };
  std::optional<InLoop> inLoop;
  /// False if it may be done before that, by paths that are not followed.
  bool isExact = true;
  /// Every thread that gets to that step sees it; otherwise only the thread
  /// that started it does.
  bool isForAll = false;
  /// The wait of the thread for it, if that is part of the step in which it is
  /// started.
  Operation *inStep = nullptr;
};

/// A wait that gets on at once, although a copy by TMA is under way: it names
/// the parity of a phase that is over.
struct MissedPhase {
  Operation *wait = nullptr;
  /// The nodes of the wait and of the loop that it is in.
  unsigned step = 0, loop = 0;
  /// In which iteration of the loop, counted from 0; the copy was started that
  /// many iterations before.
  int64_t iteration = 0, distance = 0;
};

/// What is known of when the asynchronous accesses of a kernel, by number, are
/// done.
struct AsyncCompletions {
  DenseMap<unsigned, AsyncCompletion> known;
  /// The waits that miss them.
  DenseMap<unsigned, MissedPhase> missed;
  /// Nothing waits for these.
  DenseSet<unsigned> never;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_TREE_ASYNCCOMPLETION_H
