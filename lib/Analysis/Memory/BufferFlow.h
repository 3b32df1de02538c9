//===- BufferFlow.h - Where the memory of a value goes on -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One step along the memory of a memref: through views, selections, branches,
// and the regions and results of region operations. Calls are for the caller.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_MEMORY_BUFFERFLOW_H
#define WORKGROUP_LIB_ANALYSIS_MEMORY_BUFFERFLOW_H

#include "mlir/IR/Dominance.h"

namespace mlir::workgroup {

/// The values of its function through which the memory of `use` goes on.
SmallVector<Value> getAliases(OpOperand &use);

/// True if the memory of `allocation` may, by way of `use`, still be in use
/// when `allocation` is executed again: `use` hands it to a later iteration of
/// a loop.
bool isHandedOn(OpOperand &use, Operation *allocation,
                DominanceInfo &dominance);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_MEMORY_BUFFERFLOW_H
