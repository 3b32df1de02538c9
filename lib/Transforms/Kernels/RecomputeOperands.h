//===- RecomputeOperands.h - Operands that readers make themselves -*- C++ -*-//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor that is cheap to make, or that no tile can hold, is not kept: each
// operation that reads it computes the elements again. The producer is fused
// into the body of each reader, which takes more arithmetic and no memory. A
// reader that found the extents of its loops by the tensor gets an input that
// tells them and is not read.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_RECOMPUTEOPERANDS_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_RECOMPUTEOPERANDS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::workgroup {

/// Lets generics in `block` compute the elements of each input for which
/// `isRecomputed` holds, so that nobody keeps the tensor. An input is left that
/// upstream cannot fuse. Returns whether there is one that it can.
bool recomputeInputs(RewriterBase &rewriter, Block &block,
                     llvm::function_ref<bool(OpOperand &)> isRecomputed);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_RECOMPUTEOPERANDS_H
