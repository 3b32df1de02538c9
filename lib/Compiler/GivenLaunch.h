//===- GivenLaunch.h - What is known of a launch in advance -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels without a host function tell nothing of the sizes that they are going
// to be launched with. Whoever compiles them may.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_GIVENLAUNCH_H
#define WORKGROUP_LIB_COMPILER_GIVENLAUNCH_H

#include "mlir/IR/BuiltinOps.h"
#include "workgroup/Compiler/Compile.h"

namespace mlir::workgroup {

/// Lets the kernels of `program` that `options` means know the sizes that these
/// tell. An error for a kernel that says to be for others.
LogicalResult fixLaunchSizes(ModuleOp program, const CompileOptions &options);

/// Leaves of the kernels of `program`, which launches none, the one that
/// `options` name. An error if it is not there.
LogicalResult keepOneKernel(ModuleOp program, const CompileOptions &options);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_GIVENLAUNCH_H
