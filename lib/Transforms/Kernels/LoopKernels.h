//===- LoopKernels.h - Functions of parallel loops --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A parallel loop of the host that is mapped to nothing is a kernel of its own:
// what the program says of its tiles is kept. Its function is in
// destination-passing style, like those of groups of operations.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_LOOPKERNELS_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_LOOPKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::workgroup {

/// The loop of a function that was made for it; null for any other function.
Operation *getKernelLoop(func::FuncOp function);

/// `points` if an iteration is the work of a thread, `tiles` of a block.
StringRef getLoopKind(Operation *loop);

/// Moves each parallel loop of `function` that a kernel can be made of into a
/// private function `@<function>_<n>_<kind>`, and leaves a call.
void formLoopKernels(func::FuncOp function);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_LOOPKERNELS_H
