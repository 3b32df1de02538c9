//===- KernelFunctions.h - What becomes kernels, as data --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedules of the Python package choose tiles by the structure of a
// kernel: its operations, loops, operands, contractions and chains of them.
// That is read from the functions that kernel formation makes, before anything
// is tiled.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_RECORDS_KERNELFUNCTIONS_H
#define WORKGROUP_LIB_COMPILER_RECORDS_KERNELFUNCTIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "workgroup/Compiler/KernelFunctions.h"

namespace mlir::workgroup {

/// The functions of `module` that `workgroup-form-kernels` made, in order.
std::vector<KernelFunctionRecord> describeKernelFunctions(ModuleOp module);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_RECORDS_KERNELFUNCTIONS_H
