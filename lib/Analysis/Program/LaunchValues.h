//===- LaunchValues.h - Ids and sizes that kernels ask for ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of gpu and special registers of NVVM, which kernels of other
// compilers read, are one to all analyses.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROGRAM_LAUNCHVALUES_H
#define WORKGROUP_LIB_ANALYSIS_PROGRAM_LAUNCHVALUES_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace mlir::workgroup {

/// An id or a size along one dimension.
struct LaunchValue {
  enum Kind { ThreadId, BlockId, BlockSize, GridSize } kind;
  unsigned dim;
};

/// What `op`, which may be null, asks of the launch; nothing if it does not, or
/// something else.
std::optional<LaunchValue> getLaunchValue(Operation *op);

/// True if `op` is the number of a thread's lane.
bool isLaneId(Operation *op);

/// True if `op` asks for what is the same for all threads of a block: its id
/// and place, sizes, whatever they are of.
bool isOfWholeBlock(Operation *op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROGRAM_LAUNCHVALUES_H
