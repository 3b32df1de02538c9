//===- MemorySpaces.cpp - Memories that a kernel may access ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks at each operand by which an instruction accesses memory.
//
//===----------------------------------------------------------------------===//

#include "MemorySpaces.h"
#include "KernelErrors.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

/// True if `instruction` writes to where `operand` points, as far as that is
/// for its space to allow.
static bool isWrite(const Instruction &instruction, unsigned operand) {
  return isa<StoreInst, AtomicRMWInst, AtomicCmpXchgInst>(instruction) ||
         (isa<MemIntrinsic>(instruction) && operand == 0);
}

/// True if `instruction` looks at the memory that `operand` points to.
static bool isAccess(const Instruction &instruction, const Use &operand) {
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return operand.getOperandNo() == store->getPointerOperandIndex();
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return operand.getOperandNo() == exchange->getPointerOperandIndex();
  if (isa<LoadInst, AtomicRMWInst>(instruction))
    return operand.getOperandNo() == 0;
  auto *call = dyn_cast<CallInst>(&instruction);
  if (!call || !call->isArgOperand(&operand))
    return false;
  auto *intrinsic = dyn_cast<IntrinsicInst>(call);
  return !intrinsic ||
         (!intrinsic->isAssumeLikeIntrinsic() &&
          !intrinsic->getCalledFunction()->getName().contains("prefetch"));
}

std::string findSpaceFault(const Instruction &instruction, const Use &operand) {
  bool isCall = isa<CallInst>(instruction) && !isa<MemIntrinsic>(instruction);
  switch (unsigned space = getSpace(*operand)) {
  case NVPTXAS::ADDRESS_SPACE_GENERIC:
  case NVPTXAS::ADDRESS_SPACE_GLOBAL:
  case NVPTXAS::ADDRESS_SPACE_SHARED:
  case NVPTXAS::ADDRESS_SPACE_LOCAL:
  case NVPTXAS::ADDRESS_SPACE_SHARED_CLUSTER:
    return "";
  case NVPTXAS::ADDRESS_SPACE_CONST:
    return isWrite(instruction, operand.getOperandNo())
               ? "writes to constant memory, which a kernel can only read; use "
                 "global memory"
               : "";
  case NVPTXAS::ADDRESS_SPACE_TENSOR:
    return "accesses tensor memory, which is not emulated";
  case NVPTXAS::ADDRESS_SPACE_PARAM:
    return isCall ? "" : "accesses parameter memory, which is not emulated";
  default:
    return "accesses memory of address space " + std::to_string(space) +
           ", which no NVIDIA GPU has";
  }
}

bool checkAccesses(
    const Function &function,
    function_ref<std::string(const Instruction &, const Use &)> findFault,
    std::vector<DiagnosticRecord> &errors) {
  size_t before = errors.size();
  for (const Instruction &instruction : instructions(function))
    for (const Use &operand : instruction.operands()) {
      if (!operand->getType()->isPointerTy() || !isAccess(instruction, operand))
        continue;
      std::string fault = findFault(instruction, operand);
      if (fault.empty())
        continue;
      auto *call = dyn_cast<CallInst>(&instruction);
      bool isNamed = call && call->getCalledFunction();
      StringRef name = isNamed ? call->getCalledFunction()->getName()
                               : instruction.getOpcodeName();
      addError(errors, &instruction, ("'" + name + "' " + fault).str());
    }
  return errors.size() == before;
}

} // namespace mlir::workgroup::emulator
