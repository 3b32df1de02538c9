//===- KeepReads.h - Reads whose value nobody uses --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What KeepLoads.h does for LLVM IR, for operations on memrefs and vectors.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_KEEPREADS_H
#define WORKGROUP_LIB_COMPILER_KEEPREADS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::workgroup {

/// Uses, by `llvm.fake.use`, what threads inside `program` read and nothing
/// follows from: such a read races all the same.
void useReads(ModuleOp program);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_KEEPREADS_H
