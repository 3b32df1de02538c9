//===- LLVMDiagnostics.h - What LLVM says of a program ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A context of LLVM that nobody listens to prints what is wrong, and ends the
// process. Every context of this project is listened to.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TARGET_LLVMDIAGNOSTICS_H
#define WORKGROUP_TARGET_LLVMDIAGNOSTICS_H

#include "workgroup/Support/SourceLocation.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class DILocation;
class Function;
class Instruction;
class LLVMContext;
class Module;
} // namespace llvm

namespace mlir::workgroup {

/// An error of LLVM.
struct LLVMError {
  std::string message;
  /// The function that it is about; empty if it is not known.
  std::string function;
  /// The location in the source text; line 0 if that is not known.
  SourceLocation location;
};

using LLVMErrors = std::vector<LLVMError>;

/// The location in the source text that `location` tells.
SourceLocation getLocation(const llvm::DILocation &location);

/// The location of `instruction` in the source text, by its debug location.
SourceLocation getLocation(const llvm::Instruction &instruction);

/// The line at which the source text has `function`; column 0.
SourceLocation getLocation(const llvm::Function &function);

/// Makes `context` keep its errors in the result, instead of ending the process
/// at the first one. Nothing is printed: warnings of LLVM are about code that
/// the program's author has not written.
std::shared_ptr<const LLVMErrors> collectErrors(llvm::LLVMContext &context);

/// The errors that LLVM's verifier finds in `llvmModule`. Debug information
/// that is not valid is removed instead.
LLVMErrors verifyAndMend(llvm::Module &llvmModule);

} // namespace mlir::workgroup

#endif // WORKGROUP_TARGET_LLVMDIAGNOSTICS_H
