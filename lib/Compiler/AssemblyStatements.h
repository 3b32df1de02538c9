//===- AssemblyStatements.h - What a statement of PTX is --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The statements of inline PTX that LLVM has instructions or intrinsics for.
// Each is described once, by a function that checks it and then, if it has a
// place to build at, builds it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_ASSEMBLYSTATEMENTS_H
#define WORKGROUP_LIB_COMPILER_ASSEMBLYSTATEMENTS_H

#include "Assembly.h"
#include "AssemblyRegisters.h"
#include "llvm/IR/IRBuilder.h"

namespace mlir::workgroup {

/// True if `statement` is known, with operands as they are.
bool isKnownStatement(const AssemblyStatement &statement,
                      AssemblyRegisters &registers, llvm::LLVMContext &context);

/// Builds `statement`, which is known, and puts what it leaves into
/// `registers`.
void buildStatement(const AssemblyStatement &statement,
                    AssemblyRegisters &registers, llvm::IRBuilder<> &builder);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_ASSEMBLYSTATEMENTS_H
