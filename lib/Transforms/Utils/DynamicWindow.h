//===- DynamicWindow.h - The symbol of dynamic memory -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX has one window of dynamic shared memory, which begins where the static
// variables end; every `.extern .shared` symbol names its start. LLVM emits
// such a symbol for an external variable of size zero, and places an internal
// one of size zero as if it had one byte, in the midst of the others.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_UTILS_DYNAMICWINDOW_H
#define WORKGROUP_LIB_TRANSFORMS_UTILS_DYNAMICWINDOW_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::workgroup {

/// Alignment in bytes of dynamic memory that a kernel takes as a whole: what a
/// 128-byte-swizzled TMA tile needs.
constexpr int64_t kWindowAlignment = 1024;

/// The symbol of dynamic memory in `module`, aligned to at least `alignment`
/// bytes. It is made if there is none.
memref::GlobalOp getDynamicSymbol(gpu::GPUModuleOp module, int64_t alignment);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_UTILS_DYNAMICWINDOW_H
