//===- ReductionBuffers.h - Memory that reductions take ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What lowering a reduction over a block takes in workgroup memory.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_UTILS_REDUCTIONBUFFERS_H
#define WORKGROUP_LIB_TRANSFORMS_UTILS_REDUCTIONBUFFERS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// The most warps that a block of shape `block` has.
int64_t getMaxWarps(const BlockShape &block);

/// The buffer in workgroup memory that lowering `op` takes, which all
/// reductions of one type in one function share; null if it takes none.
MemRefType getReductionBufferType(gpu::AllReduceOp op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_UTILS_REDUCTIONBUFFERS_H
