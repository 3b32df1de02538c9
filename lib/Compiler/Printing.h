//===- Printing.h - Modules as texts ----------------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Texts of modules, for people and for `mlir-opt`.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PRINTING_H
#define WORKGROUP_LIB_COMPILER_PRINTING_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::workgroup {

std::string printModule(ModuleOp module);
std::string printModule(const llvm::Module &module);

/// The text that `mlir-opt --run-reproducer` replays.
std::string makeReproducer(ModuleOp module, PassManager &manager);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PRINTING_H
