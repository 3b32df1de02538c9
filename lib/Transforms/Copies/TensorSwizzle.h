//===- TensorSwizzle.h - How TMA swizzles rows ------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts of the hardware (PTX ISA, "Swizzling modes") that copies and layouts
// have in common.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORSWIZZLE_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORSWIZZLE_H

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

namespace mlir::workgroup {

/// The bytes that a swizzle moves as a whole.
constexpr int64_t kSwizzleChunkBytes = 16;

/// The swizzle that TMA has for rows of `rowBytes` bytes; nothing if it has
/// none.
std::optional<nvgpu::TensorMapSwizzleKind> getSwizzleKind(int64_t rowBytes);

/// The bytes after which the pattern of a swizzle of such rows repeats.
int64_t getTensorPatternBytes(int64_t rowBytes);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORSWIZZLE_H
