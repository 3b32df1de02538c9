//===- Explain.h - What orders threads, and why -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What explains the kernels of an outlined module to a reader.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_RECORDS_EXPLAIN_H
#define WORKGROUP_LIB_COMPILER_RECORDS_EXPLAIN_H

#include "mlir/IR/BuiltinOps.h"
#include "workgroup/Compiler/Explanation.h"
#include "workgroup/Transforms/Sync.h"

namespace mlir::workgroup {

/// Explains the kernels of `module`, whose locations are in its text, and which
/// have not changed since `inserted` barriers were. Diagnostics on what
/// barriers are for are not held back.
ExplanationRecord explainKernels(ModuleOp module,
                                 ArrayRef<BarrierReport> inserted);

/// The verdicts on the synchronisation of the kernels of `module`. Diagnostics
/// are not held back.
std::vector<SyncRecord> proveKernels(ModuleOp module,
                                     bool assumeDistinctArguments);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_RECORDS_EXPLAIN_H
