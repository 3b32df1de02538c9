//===- UnifyDynamicMemory.h - One spelling of dynamic memory ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA's `extern __shared__`, an external global without elements, as
// `gpu.dynamic_shared_memory`.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_MEMORY_UNIFYDYNAMICMEMORY_H
#define WORKGROUP_LIB_TRANSFORMS_MEMORY_UNIFYDYNAMICMEMORY_H

#include "mlir/IR/Operation.h"

namespace mlir::workgroup {

/// Lets device code inside `root` that names dynamic memory by an external
/// global without elements take it by `gpu.dynamic_shared_memory`.
void unifyDynamicMemory(Operation *root);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_MEMORY_UNIFYDYNAMICMEMORY_H
