//===- SpaceChecks.cpp - Whether memory is what it is called --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of each access in a kernel, why the emulator cannot do it.
//
//===----------------------------------------------------------------------===//

#include "SpaceChecks.h"
#include "MemorySpaces.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

/// Why the emulator cannot do an access of `operand`, which points to `source`;
/// empty if it can.
static std::string checkSpace(const Instruction &instruction,
                              const Use &operand, const Provenance &source) {
  using Kind = Provenance::Kind;
  std::string fault = findSpaceFault(instruction, operand);
  if (!fault.empty())
    return fault;
  bool isKnown = true;
  switch (unsigned space = getSpace(*operand)) {
  case NVPTXAS::ADDRESS_SPACE_CONST:
    isKnown = source.kind == Kind::Variable && getSpace(*source.base) == space;
    return isKnown ? ""
                   : "reads constant memory at an address that is of no "
                     "variable in constant memory; use global memory";
  case NVPTXAS::ADDRESS_SPACE_LOCAL:
    isKnown = source.kind == Kind::Private ||
              (source.kind == Kind::Unknown && !source.buffers.empty() &&
               !isa<CallInst>(instruction));
    return isKnown ? ""
                   : "accesses private memory at an address that is of no "
                     "memory of the thread's own";
  default:
    return "";
  }
}

bool checkSpaces(const Function &function, const Provenances &provenances,
                 std::vector<DiagnosticRecord> &errors) {
  return checkAccesses(
      function,
      [&](const Instruction &instruction, const Use &operand) {
        return checkSpace(instruction, operand,
                          provenances.get(instruction, operand.getOperandNo()));
      },
      errors);
}

} // namespace mlir::workgroup::emulator
