//===- TensorEncodings.h - Tensors that are more than their shape -*- C++ -*-=//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor type may have an encoding, as sparse tensors do, which says how its
// elements are stored. No lowering here follows it: bufferization would make a
// dense buffer of it, so that such tensors are refused where they enter or are
// made.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_TENSORENCODINGS_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_TENSORENCODINGS_H

#include "mlir/IR/Operation.h"

namespace mlir::workgroup {

/// Emits an error for each argument and each operation inside `root` of host
/// code that has or makes a tensor with an encoding, which says how elements
/// are stored: as buffers they would all be dense. What others than sparse ones
/// mean passes of the caller may know, which takes `onlySparse`.
LogicalResult checkEncodings(Operation *root, bool onlySparse = false);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_TENSORENCODINGS_H
