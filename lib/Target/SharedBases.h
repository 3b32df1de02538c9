//===- SharedBases.h - Addresses of workgroup memory, once ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last change of LLVM IR before code is generated of it: what keeps ptxas
// from computing addresses again.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TARGET_SHAREDBASES_H
#define WORKGROUP_LIB_TARGET_SHAREDBASES_H

#include "llvm/IR/Module.h"

namespace mlir::workgroup {

/// Lets kernels whose warps hand registers to each other keep the addresses of
/// workgroup memory that loops in loops use. What is left can only be generated
/// code of.
void nameSharedBasesOnce(llvm::Module &llvmModule);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TARGET_SHAREDBASES_H
