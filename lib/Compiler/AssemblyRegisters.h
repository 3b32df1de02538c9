//===- AssemblyRegisters.h - What operands of PTX hold ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of LLVM that go into a piece of assembly, and come out of it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_ASSEMBLYREGISTERS_H
#define WORKGROUP_LIB_COMPILER_ASSEMBLYREGISTERS_H

#include "mlir/Support/LLVM.h"
#include "llvm/IR/Value.h"

namespace mlir::workgroup {

/// What the operands of a piece of assembly hold, by their numbers: those of
/// results come first.
struct AssemblyRegisters {
  SmallVector<llvm::Value *> values;
  unsigned numResults = 0;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_ASSEMBLYREGISTERS_H
