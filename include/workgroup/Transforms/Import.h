//===- Import.h - Kernels that other compilers wrote ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What CUDA C++, Triton and others become is LLVM functions: as kernels of this
// project, with arithmetic that its analyses read, they are checked, run and
// compiled like all others.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_IMPORT_H
#define WORKGROUP_TRANSFORMS_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::workgroup {

/// Makes kernels of the `llvm.func`s inside `module` that are marked as such,
/// and returns how many. See pass `workgroup-adopt-kernels`.
FailureOr<unsigned> adoptKernels(ModuleOp module);

#define GEN_PASS_DECL
#include "workgroup/Transforms/Import.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_IMPORT_H
