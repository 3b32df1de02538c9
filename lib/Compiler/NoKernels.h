//===- NoKernels.h - Why nothing of a program is a kernel -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If a schedule that the compiler chose leaves a program without a kernel, the
// user has written work in a form that no schedule takes to a GPU. Each
// function gets a warning, with a note for the first operation of each reason.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_NOKERNELS_H
#define WORKGROUP_LIB_COMPILER_NOKERNELS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::workgroup {

/// Warns of each function of `module`, a program of which a schedule has formed
/// no kernel, with what its operations are to the host.
void warnOfNoKernels(ModuleOp module);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_NOKERNELS_H
