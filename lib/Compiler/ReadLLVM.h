//===- ReadLLVM.h - Programs that are LLVM IR -------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What other compilers make of CUDA C++, Triton and others is LLVM IR for
// nvptx64: as the module of MLIR that it stands for, with its own source lines
// or, if it tells none, the lines of the text itself.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_READLLVM_H
#define WORKGROUP_LIB_COMPILER_READLLVM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "workgroup/Support/SourceLocation.h"

namespace mlir::workgroup {

/// True if `source` is text of LLVM IR, which no text of MLIR can be.
bool isLLVM(const SourceText &source);

/// The operations that `source`, of LLVM IR, stands for on `chip`; functions
/// are inlined where they are called. Null after an error.
OwningOpRef<ModuleOp> readLLVM(const SourceText &source, StringRef chip,
                               MLIRContext *context);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_READLLVM_H
