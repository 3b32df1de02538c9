//===- Prepare.h - From bitcode to one function --------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first step: the kernel alone, with all that it calls inlined, and without
// what no kernel may do.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_PREPARE_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_PREPARE_H

#include "workgroup/Emulator/Emulator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <map>

namespace mlir::workgroup::emulator {

/// A kernel without calls of functions that have a body.
struct PreparedKernel {
  std::unique_ptr<llvm::Module> module;
  llvm::Function *function = nullptr;
  /// The instructions in order: the same for the same bitcode and options.
  std::vector<llvm::Instruction *> instructions;
  /// The private memory that stands for each parameter that is passed by value,
  /// by its number, but for tensor maps. It is yet to be filled.
  std::map<unsigned, llvm::AllocaInst *> copies;
};

/// Reads `bitcode` and reduces it to kernel `name` with everything inlined into
/// it. With a `chip`, the kernel is optimised as for its PTX before. A module
/// of null after an error.
PreparedKernel prepareKernel(llvm::LLVMContext &context,
                             const std::string &bitcode,
                             const std::string &name, const std::string &chip,
                             std::vector<DiagnosticRecord> &errors);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_PREPARE_H
