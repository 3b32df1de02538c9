//===- RaiseIntrinsics.h - Intrinsics of LLVM to NVVM -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream imports barriers, shuffles, votes and asynchronous copies as calls
// of intrinsics, by name, although the NVVM dialect has operations for them.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_IMPORT_RAISEINTRINSICS_H
#define WORKGROUP_LIB_TRANSFORMS_IMPORT_RAISEINTRINSICS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Replaces calls of intrinsics in `region` by the operations of NVVM that
/// become these calls. Others are left.
void raiseIntrinsics(Region &region, RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_IMPORT_RAISEINTRINSICS_H
