//===- LineTables.h - Source lines in LLVM IR -------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TARGET_LINETABLES_H
#define WORKGROUP_TARGET_LINETABLES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::workgroup {

/// Gives every function of `kernels` what its translation needs to keep the
/// locations of its operations: a debug scope. Upstream's
/// `ensure-debug-info-scope-on-llvm-func` does not look into a `gpu.module`.
void addLineTables(gpu::GPUModuleOp kernels);

} // namespace mlir::workgroup

#endif // WORKGROUP_TARGET_LINETABLES_H
