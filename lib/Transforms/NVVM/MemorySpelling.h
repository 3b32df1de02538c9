//===- MemorySpelling.h - Spellings of memory spaces ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One memory space has several spellings in memref types:
// `#gpu.address_space<workgroup>`, the number 3, and attributes of the LLVM and
// NVVM dialects. Upstream's lowering does not know some of them, and takes
// others for another memory. All types in a kernel get one that it knows.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_MEMORYSPELLING_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_MEMORYSPELLING_H

#include "mlir/IR/Operation.h"

namespace mlir::workgroup {

/// Gives the memory spaces of memrefs in `root` the spelling that upstream's
/// lowering of the GPU dialect knows, and takes for the right memory: not those
/// of the LLVM and NVVM dialects, and not 5 for an allocation on the stack.
void respellMemorySpaces(Operation *root);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_MEMORYSPELLING_H
