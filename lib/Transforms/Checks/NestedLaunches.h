//===- NestedLaunches.h - Kernels that would start kernels ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel cannot launch kernels in this compiler, neither directly nor in a
// function that it calls. The search goes through regions and callees, each
// function once, and reports the first launch that it meets.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CHECKS_NESTEDLAUNCHES_H
#define WORKGROUP_LIB_TRANSFORMS_CHECKS_NESTEDLAUNCHES_H

#include "mlir/IR/Operation.h"

namespace mlir::workgroup {

/// The first operation inside `scope`, or in a function that is called there,
/// directly or not, that `isFound` holds for; null for none.
Operation *findExecuted(Operation *scope,
                        llvm::function_ref<bool(Operation *)> isFound);

/// Emits an error for each kernel inside `root` that launches kernels, at the
/// inner launch.
LogicalResult checkNestedLaunches(Operation *root);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CHECKS_NESTEDLAUNCHES_H
