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
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

/// True if `pointer`, to memory of a cluster, is certain to be made from an
/// address in that of the thread's own block.
static bool isOfOwnBlock(const Value &pointer) {
  SmallVector<const Value *> worklist = {&pointer};
  SmallPtrSet<const Value *, 8> visited;
  while (!worklist.empty()) {
    const Value *value = worklist.pop_back_val();
    if (!visited.insert(value).second || isa<UndefValue>(value) ||
        getSpace(*value) != kClusterSpace)
      continue;
    if (isa<GEPOperator, AddrSpaceCastOperator>(value))
      worklist.push_back(cast<User>(value)->getOperand(0));
    else if (auto *merged = dyn_cast<PHINode>(value))
      append_range(worklist, merged->incoming_values());
    else if (auto *choice = dyn_cast<SelectInst>(value))
      worklist.append({choice->getTrueValue(), choice->getFalseValue()});
    else
      return false;
  }
  return true;
}

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
  case NVPTXAS::ADDRESS_SPACE_SHARED_CLUSTER:
    return isOfOwnBlock(*operand)
               ? ""
               : "accesses memory of other blocks of a cluster, which is not "
                 "emulated";
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
