//===- CopyStructures.h - Structures that kernels are passed ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structure that is passed by value is memory of LLVM's, which a kernel may
// write. Analyses know of numbers: a copy lets SROA make variables of what is
// written, and each part that is read is read once, where the kernel begins.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_COPYSTRUCTURES_H
#define WORKGROUP_LIB_COMPILER_COPYSTRUCTURES_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::workgroup {

/// Lets kernels work on copies of their parameters in memory, but for tensor
/// maps.
void copyStructures(llvm::Module &llvmModule);

/// Lets kernels read the parts of parameters in memory that nobody writes where
/// they begin, each once.
void shareParts(llvm::Module &llvmModule);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_COPYSTRUCTURES_H
