//===- ProxyFences.h - Fences before TMA touches memory ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What threads have done to bytes is known to TMA, which goes by another proxy,
// only behind a proxy fence of these threads; and to the thread that has TMA
// touch them only behind a barrier that comes after the fence.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_SYNC_PROXYFENCES_H
#define WORKGROUP_LIB_TRANSFORMS_SYNC_PROXYFENCES_H

#include "AsyncPoints.h"
#include <set>

namespace mlir::workgroup {

/// Puts proxy fences where they are missing in a kernel: before the barrier
/// that comes before TMA, or else right before TMA. What cannot be put right
/// stays as it is.
class ProxyFences {
public:
  ProxyFences(KernelSync &kernel, InlinedProgram &program)
      : kernel(kernel), program(program),
        rewriter(kernel.getScope()->getContext()) {}

  void insert();

private:
  std::vector<AsyncPoint> findPoints();
  bool repair(const AsyncPoint &point);

  KernelSync &kernel;
  InlinedProgram &program;
  IRRewriter rewriter;
  std::set<AsyncPoint::Key> givenUp;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_SYNC_PROXYFENCES_H
