//===- ReductionBuffers.cpp - Memory that reductions take -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReductionBuffers.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/LaunchLimits.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

int64_t getMaxWarps(const BlockShape &block) {
  int64_t numThreads = block.getNumThreads().value_or(kMaxBlockThreads);
  return llvm::divideCeil(std::min(numThreads, kMaxBlockThreads), kWarpSize);
}

MemRefType getReductionBufferType(gpu::AllReduceOp op) {
  int64_t maxWarps = getMaxWarps(getBlockShape(getExecutionScope(op)));
  if (maxWarps == 1 || !MemRefType::isValidElementType(op.getType()))
    return nullptr;
  return MemRefType::get({maxWarps + 1}, op.getType(),
                         MemRefLayoutAttrInterface(),
                         getWorkgroupSpace(op.getContext()));
}

} // namespace mlir::workgroup
