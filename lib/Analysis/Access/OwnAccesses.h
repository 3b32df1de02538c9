//===- OwnAccesses.h - What threads do to their own memory ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers in no memory space, or in private memory, are allocated by each
// thread for itself, so that their accesses cannot race. They are collected by
// the same collector as those to memory that threads share, but apart from
// them: verification asks of these whether a thread reads what only other
// threads have written.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_ACCESS_OWNACCESSES_H
#define WORKGROUP_LIB_ANALYSIS_ACCESS_OWNACCESSES_H

#include "workgroup/Analysis/ThreadAccess.h"
#include "workgroup/Analysis/Uniformity.h"

namespace mlir::workgroup {

/// The accesses of a kernel to what each of its threads has allocated for
/// itself, in program order. Root number 0 is not among those of accesses.
struct OwnAccesses {
  SmallVector<MemoryRoot> roots;
  SmallVector<ThreadAccess, 0> accesses;
};

OwnAccesses collectOwnAccesses(Operation *scope,
                               const UniformityAnalysis &uniformity);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_ACCESS_OWNACCESSES_H
