//===- RaiseAssembly.h - Inline PTX to instructions of LLVM -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Triton, and people, write loads, stores, barriers and products of matrices as
// inline PTX, which tells an analysis nothing. LLVM has instructions and
// intrinsics for the same.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_RAISEASSEMBLY_H
#define WORKGROUP_LIB_COMPILER_RAISEASSEMBLY_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::workgroup {

/// Replaces inline PTX in `llvmModule` whose statements are all known by what
/// they are. The rest is left.
void raiseAssembly(llvm::Module &llvmModule);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_RAISEASSEMBLY_H
