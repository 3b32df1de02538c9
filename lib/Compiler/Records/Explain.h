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
#include <functional>
#include <memory>

namespace mlir::workgroup {

/// Deeply nested programs recurse deeply; pages of the stack cost only when
/// they are touched.
constexpr unsigned kDeepStackBytes = 256u << 20;

/// Finds out, once and by any thread, what explains the kernels of a copy of
/// `program`, whose locations are in its text, and which has not changed since
/// the barriers of `reports` were inserted.
std::function<ExplanationRecord(std::optional<std::string> &crash)>
explainLater(std::shared_ptr<MLIRContext> context, ModuleOp program,
             ArrayRef<BarrierReport> reports);

/// The verdicts on the synchronisation of the kernels of `module`. Diagnostics
/// are not held back.
std::vector<SyncRecord> proveKernels(ModuleOp module,
                                     bool assumeDistinctArguments);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_RECORDS_EXPLAIN_H
