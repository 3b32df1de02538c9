//===- TensorSwizzle.cpp - How TMA swizzles rows --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorSwizzle.h"
#include "Target/BankConflicts.h"

namespace mlir::workgroup {

std::optional<nvgpu::TensorMapSwizzleKind> getSwizzleKind(int64_t rowBytes) {
  switch (rowBytes) {
  case 32:
    return nvgpu::TensorMapSwizzleKind::SWIZZLE_32B;
  case 64:
    return nvgpu::TensorMapSwizzleKind::SWIZZLE_64B;
  case 128:
    return nvgpu::TensorMapSwizzleKind::SWIZZLE_128B;
  default:
    return std::nullopt;
  }
}

int64_t getTensorPatternBytes(int64_t rowBytes) {
  return rowBytes / kSwizzleChunkBytes * kPassBytes;
}

} // namespace mlir::workgroup
