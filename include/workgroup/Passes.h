//===- Passes.h - Passes of mlir-workgroup ----------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All passes of the project and their registration, for the plugin and the
// compiler alike. The declarations of passes are generated from the `.td` file
// of each folder; the functions that the passes call are declared in
// workgroup/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_PASSES_H
#define WORKGROUP_PASSES_H

#include "mlir/Pass/Pass.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Transforms.h"

namespace mlir::workgroup {

#define GEN_PASS_REGISTRATION
#include "workgroup/Passes.h.inc"

/// Registers every pass and pipeline of this project, once per process.
void registerAll();

} // namespace mlir::workgroup

#endif // WORKGROUP_PASSES_H
