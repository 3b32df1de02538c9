//===- ChainWeights.h - Weights of as many bits as values -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PyTorch multiplies values of 16 bits, extended, by weights of f32. Tensor
// cores multiply them by weights of 16 bits.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINWEIGHTS_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINWEIGHTS_H

#include "workgroup/Transforms/Kernels.h"

namespace mlir::workgroup {

/// Has chains in `block` with a softmax round weights of f32 to the 16 bits of
/// values, where tensor cores have the type and that is allowed; where it is
/// not, a remark says that it would do.
void narrowChainWeights(Block &block, const FormKernelsOptions &limits);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINWEIGHTS_H
