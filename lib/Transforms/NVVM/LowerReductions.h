//===- LowerReductions.h - Reductions over warps and blocks -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream reduces over a block by lanes that need not agree on the result, and
// over a warp by lanes that need not exist.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_LOWERREDUCTIONS_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_LOWERREDUCTIONS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Why a pass that runs on `root` cannot lower `op`; empty if it can.
StringRef getReductionObstacle(gpu::AllReduceOp op, Operation *root);

/// Lowers the reductions in `scopes`, inside `root`, over blocks and over warps
/// of which the block may have a part only to shuffles, barriers and accesses
/// to workgroup memory. Those with an obstacle, and those over full warps, are
/// left.
LogicalResult lowerReductions(Operation *root, ArrayRef<Operation *> scopes,
                              RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_LOWERREDUCTIONS_H
