//===- FoldReflect.cpp - What code asks of its compilation ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FoldReflect.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace mlir::workgroup {

/// The answer to `question`, as LLVM's pass NVVMReflect gives it.
static uint64_t answer(const llvm::Module &llvmModule, StringRef question,
                       StringRef chip) {
  if (question == "__CUDA_FTZ") {
    auto *flag = llvm::mdconst::extract_or_null<llvm::ConstantInt>(
        llvmModule.getModuleFlag("nvvm-reflect-ftz"));
    return flag ? flag->getZExtValue() : 0;
  }
  unsigned version = 0;
  constexpr unsigned kPart = 10; // sm_80 is 800
  if (question == "__CUDA_ARCH" && chip.consume_front("sm_") &&
      !chip.consumeInteger(10, version))
    return version * kPart;
  return 0; // nothing is known by another name
}

void foldReflect(llvm::Module &llvmModule, StringRef chip) {
  for (StringRef name : {"__nvvm_reflect", "__nvvm_reflect_ocl"}) {
    llvm::Function *function = llvmModule.getFunction(name);
    if (!function || !function->isDeclaration())
      continue;
    for (llvm::User *user : llvm::make_early_inc_range(function->users())) {
      auto *call = dyn_cast<llvm::CallInst>(user);
      StringRef question;
      if (!call || call->getCalledFunction() != function ||
          call->arg_size() != 1 || !call->getType()->isIntegerTy() ||
          !llvm::getConstantStringInfo(call->getArgOperand(0), question))
        continue;
      call->replaceAllUsesWith(llvm::ConstantInt::get(
          call->getType(), answer(llvmModule, question, chip)));
      call->eraseFromParent();
    }
  }
}

} // namespace mlir::workgroup
