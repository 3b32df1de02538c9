//===- AssumedAlignment.h - The option assume-alignment ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Several passes take an alignment in bytes that memref arguments may be
// assumed to have.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_UTILS_ASSUMEDALIGNMENT_H
#define WORKGROUP_LIB_TRANSFORMS_UTILS_ASSUMEDALIGNMENT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

/// Emits an error at `root`, which a pass runs on, unless `alignment` is one.
inline LogicalResult verifyAssumedAlignment(Operation *root,
                                            int64_t alignment) {
  if (llvm::isPowerOf2_64(alignment))
    return success();
  return emitError(root->getLoc())
         << "assume-alignment must be a power of two, not " << alignment;
}

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_UTILS_ASSUMEDALIGNMENT_H
