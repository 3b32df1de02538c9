//===- KeepLoads.cpp - Loads whose value nobody uses ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeepLoads.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace mlir::workgroup {

static bool isUse(const llvm::Instruction &instruction) {
  auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == llvm::Intrinsic::fake_use;
}

static bool isThreadPrivate(const llvm::Value *pointer) {
  return isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
}

static bool isUsed(const llvm::LoadInst &load) {
  return llvm::any_of(load.users(), [](const llvm::User *user) {
    return isUse(*cast<llvm::Instruction>(user));
  });
}

void useLoads(llvm::Module &llvmModule) {
  llvm::Function *use = nullptr;
  for (llvm::Function &function : llvmModule)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *load = dyn_cast<llvm::LoadInst>(&instruction);
      if (!load || isThreadPrivate(load->getPointerOperand()) || isUsed(*load))
        continue;
      if (!use)
        use = llvm::Intrinsic::getOrInsertDeclaration(
            &llvmModule, llvm::Intrinsic::fake_use);
      llvm::IRBuilder<> builder(load->getNextNode());
      builder.SetCurrentDebugLocation(load->getDebugLoc());
      builder.CreateCall(use, {load});
    }
}

/// What of `function` something comes of: where control goes, and what other
/// than a use has an effect.
static llvm::SetVector<llvm::Instruction *>
collectNeeded(llvm::Function &function) {
  llvm::SetVector<llvm::Instruction *> needed;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (!isUse(instruction) &&
        (instruction.isTerminator() || instruction.mayHaveSideEffects()))
      needed.insert(&instruction);
  for (unsigned i = 0; i < needed.size(); ++i)
    for (llvm::Value *operand : needed[i]->operands())
      if (auto *made = dyn_cast<llvm::Instruction>(operand))
        needed.insert(made);
  return needed;
}

void dropOtherUses(llvm::Module &llvmModule) {
  for (llvm::Function &function : llvmModule) {
    llvm::SetVector<llvm::Instruction *> needed = collectNeeded(function);
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (!isUse(instruction))
        continue;
      auto *used = dyn_cast<llvm::Instruction>(instruction.getOperand(0));
      bool isVariable = isa_and_nonnull<llvm::AllocaInst>(used);
      if (!isVariable && (!used || needed.contains(used)))
        instruction.eraseFromParent();
    }
  }
}

} // namespace mlir::workgroup
