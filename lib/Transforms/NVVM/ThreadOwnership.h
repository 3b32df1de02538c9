//===- ThreadOwnership.h - What belongs to one thread -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structured operation in a kernel is done whole by every thread that
// executes it. That is what the program means only if no two threads write the
// same memory by one execution. Between one and the next, as in a loop, the
// program's own barriers have to do.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_THREADOWNERSHIP_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_THREADOWNERSHIP_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "workgroup/Analysis/Uniformity.h"

namespace mlir::workgroup {

/// True if no two threads of a block are known to write the same memory by
/// `op`: the block has one thread; a comparison with a thread id lets one
/// through; the memory is private; or it is a subview whose offset steps from
/// thread to thread by no less than its size.
bool isWorkOfThread(linalg::LinalgOp op, const UniformityAnalysis &uniformity);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_THREADOWNERSHIP_H
