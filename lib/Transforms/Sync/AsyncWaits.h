//===- AsyncWaits.h - Waits for copies that nobody waits for ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that touches what a copy writes, or writes what it reads, before the
// thread that started it has waited for it, is wrong whatever barriers there
// are. So waits come first, then barriers.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_SYNC_ASYNCWAITS_H
#define WORKGROUP_LIB_TRANSFORMS_SYNC_ASYNCWAITS_H

#include "AsyncPoints.h"
#include <set>

namespace mlir::workgroup {

/// Puts waits for copies of threads (`cp.async`), and what commits their
/// groups, where they are missing in a kernel. A wait leaves as many groups
/// under way as it may. What cannot be put right stays as it is.
class AsyncWaits {
public:
  AsyncWaits(KernelSync &kernel, InlinedProgram &program)
      : kernel(kernel), program(program),
        rewriter(kernel.getScope()->getContext()) {}

  void insert();

private:
  /// A place where a copy has to be done.
  struct Use : AsyncPoint {
    /// Other threads than that of the copy come.
    bool isShared = false;
  };
  using Keys = std::set<AsyncPoint::Key>;

  void insert(UniformityUnit unit);
  std::vector<Use> findUses(UniformityUnit unit);
  bool isShared(const Hazard &hazard, UniformityUnit unit);
  bool repair(const Use &use, ArrayRef<Use> open, UniformityUnit unit);
  InsertedOps insertGroup(const Use &use);
  InsertedOps insertWait(const Use &use);
  bool isLeft(const Keys &keys, UniformityUnit unit);
  Keys getSettled(const Use &use, ArrayRef<Use> open, UniformityUnit unit);
  void loosen(const InsertedOps &wait, const Keys &settled,
              UniformityUnit unit);
  Operation *findGroup(Operation *copy, Operation *point);

  KernelSync &kernel;
  InlinedProgram &program;
  IRRewriter rewriter;
  Keys givenUp;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_SYNC_ASYNCWAITS_H
