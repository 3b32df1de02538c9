//===- BufferMeetings.h - Whether threads meet in a buffer ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An allocation in a loop that threads iterate on their own is one buffer of
// the block, and no barrier can stand between the iterations of two threads.
// None is due if each thread keeps to bytes of its own.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_MEMORY_BUFFERMEETINGS_H
#define WORKGROUP_LIB_TRANSFORMS_MEMORY_BUFFERMEETINGS_H

#include "Analysis/Conflict/ThreadConflicts.h"

namespace mlir::workgroup {

/// Two accesses by which two threads may touch the same byte of a buffer.
struct BufferMeeting {
  Operation *first, *second;
  /// Why that is not certain; empty if it is.
  std::string reason;

  /// Adds a note that tells of it.
  void explain(InFlightDiagnostic &diagnostic) const;
};

/// Decides whether the threads of a block meet in buffers of one kernel.
class BufferMeetings {
public:
  explicit BufferMeetings(Operation *kernel);

  /// The first two accesses by which two threads may touch the same byte of
  /// `buffer` at any time, one of them a write; nothing if there are none.
  std::optional<BufferMeeting> find(Value buffer);

private:
  std::optional<BufferMeeting> find(unsigned first, unsigned second);

  ArgumentAliases arguments;
  UniformityAnalysis block, warp;
  KernelLoops loops;
  ThreadAccesses accesses;
  ThreadConflicts conflicts;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_MEMORY_BUFFERMEETINGS_H
