//===- AtomicUpdates.h - Atomic updates that GPUs lack ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPUs compare and exchange integers of 8, 16, 32 and 64 bits. What has as many
// bits is updated as such an integer, and what has less than 8, of which memory
// holds one in a byte, as that byte.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_ATOMICUPDATES_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_ATOMICUPDATES_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Why `op` is an atomic update that no GPU can do, and what to do; empty if it
/// is none, or one can.
std::string getAtomicObstacle(Operation *op);

/// `memref.atomic_rmw` for which LLVM has no operation becomes
/// `memref.generic_atomic_rmw`, and that one of integers.
void populateAtomicUpdatePatterns(RewritePatternSet &patterns);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_ATOMICUPDATES_H
