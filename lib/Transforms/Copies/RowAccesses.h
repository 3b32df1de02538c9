//===- RowAccesses.h - Who accesses a buffer along rows ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes that access one row of a buffer together have as few bank conflicts as
// there can be: neither padding nor a swizzle would change anything.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_ROWACCESSES_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_ROWACCESSES_H

#include "workgroup/Analysis/Uniformity.h"

namespace mlir::workgroup {

/// True if the threads of each warp, who agree on what `warps` says, access
/// `buffer` along its last dimension, in every access there is. Copies and
/// fills do, whoever lowers them.
bool isAccessedAlongRows(Value buffer, const UniformityAnalysis &warps);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_ROWACCESSES_H
