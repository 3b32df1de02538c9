//===- ProgramChecks.h - What no GPU can do as it is written ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks that hold before and after kernels are outlined. The pass that would
// be the first to build on them runs them, so that an error is at what the
// program says, and `workgroup-verify-kernels` does, whose kernels may come
// from elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_PROGRAMCHECKS_H
#define WORKGROUP_TRANSFORMS_PROGRAMCHECKS_H

#include "mlir/IR/Operation.h"

namespace mlir::workgroup {

/// Emits an error for each launch inside `root` that no GPU takes, as far as
/// its sizes are constants: of its grid, blocks and clusters, and of dynamic
/// memory, of which the kernel's views may need more. The same for each kernel
/// that is said by attributes to have such sizes, or others than its launches.
LogicalResult verifyLaunches(Operation *root);

/// Emits an error for each value in kernels inside `root` that is in memory
/// that there is not, or that it cannot be in: an argument in constant memory,
/// an allocation in global memory, a cast between two memories, and for each
/// operation that writes constants. Unless it `isSunk`, what the host allocates
/// in memory of threads may still be put into the kernels that use it.
LogicalResult verifyMemorySpaces(Operation *root, bool isSunk = true);

/// Emits an error for each buffer in kernels inside `root` that each thread has
/// one of, where one thread reads what another one would have written. With
/// `mayMapSpaces`, not for memory spaces that are numbers, which from-spaces
/// may give another meaning yet.
LogicalResult verifyThreadBuffers(Operation *root, bool mayMapSpaces = false);

/// All of these checks.
inline LogicalResult verifyProgram(Operation *root, bool isSunk = true) {
  bool hasFailed = failed(verifyLaunches(root));
  hasFailed |= failed(verifyMemorySpaces(root, isSunk));
  hasFailed |= failed(verifyThreadBuffers(root));
  return failure(hasFailed);
}

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_PROGRAMCHECKS_H
