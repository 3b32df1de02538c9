//===- ReadSource.h - From text to a verified module ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs and schedules are text of MLIR, or of LLVM IR. What is read has
// locations throughout, is valid, and has kernels of this project only.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_READSOURCE_H
#define WORKGROUP_LIB_COMPILER_READSOURCE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "workgroup/Compiler/Compile.h"

namespace mlir::workgroup {

struct ReadModule {
  /// Null after an error.
  OwningOpRef<ModuleOp> module;
  /// Kernels were written by another compiler.
  bool hasForeignKernels = false;
};

/// Reads `source`. Its kernels know of their launches what `options` tell.
ReadModule readSource(const SourceText &source, const CompileOptions &options,
                      MLIRContext *context);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_READSOURCE_H
