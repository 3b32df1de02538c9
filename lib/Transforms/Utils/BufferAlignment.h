//===- BufferAlignment.h - Raising the alignment of buffers -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What states the alignment of a buffer: its allocation, global or attribution.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_UTILS_BUFFERALIGNMENT_H
#define WORKGROUP_LIB_TRANSFORMS_UTILS_BUFFERALIGNMENT_H

#include "mlir/IR/Value.h"

namespace mlir::workgroup {

/// Raises the stated alignment of `buffer`, a result of `getRaisableBuffer`, to
/// at least `alignment` bytes.
void raiseAlignment(Value buffer, int64_t alignment);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_UTILS_BUFFERALIGNMENT_H
