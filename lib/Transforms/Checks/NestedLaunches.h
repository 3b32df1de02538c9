//===- NestedLaunches.h - Kernels that would start kernels ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
