//===- Registration.h - What programs may be made of ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_REGISTRATION_H
#define WORKGROUP_LIB_COMPILER_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::workgroup {

/// All dialects of MLIR, as in `mlir-opt`; they are loaded when they are used.
const DialectRegistry &getRegistry();

/// Registers all passes, of MLIR and of this project, once.
void registerPassesOnce();

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_REGISTRATION_H
