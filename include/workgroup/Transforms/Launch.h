//===- Launch.h - From loops over blocks to launches ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops over blocks become `gpu.launch`, kernels that do the same are merged
// into one, and sizes that all launches of a kernel have are stated on the
// kernel, where analyses of device code find them.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_LAUNCH_H
#define WORKGROUP_TRANSFORMS_LAUNCH_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::workgroup {

/// How loops over blocks become launches.
struct FormLaunchesOptions {
  /// Threads of a block along x, y and z; empty to take those that the loops
  /// over threads have.
  SmallVector<int64_t, 3> threads;
};

/// Makes launches of the loops over blocks on the host inside `root`. See pass
/// `workgroup-form-launches`.
LogicalResult formLaunches(Operation *root,
                           const FormLaunchesOptions &options = {});

/// Lets launches inside `module` share one kernel where several are alike. See
/// pass `workgroup-merge-kernels`.
void mergeKernels(ModuleOp module);

/// Tells kernels inside `root` the sizes of blocks and grids that all of their
/// launches inside `root` have, and functions those that all have who call
/// them. See pass `workgroup-infer-launch-sizes`.
void inferLaunchSizes(Operation *root);

#define GEN_PASS_DECL
#include "workgroup/Transforms/Launch.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_LAUNCH_H
