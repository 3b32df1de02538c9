//===- LaunchSizes.h - Sizes that are known at the launch -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A size in a kernel is known where the kernel is launched if it is computed
// from constants, arguments of the kernel, and the sizes of grid and block.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LAUNCH_LAUNCHSIZES_H
#define WORKGROUP_LIB_TRANSFORMS_LAUNCH_LAUNCHSIZES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::workgroup {

/// True if all of `sizes`, in `kernel`, can be computed at its launch.
bool areKnownAtLaunch(ValueRange sizes, Operation *kernel);

/// Maps what `sizes` in `kernel` depend on to values that can be had at
/// `launch`, the kernel itself if it is a `gpu.launch`, or at the start of the
/// kernel if `launch` is null.
void mapSizes(ValueRange sizes, Operation *kernel, Operation *launch,
              IRMapping &mapping);

/// Computes `size` at `builder` from what `mapping` has for the values that it
/// depends on. `mapping` receives all that is computed.
Value rebuildSize(Value size, IRMapping &mapping, OpBuilder &builder);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LAUNCH_LAUNCHSIZES_H
