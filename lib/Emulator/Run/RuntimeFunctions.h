//===- RuntimeFunctions.h - What generated code calls -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that generated code calls, for who links it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_RUNTIMEFUNCTIONS_H
#define WORKGROUP_LIB_EMULATOR_RUN_RUNTIMEFUNCTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include <utility>

namespace mlir::workgroup::emulator {

/// Names, of RuntimeNames.h, and addresses of the functions.
llvm::ArrayRef<std::pair<const char *, void *>> getRuntimeFunctions();

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_RUNTIMEFUNCTIONS_H
