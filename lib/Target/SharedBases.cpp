//===- SharedBases.cpp - Addresses of workgroup memory, once --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The back end names a variable of workgroup memory anew in each block of code
// that uses it. ptxas makes an address of the name, and where loops are in
// loops does so in each iteration: of a loop of products of a persistent
// kernel, six instructions of 59. What is named once, where the kernel begins,
// stays in a register.
//
//===----------------------------------------------------------------------===//

#include "SharedBases.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include <map>

namespace mlir::workgroup {

/// True if some warps of `function` hand registers to others: it has warps that
/// do nothing but products, in loops that are worth it.
static bool movesRegisters(const llvm::Function &function) {
  return llvm::any_of(
      llvm::instructions(function), [](const llvm::Instruction &instruction) {
        auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
        return call &&
               call->getIntrinsicID() ==
                   llvm::Intrinsic::nvvm_setmaxnreg_inc_sync_aligned_u32;
      });
}

/// The address computations of `function` in loops in loops that begin with a
/// constant in workgroup memory.
static llvm::SmallVector<llvm::GetElementPtrInst *>
collect(llvm::Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  llvm::SmallVector<llvm::GetElementPtrInst *> addresses;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    auto *address = dyn_cast<llvm::GetElementPtrInst>(&instruction);
    if (address && loops.getLoopDepth(address->getParent()) > 1 &&
        address->getPointerAddressSpace() ==
            llvm::NVPTXAS::ADDRESS_SPACE_SHARED &&
        isa<llvm::Constant>(address->getPointerOperand()))
      addresses.push_back(address);
  }
  return addresses;
}

/// `global`, as a value that code generation does not know to be constant.
static llvm::Value *hide(llvm::Constant *global, llvm::IRBuilder<> &builder) {
  llvm::Type *text = builder.getPtrTy();
  llvm::Constant *none = llvm::Constant::getNullValue(text);
  return builder.CreateIntrinsic(
      llvm::Intrinsic::ptr_annotation, {global->getType(), text},
      {global, none, none, builder.getInt32(0), none});
}

void nameSharedBasesOnce(llvm::Module &llvmModule) {
  const llvm::DataLayout &layout = llvmModule.getDataLayout();
  for (llvm::Function &function : llvmModule) {
    if (function.isDeclaration() || !movesRegisters(function))
      continue;
    llvm::IRBuilder<> atEntry(&*function.getEntryBlock().getFirstInsertionPt());
    std::map<llvm::Constant *, llvm::Value *> bases;
    for (llvm::GetElementPtrInst *address : collect(function)) {
      auto *start = cast<llvm::Constant>(address->getPointerOperand());
      llvm::APInt offset(layout.getIndexTypeSizeInBits(start->getType()), 0);
      auto *global = dyn_cast<llvm::GlobalVariable>(
          start->stripAndAccumulateConstantOffsets(layout, offset,
                                                   /*AllowNonInbounds=*/true));
      if (!global || global->getType() != start->getType())
        continue;
      llvm::Value *&base = bases[global];
      if (!base)
        base = hide(global, atEntry);
      llvm::IRBuilder<> builder(address);
      address->setOperand(
          0, offset.isZero()
                 ? base
                 : builder.CreatePtrAdd(base, builder.getInt(offset)));
    }
  }
}

} // namespace mlir::workgroup
