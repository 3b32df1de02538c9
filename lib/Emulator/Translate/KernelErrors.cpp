//===- KernelErrors.cpp - What cannot be emulated -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation that stands for several is told of at all their places.
//
//===----------------------------------------------------------------------===//

#include "KernelErrors.h"
#include "Target/LineTables.h"
#include "llvm/IR/DebugInfoMetadata.h"

namespace mlir::workgroup::emulator {

std::vector<SourceLocation>
getOtherLocations(const llvm::Instruction &instruction) {
  std::vector<SourceLocation> others;
  const llvm::DebugLoc &loc = instruction.getDebugLoc();
  const llvm::DILocation *place = loc ? loc->getInlinedAt() : nullptr;
  for (; place && isFurtherLocation(*place); place = place->getInlinedAt())
    others.push_back(getLocation(*place));
  return others;
}

void addError(std::vector<DiagnosticRecord> &errors,
              const llvm::Instruction *instruction, std::string message) {
  DiagnosticRecord error{"error", std::move(message), {}, {}};
  if (instruction) {
    error.location = getLocation(*instruction);
    for (SourceLocation &other : getOtherLocations(*instruction))
      error.notes.push_back(
          {"note",
           "one operation of the kernel stands for that and for the one here",
           std::move(other),
           {}});
  }
  errors.push_back(std::move(error));
}

void addErrors(std::vector<DiagnosticRecord> &errors, const LLVMErrors &found,
               const SourceLocation &kernel) {
  for (const LLVMError &error : found)
    errors.push_back({"error",
                      "the emulator cannot compile the kernel for the host: " +
                          error.message,
                      error.location.line > 0 ? error.location : kernel,
                      {}});
}

} // namespace mlir::workgroup::emulator
