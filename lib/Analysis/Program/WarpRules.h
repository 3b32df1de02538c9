//===- WarpRules.h - What the threads of a warp agree on --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules by which a value is the same for all lanes of a warp though it is not
// for the block: results of `gpu.subgroup_reduce` and of shuffles from one
// lane, and numbers of warps, such as `threadIdx.x / 32` where rows of the
// block are whole warps. Uniformity asks for them at operations whose operands
// differ.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROGRAM_WARPRULES_H
#define WORKGROUP_LIB_ANALYSIS_PROGRAM_WARPRULES_H

#include "mlir/IR/Operation.h"

namespace mlir::workgroup {

/// True if `op` gives all lanes of a warp what one of them, or all of them
/// together, have: whatever they differ in.
bool isOfWholeWarp(Operation *op);

/// True if `op` is the last step of a reduction over the lanes of a warp, in
/// each of which a lane combines what it has with what the lane has whose
/// number differs in some bits: all have the same then.
bool isButterfly(Operation *op);

/// True if `value` may be made of what lanes of a warp have exchanged, by which
/// they may have come to have the same.
bool isMadeOfExchange(Value value);

/// True if `op` computes from a thread id a number that only changes from warp
/// to warp.
bool isWarpNumber(Operation *op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROGRAM_WARPRULES_H
