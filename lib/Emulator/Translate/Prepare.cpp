//===- Prepare.cpp - From bitcode to one function -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks come in the order in which they make sense: recursion and memories of
// the program as it is, calls and variables once all is inlined.
//
//===----------------------------------------------------------------------===//

#include "Prepare.h"
#include "KernelErrors.h"
#include "MemorySpaces.h"
#include "Target/LLVMPasses.h"
#include "workgroup/Target/PTX.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/ScalarizeMaskedMemIntrin.h"
#include "llvm/Transforms/Utils/Local.h"

namespace mlir::workgroup::emulator {

/// A thread has one frame: functions that call themselves cannot be inlined.
static bool checkRecursion(llvm::Module &module,
                           std::vector<DiagnosticRecord> &errors) {
  llvm::CallGraph graph(module);
  for (auto it = llvm::scc_begin(&graph); !it.isAtEnd(); ++it) {
    const llvm::Function *function = it->front()->getFunction();
    if (!it.hasCycle() || !function)
      continue;
    const llvm::Instruction *call = nullptr;
    for (const llvm::CallGraphNode::CallRecord &record : *it->front())
      if (record.first && llvm::is_contained(*it, record.second))
        call = dyn_cast_or_null<llvm::Instruction>(
            static_cast<llvm::Value *>(*record.first));
    addError(errors, call,
             "function '" + function->getName().str() +
                 "' calls itself, which the emulator cannot run");
    return false;
  }
  return true;
}

/// Makes everything but the kernel inline; calls between functions would have
/// to suspend, too.
static void inlineAll(llvm::Module &module, llvm::Function &kernel) {
  for (llvm::Function &function : module) {
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    if (&function != &kernel && !function.isDeclaration())
      function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  llvm::internalizeModule(module, [&](const llvm::GlobalValue &value) {
    return &value == &kernel;
  });
  runLLVMPasses(module, /*machine=*/nullptr, [](llvm::PassBuilder &) {
    llvm::ModulePassManager passes;
    passes.addPass(llvm::AlwaysInlinerPass());
    // Of all memory only that which never had an address is looked through:
    // loads must stay where the program has them.
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(
        llvm::SROAPass(llvm::SROAOptions::PreserveCFG)));
    // A lane that is masked out makes no access: that takes branches.
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(
        llvm::ScalarizeMaskedMemIntrinPass()));
    passes.addPass(llvm::GlobalDCEPass());
    return passes;
  });
  llvm::removeUnreachableBlocks(kernel);
}

/// Puts private memory of constant size to where the function begins, wherever
/// the program makes it.
static void hoistPrivateMemory(llvm::Function &kernel) {
  llvm::BasicBlock &entry = kernel.getEntryBlock();
  for (llvm::Instruction &instruction :
       llvm::make_early_inc_range(llvm::instructions(kernel))) {
    auto *memory = dyn_cast<llvm::AllocaInst>(&instruction);
    if (memory && isa<llvm::ConstantInt>(memory->getArraySize()) &&
        memory->getParent() != &entry)
      memory->moveBefore(entry.getFirstInsertionPt());
  }
}

/// True if the memory at `pointer` is looked at, as that of a tensor map is
/// not.
static bool isAccessed(const llvm::Value &pointer) {
  return llvm::any_of(pointer.users(), [](const llvm::User *user) {
    if (isa<llvm::PHINode, llvm::SelectInst>(user))
      return false; // whoever takes that for a tensor map looks again
    return !isa<llvm::CallInst>(user) || isa<llvm::MemIntrinsic>(user);
  });
}

/// True for a parameter that is a tensor map: one that is used as nothing else
/// or, of what is not used, has the type that this project gives them.
static bool isTensorMap(const llvm::Argument &argument) {
  constexpr unsigned kWords = 16;
  auto *array = dyn_cast<llvm::ArrayType>(argument.getParamByValType());
  bool isOfWords = array && array->getNumElements() == kWords &&
                   array->getElementType()->isIntegerTy(64);
  return argument.use_empty() ? isOfWords : !isAccessed(argument);
}

/// Puts what is passed by value into private memory, as each thread may write
/// to its own.
static void copyParameters(PreparedKernel &kernel) {
  const llvm::DataLayout &layout = kernel.module->getDataLayout();
  llvm::BasicBlock &entry = kernel.function->getEntryBlock();
  for (llvm::Argument &argument : kernel.function->args()) {
    if (!argument.hasByValAttr() || isTensorMap(argument))
      continue;
    llvm::IRBuilder<> builder(&*entry.getFirstInsertionPt());
    llvm::Type *type = argument.getParamByValType();
    llvm::AllocaInst *copy = builder.CreateAlloca(type);
    copy->setAlignment(
        argument.getParamAlign().value_or(layout.getABITypeAlign(type)));
    kernel.copies[argument.getArgNo()] = copy;
    argument.replaceAllUsesWith(
        builder.CreateAddrSpaceCast(copy, argument.getType()));
  }
}

/// Who may write by `pointer`; null if nobody does.
static const llvm::User *findWriter(const llvm::Value &pointer) {
  for (const llvm::User *user : pointer.users()) {
    if (isa<llvm::GEPOperator, llvm::AddrSpaceCastOperator>(user))
      user = findWriter(*user);
    if (user && !isa<llvm::LoadInst>(user))
      return user;
  }
  return nullptr;
}

/// A variable that kernels write lives as long as the module on a GPU.
static bool checkVariables(const llvm::Module &module,
                           std::vector<DiagnosticRecord> &errors) {
  for (const llvm::GlobalVariable &variable : module.globals()) {
    if (variable.isConstant() || variable.getAddressSpace() == kSharedSpace ||
        variable.getName().starts_with("llvm."))
      continue;
    const llvm::User *writer = findWriter(variable);
    if (!writer)
      continue;
    addError(errors, dyn_cast<llvm::Instruction>(writer),
             "variable '" + variable.getName().str() +
                 "' of the module outlives launches, which is not emulated; "
                 "pass it as an argument");
    return false;
  }
  return true;
}

/// The first instruction by way of which `value` is used; null if none.
static const llvm::Instruction *findUser(const llvm::Value &value) {
  for (const llvm::User *user : value.users()) {
    auto *instruction = dyn_cast<llvm::Instruction>(user);
    if (!instruction)
      instruction = findUser(*user);
    if (instruction)
      return instruction;
  }
  return nullptr;
}

/// Functions that were inlined are there no more, unless something else is done
/// with them.
static bool checkAddresses(const llvm::Module &module,
                           const llvm::Function &kernel,
                           std::vector<DiagnosticRecord> &errors) {
  for (const llvm::Function &function : module) {
    if (&function == &kernel || function.isDeclaration())
      continue;
    addError(errors, findUser(function),
             "the address of function '" + function.getName().str() +
                 "' is used as a value, which the emulator has none of");
    return false;
  }
  return true;
}

static bool checkCalls(const llvm::Function &kernel,
                       std::vector<DiagnosticRecord> &errors) {
  for (const llvm::Instruction &instruction : llvm::instructions(kernel)) {
    auto *call = dyn_cast<llvm::CallBase>(&instruction);
    if (!call || call->isInlineAsm())
      continue;
    const llvm::Function *callee = call->getCalledFunction();
    if (!callee) {
      addError(errors, call,
               "the emulator cannot call a function by its address");
      return false;
    }
    if (!callee->isDeclaration()) {
      addError(errors, call,
               "the emulator cannot inline function '" +
                   callee->getName().str() + "'");
      return false;
    }
  }
  return true;
}

/// The optimiser takes away what is written to constant memory: it is looked at
/// as the program has it, in the kernel and all that it calls.
static bool checkMemories(llvm::Function &kernel,
                          std::vector<DiagnosticRecord> &errors) {
  llvm::SetVector<llvm::Function *> reached;
  reached.insert(&kernel);
  bool isRight = true;
  for (unsigned i = 0; i < reached.size(); ++i) {
    isRight &= checkAccesses(*reached[i], findSpaceFault, errors);
    for (llvm::Instruction &instruction : llvm::instructions(*reached[i]))
      if (auto *call = dyn_cast<llvm::CallBase>(&instruction))
        if (llvm::Function *callee = call->getCalledFunction())
          reached.insert(callee);
  }
  return isRight;
}

/// What `call`, assembly without an instruction, leaves in the registers of its
/// results: what was in them before. Null if that is not said.
static llvm::Value *findTied(llvm::CallInst &call) {
  auto constraints =
      llvm::cast<llvm::InlineAsm>(call.getCalledOperand())->ParseConstraints();
  llvm::SmallVector<llvm::Value *> values;
  unsigned numResults = llvm::count_if(constraints, [](const auto &info) {
    return info.Type == llvm::InlineAsm::isOutput && !info.isIndirect;
  });
  for (unsigned i = 0; i < numResults; ++i) {
    if (!constraints[i].hasMatchingInput())
      return nullptr;
    unsigned tied = constraints[i].MatchingInput;
    if (tied < numResults || tied - numResults >= call.arg_size())
      return nullptr;
    values.push_back(call.getArgOperand(tied - numResults));
  }
  if (values.empty() || !call.getType()->isStructTy())
    return values.size() == 1 ? values.front() : nullptr;
  llvm::IRBuilder<> builder(&call);
  llvm::Value *whole = llvm::PoisonValue::get(call.getType());
  for (auto [i, value] : llvm::enumerate(values))
    whole = builder.CreateInsertValue(whole, value, i);
  return whole;
}

/// Removes assembly without an instruction, which only keeps what is computed
/// of its results from coming before it.
static void removeEmptyAssembly(llvm::Function &kernel) {
  for (llvm::Instruction &instruction :
       llvm::make_early_inc_range(llvm::instructions(kernel))) {
    auto *call = dyn_cast<llvm::CallInst>(&instruction);
    auto *assembly =
        call ? dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
    if (!assembly || !assembly->getAsmString().empty())
      continue;
    if (llvm::Value *tied = findTied(*call)) {
      call->replaceAllUsesWith(tied);
      call->eraseFromParent();
    } else if (call->getType()->isVoidTy()) {
      call->eraseFromParent();
    }
  }
}

PreparedKernel prepareKernel(llvm::LLVMContext &context,
                             const std::string &bitcode,
                             const std::string &name, const std::string &chip,
                             std::vector<DiagnosticRecord> &errors) {
  auto parsed =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, name), context);
  if (!parsed) {
    addError(errors, nullptr, llvm::toString(parsed.takeError()));
    return {};
  }
  std::unique_ptr<llvm::Module> module = std::move(*parsed);
  llvm::Function *kernel = module->getFunction(name);
  if (!kernel || kernel->isDeclaration()) {
    addError(errors, nullptr, "there is no kernel '" + name + "'");
    return {};
  }
  if (!checkRecursion(*module, errors) || !checkMemories(*kernel, errors))
    return {};
  if (!chip.empty() && !optimizeForChip(*module, chip)) {
    addError(errors, nullptr, "this LLVM was built without the NVPTX target");
    return {};
  }
  kernel->setCallingConv(llvm::CallingConv::C);
  inlineAll(*module, *kernel);
  if (!checkCalls(*kernel, errors) ||
      !checkAddresses(*module, *kernel, errors) ||
      !checkVariables(*module, errors))
    return {};
  hoistPrivateMemory(*kernel);
  removeEmptyAssembly(*kernel);
  PreparedKernel prepared{std::move(module), kernel, {}, {}};
  copyParameters(prepared);
  for (llvm::Instruction &instruction : llvm::instructions(*kernel))
    prepared.instructions.push_back(&instruction);
  return prepared;
}

} // namespace mlir::workgroup::emulator
