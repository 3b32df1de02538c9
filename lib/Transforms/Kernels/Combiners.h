//===- Combiners.h - How partial results become one -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum, or the like, can be made of parts if one operation with a neutral
// element adds up all of it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_COMBINERS_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_COMBINERS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::workgroup {

/// The operation that puts partial results of `op` together; null if there is
/// none with a neutral element.
Operation *getCombiner(linalg::LinalgOp op);

/// True if partial results of `op`, of which there may be several, can be put
/// together: each is summed up by an operation of its own, from a neutral
/// element.
bool isCombinable(linalg::LinalgOp op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_COMBINERS_H
