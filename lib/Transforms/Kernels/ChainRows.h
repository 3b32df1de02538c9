//===- ChainRows.h - Chains of vectors times matrices -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention of one query has no loop along queries: loops of one iteration are
// left out of all operations. Tensor cores multiply rows, of which one is as
// good as any other number.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINROWS_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINROWS_H

#include "workgroup/Transforms/Kernels.h"

namespace mlir::workgroup {

/// Gives chains in `block` that have no row a loop of one iteration for it, if
/// they are one kernel then.
void addChainRows(Block &block, const FormKernelsOptions &limits);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINROWS_H
