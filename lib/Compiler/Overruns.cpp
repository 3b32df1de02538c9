//===- Overruns.cpp - Accesses beyond private variables -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Overruns.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include <set>

namespace mlir::workgroup {

namespace {
/// Looks for an access beyond a variable.
class OverrunSearch {
public:
  explicit OverrunSearch(const llvm::AllocaInst &variable, uint64_t size)
      : layout(variable.getDataLayout()), size(size) {}

  /// True if there is one by `pointer`, which is `offset` bytes behind the
  /// variable.
  bool isFound(const llvm::Value &pointer, int64_t offset);

private:
  bool isBeyond(const llvm::Use &use, int64_t offset) const;

  const llvm::DataLayout &layout;
  uint64_t size;
  std::set<std::pair<const llvm::Value *, int64_t>> visited;
};
} // namespace

/// True if `use`, of an address, is an access of bytes that are not of the
/// variable.
bool OverrunSearch::isBeyond(const llvm::Use &use, int64_t offset) const {
  const llvm::User *user = use.getUser();
  llvm::Type *type = nullptr;
  if (auto *load = dyn_cast<llvm::LoadInst>(user))
    type = load->getType();
  else if (auto *store = dyn_cast<llvm::StoreInst>(user);
           store && use.getOperandNo() == store->getPointerOperandIndex())
    type = store->getValueOperand()->getType();
  if (!type)
    return false;
  uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
  return offset < 0 || bytes > size || uint64_t(offset) > size - bytes;
}

bool OverrunSearch::isFound(const llvm::Value &pointer, int64_t offset) {
  constexpr size_t kMost = 1 << 10;
  if (visited.size() >= kMost || !visited.insert({&pointer, offset}).second)
    return false;
  return llvm::any_of(pointer.uses(), [&](const llvm::Use &use) {
    const llvm::User *user = use.getUser();
    if (isa<llvm::PHINode, llvm::SelectInst, llvm::AddrSpaceCastInst>(user))
      return isFound(*user, offset);
    auto *step = dyn_cast<llvm::GEPOperator>(user);
    if (!step)
      return isBeyond(use, offset);
    llvm::APInt by(layout.getIndexTypeSizeInBits(step->getType()), 0);
    return step->accumulateConstantOffset(layout, by) &&
           isFound(*user, offset + by.getSExtValue());
  });
}

static bool isKept(const llvm::AllocaInst &variable) {
  return llvm::any_of(variable.users(), [](const llvm::User *user) {
    auto *call = dyn_cast<llvm::IntrinsicInst>(user);
    return call && call->getIntrinsicID() == llvm::Intrinsic::fake_use;
  });
}

void keepOverrun(llvm::Module &llvmModule) {
  for (llvm::Function &function : llvmModule)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *variable = dyn_cast<llvm::AllocaInst>(&instruction);
      std::optional<llvm::TypeSize> size;
      if (variable)
        size = variable->getAllocationSize(variable->getDataLayout());
      if (!size || isKept(*variable) ||
          !OverrunSearch(*variable, size->getFixedValue())
               .isFound(*variable, 0))
        continue;
      llvm::IRBuilder<> builder(variable->getNextNode());
      builder.CreateCall(llvm::Intrinsic::getOrInsertDeclaration(
                             &llvmModule, llvm::Intrinsic::fake_use),
                         {variable});
    }
}

} // namespace mlir::workgroup
