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

/// Lets the first warp of the block elect the thread that starts tensor copies,
/// in kernels among `scopes` inside `root`, where thread 0 does and any other
/// one may as well.
void electCopyingThreads(Operation *root, ArrayRef<Operation *> scopes,
                         RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_ELECTTHREADS_H
