//===- ChainSums.h - Sums of unnormalised weights ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chain that goes through columns multiplies weights that are not yet divided
// by their sum. What is a mean of values in the program is that many times as
// large, and has no room in 16 bits.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINSUMS_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINSUMS_H

#include "workgroup/Transforms/Kernels.h"

namespace mlir::workgroup {

/// Has the second contractions of chains in `block` with a softmax, which are
/// one kernel, add up in f32 and round the results, where they add up in 16
/// bits.
void widenChainSums(Block &block, const FormKernelsOptions &limits);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINSUMS_H
