//===- ElectThreads.h - Who starts tensor copies ----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operands of a tensor copy are in registers that the lanes of a warp
// share. Of a branch that thread 0 takes, ptxas does not know that one lane
// does, and makes a loop over lanes around each copy. It does know of
// `elect.sync`.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_ELECTTHREADS_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_ELECTTHREADS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Lets thread 0, where it alone starts tensor copies in kernels among
/// `scopes`, do so behind an `elect.sync` of its lane: the thread stays the
/// same, so that what it has done before comes before them.
void electCopyingThreads(ArrayRef<Operation *> scopes, RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_ELECTTHREADS_H
