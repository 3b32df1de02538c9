//===- CopyStructures.cpp - Structures that kernels are passed ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyStructures.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include <map>

namespace mlir::workgroup {

/// True if all that is done with `pointer` are accesses, of which `isAllowed`
/// holds. Others are made of a tensor map.
static bool
isOnlyAccessed(const llvm::Value &pointer,
               llvm::function_ref<bool(const llvm::Use &)> isAllowed) {
  return llvm::all_of(pointer.uses(), [&](const llvm::Use &use) {
    const llvm::User *user = use.getUser();
    if (isa<llvm::GEPOperator, llvm::AddrSpaceCastOperator>(user))
      return isOnlyAccessed(*user, isAllowed);
    return isa<llvm::LoadInst, llvm::StoreInst, llvm::MemIntrinsic>(user) &&
           isAllowed(use);
  });
}

/// True for the use of an address, not for its being stored.
static bool isAddressOfAccess(const llvm::Use &use) {
  auto *store = dyn_cast<llvm::StoreInst>(use.getUser());
  return !store ||
         use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex();
}

static bool isRead(const llvm::Use &use) {
  auto *transfer = dyn_cast<llvm::MemTransferInst>(use.getUser());
  return isa<llvm::LoadInst>(use.getUser()) ||
         (transfer && &use == &transfer->getRawSourceUse());
}

/// Calls `visit` with each parameter of a kernel in generic memory that is
/// passed by value.
static void forEachStructure(llvm::Module &llvmModule,
                             llvm::function_ref<void(llvm::Argument &)> visit) {
  for (llvm::Function &function : llvmModule)
    if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel &&
        !function.isDeclaration())
      for (llvm::Argument &argument : function.args())
        if (argument.hasByValAttr() &&
            argument.getType()->getPointerAddressSpace() == 0)
          visit(argument);
}

static void copyStructure(llvm::Argument &structure) {
  const llvm::DataLayout &layout = structure.getParent()->getDataLayout();
  llvm::Type *type = structure.getParamByValType();
  llvm::Align align =
      structure.getParamAlign().value_or(layout.getABITypeAlign(type));
  llvm::BasicBlock &entry = structure.getParent()->getEntryBlock();
  llvm::IRBuilder<> builder(&*entry.getFirstInsertionPt());
  llvm::AllocaInst *copy = builder.CreateAlloca(type);
  copy->setAlignment(align);
  llvm::Value *place = builder.CreateAddrSpaceCast(copy, structure.getType());
  structure.replaceAllUsesWith(place);
  builder.CreateMemCpy(place, align, &structure, align,
                       layout.getTypeAllocSize(type).getFixedValue());
}

void copyStructures(llvm::Module &llvmModule) {
  forEachStructure(llvmModule, [](llvm::Argument &structure) {
    if (!structure.use_empty() && isOnlyAccessed(structure, isAddressOfAccess))
      copyStructure(structure);
  });
}

/// Adds the loads of parts of `pointer`, which is `offset` bytes behind the
/// parameter.
static void
collectLoads(llvm::Value &pointer, const llvm::APInt &offset,
             llvm::function_ref<void(llvm::LoadInst &, int64_t)> add) {
  const auto users = llvm::to_vector(pointer.users());
  for (llvm::User *user : users) {
    if (auto *load = dyn_cast<llvm::LoadInst>(user)) {
      if (load->isSimple())
        add(*load, offset.getSExtValue());
    } else if (auto *step = dyn_cast<llvm::GetElementPtrInst>(user)) {
      llvm::APInt place = offset;
      if (step->accumulateConstantOffset(step->getDataLayout(), place))
        collectLoads(*step, place, add);
    }
  }
}

static void shareParts(llvm::Argument &structure) {
  llvm::BasicBlock &entry = structure.getParent()->getEntryBlock();
  std::map<std::pair<int64_t, llvm::Type *>, llvm::LoadInst *> parts;
  SmallVector<llvm::LoadInst *> replaced;
  llvm::IRBuilder<> builder(&*entry.getFirstNonPHIOrDbgOrAlloca());
  auto share = [&](llvm::LoadInst &load, int64_t offset) {
    llvm::LoadInst *&part = parts[{offset, load.getType()}];
    if (!part) {
      builder.SetCurrentDebugLocation(load.getDebugLoc());
      part = builder.CreateAlignedLoad(
          load.getType(),
          builder.CreatePtrAdd(&structure, builder.getInt64(offset)),
          load.getAlign());
    }
    load.replaceAllUsesWith(part);
    replaced.push_back(&load);
  };
  collectLoads(structure, llvm::APInt(64, 0), share);
  for (llvm::LoadInst *load : replaced)
    load->eraseFromParent();
}

void shareParts(llvm::Module &llvmModule) {
  forEachStructure(llvmModule, [](llvm::Argument &structure) {
    if (isOnlyAccessed(structure, isRead))
      shareParts(structure);
  });
}

} // namespace mlir::workgroup
