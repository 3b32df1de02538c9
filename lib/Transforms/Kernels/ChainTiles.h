//===- ChainTiles.h - What a block keeps of contractions --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two contractions in a chain, such as the two products of attention, share a
// block: the first makes a tile of rows by some columns at a time, and the
// second multiplies it. What lies between them, a softmax say, writes to the
// buffer that the second one reads.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINTILES_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINTILES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Transforms/Kernels.h"

namespace mlir::workgroup {

/// Lets two chained contractions of a block of `function` go through the
/// columns of the first, as many at a time as option `stream` says; if it is 0,
/// the first make `columns` at a time, unless that is 0, and the operations
/// between put their results where they read.
LogicalResult tileChain(RewriterBase &rewriter, func::FuncOp function,
                        const TileKernelOptions &options);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINTILES_H
