//===- KnownCallees.cpp - Calls by addresses that are known ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KnownCallees.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/CallPromotionUtils.h"

namespace mlir::workgroup {

/// More functions are not told apart one by one.
static constexpr unsigned kMaxChoices = 32;

namespace {
/// What an address may be, and a number in its place.
class AddressChoice {
public:
  /// Adds what `address` may be; false if that is not known.
  bool add(llvm::Value *address);
  bool hasFunction() const {
    return llvm::any_of(choices, llvm::IsaPred<llvm::Function>);
  }
  ArrayRef<llvm::Constant *> get() const { return choices.getArrayRef(); }
  /// The number of what `address`, which was added, is of all choices.
  llvm::Value *getNumber(llvm::Value *address);

private:
  llvm::SetVector<llvm::Constant *> choices;
  DenseSet<llvm::Value *> visited;
  DenseMap<llvm::Value *, llvm::Value *> numbers;
};
} // namespace

bool AddressChoice::add(llvm::Value *address) {
  if (!visited.insert(address).second)
    return true;
  if (auto *constant = dyn_cast<llvm::Constant>(address)) {
    // Other expressions may be the addresses of functions, too.
    auto *number = dyn_cast<llvm::ConstantExpr>(constant);
    bool isNone =
        isa<llvm::ConstantPointerNull, llvm::UndefValue>(constant) ||
        (number && number->getOpcode() == llvm::Instruction::IntToPtr &&
         isa<llvm::ConstantInt>(number->getOperand(0)));
    choices.insert(constant);
    return (isNone || isa<llvm::Function>(constant)) &&
           choices.size() <= kMaxChoices;
  }
  if (auto *select = dyn_cast<llvm::SelectInst>(address))
    return select->getCondition()->getType()->isIntegerTy(1) &&
           add(select->getTrueValue()) && add(select->getFalseValue());
  if (auto *phi = dyn_cast<llvm::PHINode>(address))
    return llvm::all_of(phi->incoming_values(),
                        [&](llvm::Use &use) { return add(use.get()); });
  return false;
}

llvm::Value *AddressChoice::getNumber(llvm::Value *address) {
  if (llvm::Value *made = numbers.lookup(address))
    return made;
  llvm::IntegerType *type = llvm::Type::getInt32Ty(address->getContext());
  if (auto *constant = dyn_cast<llvm::Constant>(address))
    return llvm::ConstantInt::get(type, llvm::find(choices, constant) -
                                            choices.begin());
  if (auto *select = dyn_cast<llvm::SelectInst>(address)) {
    llvm::Value *first = getNumber(select->getTrueValue());
    llvm::Value *second = getNumber(select->getFalseValue());
    llvm::IRBuilder<> builder(select);
    return numbers[address] =
               builder.CreateSelect(select->getCondition(), first, second);
  }
  auto *phi = cast<llvm::PHINode>(address);
  llvm::IRBuilder<> builder(phi);
  llvm::PHINode *number = builder.CreatePHI(type, phi->getNumIncomingValues());
  numbers[address] = number;
  for (auto [value, block] :
       llvm::zip_equal(phi->incoming_values(), phi->blocks()))
    number->addIncoming(getNumber(value.get()), block);
  return number;
}

/// Lets an assertion fail where `call`, of no function, is.
static void failInstead(llvm::CallBase &call) {
  llvm::Module &llvmModule = *call.getModule();
  llvm::IRBuilder<> builder(&call);
  llvm::Type *pointer = builder.getPtrTy();
  llvm::FunctionCallee fail = llvmModule.getOrInsertFunction(
      "__assertfail", builder.getVoidTy(), pointer, pointer,
      builder.getInt32Ty(), pointer, builder.getInt64Ty());
  const llvm::DebugLoc &place = call.getDebugLoc();
  llvm::Value *text =
      builder.CreateGlobalString("the address that is called is of a function");
  llvm::Value *file = builder.CreateGlobalString(
      place ? place->getFilename() : llvmModule.getSourceFileName());
  llvm::Value *caller =
      builder.CreateGlobalString(call.getFunction()->getName());
  builder.CreateCall(fail,
                     {text, file, builder.getInt32(place ? place.getLine() : 0),
                      caller, builder.getInt64(1)});
  if (!call.getType()->isVoidTy())
    call.replaceAllUsesWith(llvm::Constant::getNullValue(call.getType()));
  call.eraseFromParent();
}

/// Makes a branch of `call` for each function that it may be of.
static bool callByName(llvm::CallInst &call) {
  AddressChoice choice;
  llvm::Value *address = call.getCalledOperand();
  if (!choice.add(address))
    return false;
  for (llvm::Constant *callee : choice.get())
    if (auto *function = dyn_cast<llvm::Function>(callee);
        function && !llvm::isLegalToPromote(call, function))
      return false;
  llvm::Value *number = choice.getNumber(address);
  llvm::Function *last = nullptr;
  bool hasNone = !llvm::all_of(choice.get(), llvm::IsaPred<llvm::Function>);
  for (auto [index, callee] : llvm::enumerate(choice.get())) {
    auto *function = dyn_cast<llvm::Function>(callee);
    if (!function)
      continue;
    if (!hasNone && index + 1 == choice.get().size()) {
      last = function; // whatever is left
      break;
    }
    llvm::CallBase &version =
        llvm::versionCallSite(call, function, /*BranchWeights=*/nullptr);
    auto *branch = cast<llvm::BranchInst>(
        version.getParent()->getSinglePredecessor()->getTerminator());
    auto *compare = cast<llvm::ICmpInst>(branch->getCondition());
    llvm::IRBuilder<> builder(branch);
    branch->setCondition(builder.CreateICmpEQ(number, builder.getInt32(index)));
    compare->eraseFromParent();
    llvm::promoteCall(version, function);
  }
  if (last)
    llvm::promoteCall(call, last);
  else
    failInstead(call);
  return true;
}

/// Compares numbers in the place of addresses.
static void compareNumbers(llvm::ICmpInst &compare) {
  AddressChoice choice;
  llvm::Value *lhs = compare.getOperand(0), *rhs = compare.getOperand(1);
  if (!compare.isEquality() || !choice.add(lhs) || !choice.add(rhs) ||
      !choice.hasFunction())
    return;
  llvm::IRBuilder<> builder(&compare);
  compare.replaceAllUsesWith(builder.CreateICmp(
      compare.getPredicate(), choice.getNumber(lhs), choice.getNumber(rhs)));
  compare.eraseFromParent();
}

/// Takes away what chose an address that nobody asks for any more.
static void dropChoices(llvm::Function &function) {
  bool isChanged = true;
  while (std::exchange(isChanged, false))
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function)))
      if (isa<llvm::PHINode, llvm::SelectInst>(instruction) &&
          instruction.getType()->isPointerTy() && instruction.use_empty()) {
        instruction.eraseFromParent();
        isChanged = true;
      }
}

bool callByName(llvm::Module &llvmModule) {
  bool isChanged = false;
  for (llvm::Function &function : llvmModule) {
    SmallVector<llvm::CallInst *> calls;
    SmallVector<llvm::ICmpInst *> compares;
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = dyn_cast<llvm::CallInst>(&instruction);
      if (call && !call->isInlineAsm() && !call->getCalledFunction())
        calls.push_back(call);
      if (auto *compare = dyn_cast<llvm::ICmpInst>(&instruction);
          compare && compare->getOperand(0)->getType()->isPointerTy())
        compares.push_back(compare);
    }
    for (llvm::ICmpInst *compare : compares)
      compareNumbers(*compare);
    bool isCalled = false;
    for (llvm::CallInst *call : calls)
      isCalled |= callByName(*call);
    if (!calls.empty() || !compares.empty())
      dropChoices(function);
    isChanged |= isCalled;
  }
  return isChanged;
}

} // namespace mlir::workgroup
