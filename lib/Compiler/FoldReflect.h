//===- FoldReflect.h - What code asks of its compilation --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NVIDIA's library of functions asks by `__nvvm_reflect` whether subnormal
// numbers are flushed to zero, and what the GPU is. LLVM answers when PTX is
// made, which is too late for checks.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_FOLDREFLECT_H
#define WORKGROUP_LIB_COMPILER_FOLDREFLECT_H

#include "mlir/Support/LLVM.h"

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::workgroup {

/// Puts answers for `chip`, as `sm_80`, in place of such questions.
void foldReflect(llvm::Module &llvmModule, StringRef chip);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_FOLDREFLECT_H
