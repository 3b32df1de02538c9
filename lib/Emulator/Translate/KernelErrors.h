//===- KernelErrors.h - What cannot be emulated --------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors about the code of a kernel, each at its place in the source.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_KERNELERRORS_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_KERNELERRORS_H

#include "workgroup/Target/LLVMDiagnostics.h"
#include "llvm/IR/Instruction.h"

namespace mlir::workgroup::emulator {

/// Adds an error at the place of `instruction`.
void addError(std::vector<DiagnosticRecord> &errors,
              const llvm::Instruction *instruction, std::string message);

/// Adds what LLVM found to be wrong with a kernel, at its place if LLVM does
/// not say more.
void addErrors(std::vector<DiagnosticRecord> &errors, const LLVMErrors &found,
               const SourceLocation &kernel);

/// Further places of an instruction that stands for several operations.
std::vector<SourceLocation>
getOtherLocations(const llvm::Instruction &instruction);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_KERNELERRORS_H
