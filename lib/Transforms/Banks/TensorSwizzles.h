//===- TensorSwizzles.h - Swizzled destinations of TMA ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TMA can swizzle what it writes to workgroup memory: in each 128 bytes,
// 16-byte chunks change places with one another, in a pattern that repeats
// after 256, 512 or 1024 bytes (PTX ISA, "Swizzling modes"). Rows of 32, 64 or
// 128 bytes are each swizzled in themselves then.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_BANKS_TENSORSWIZZLES_H
#define WORKGROUP_LIB_TRANSFORMS_BANKS_TENSORSWIZZLES_H

#include "RowLayout.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// The layout that TMA gives rows of `rowBytes` bytes; nothing if it cannot
/// swizzle such rows.
std::optional<RowLayout> getTensorLayout(int64_t rowBytes);

/// Why the tensor maps of `loads`, of one kernel inside `root`, cannot be made
/// with a swizzle; empty if they can.
StringRef getSwizzleObstacle(ArrayRef<nvgpu::TmaAsyncLoadOp> loads,
                             Operation *root);

/// Lets TMA swizzle rows of `rowBytes` bytes in `loads`, which have no
/// obstacle.
void swizzleLoads(RewriterBase &rewriter, ArrayRef<nvgpu::TmaAsyncLoadOp> loads,
                  int64_t rowBytes, Operation *root);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_BANKS_TENSORSWIZZLES_H
