//===- RaiseAssembly.cpp - Inline PTX to instructions of LLVM -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collect finds the inline assembly, decide parses it and looks up what each
// statement is, apply builds that. A statement with a predicate becomes a
// branch around it; what it would have left in its registers is chosen behind.
//
//===----------------------------------------------------------------------===//

#include "RaiseAssembly.h"
#include "Assembly.h"
#include "AssemblyStatements.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace mlir::workgroup {

namespace {

/// One piece of inline assembly, and what its operands hold.
class AssemblyCall {
public:
  AssemblyCall(llvm::CallInst &call, ArrayRef<AssemblyStatement> statements);

  /// True if all of it is known.
  bool isKnown();
  void raise();

private:
  void raiseStatement(const AssemblyStatement &statement);
  llvm::Value *makeResult(llvm::IRBuilder<> &builder) const;

  llvm::CallInst &call;
  ArrayRef<AssemblyStatement> statements;
  AssemblyRegisters registers;
};

} // namespace

/// The types of what `call` writes, one for each of its first operands.
static SmallVector<llvm::Type *> getResultTypes(const llvm::CallInst &call) {
  llvm::Type *type = call.getType();
  if (auto *record = dyn_cast<llvm::StructType>(type))
    return SmallVector<llvm::Type *>(record->elements());
  if (type->isVoidTy())
    return {};
  return {type};
}

AssemblyCall::AssemblyCall(llvm::CallInst &call,
                           ArrayRef<AssemblyStatement> statements)
    : call(call), statements(statements) {
  for (llvm::Type *type : getResultTypes(call))
    registers.values.push_back(llvm::PoisonValue::get(type));
  registers.numResults = registers.values.size();
  llvm::append_range(registers.values, call.args());
}

bool AssemblyCall::isKnown() {
  unsigned count = registers.values.size();
  return llvm::all_of(statements, [&](const AssemblyStatement &statement) {
    bool areThere = !statement.predicate || *statement.predicate < count;
    for (const AssemblyOperand &operand : statement.operands)
      for (const AssemblyOperand::Atom &atom : operand.atoms)
        areThere &= !atom.place || *atom.place < count;
    return areThere &&
           (!statement.predicate ||
            registers.values[*statement.predicate]->getType()->isIntegerTy(
                1)) &&
           isKnownStatement(statement, registers, call.getContext());
  });
}

void AssemblyCall::raiseStatement(const AssemblyStatement &statement) {
  if (!statement.predicate) {
    llvm::IRBuilder<> builder(&call);
    return buildStatement(statement, registers, builder);
  }
  llvm::IRBuilder<> before(&call);
  llvm::Value *holds = registers.values[*statement.predicate];
  if (statement.isNegated)
    holds = before.CreateNot(holds);
  SmallVector<llvm::Value *> old(registers.values);
  llvm::BasicBlock *around = call.getParent();
  llvm::Instruction *end =
      llvm::SplitBlockAndInsertIfThen(holds, &call, /*Unreachable=*/false);
  llvm::IRBuilder<> builder(end);
  builder.SetCurrentDebugLocation(call.getDebugLoc());
  buildStatement(statement, registers, builder);
  llvm::IRBuilder<> behind(&*call.getParent()->begin());
  behind.SetCurrentDebugLocation(call.getDebugLoc());
  for (auto [value, was] : llvm::zip_equal(registers.values, old)) {
    if (value == was)
      continue;
    llvm::PHINode *chosen = behind.CreatePHI(value->getType(), 2);
    chosen->addIncoming(value, end->getParent());
    chosen->addIncoming(was, around);
    value = chosen;
  }
}

llvm::Value *AssemblyCall::makeResult(llvm::IRBuilder<> &builder) const {
  if (!call.getType()->isStructTy())
    return registers.values.front();
  llvm::Value *result = llvm::PoisonValue::get(call.getType());
  for (unsigned i = 0; i < registers.numResults; ++i)
    result = builder.CreateInsertValue(result, registers.values[i], i);
  return result;
}

void AssemblyCall::raise() {
  for (const AssemblyStatement &statement : statements)
    raiseStatement(statement);
  llvm::IRBuilder<> builder(&call);
  if (registers.numResults != 0)
    call.replaceAllUsesWith(makeResult(builder));
  call.eraseFromParent();
}

/// Replaces `call` of inline assembly, if all of it is known.
static void raiseAssembly(llvm::CallInst &call) {
  auto *assembly = cast<llvm::InlineAsm>(call.getCalledOperand());
  std::optional<SmallVector<AssemblyStatement, 0>> statements =
      parseAssembly(assembly->getAsmString());
  if (!statements)
    return;
  AssemblyCall raised(call, *statements);
  if (raised.isKnown())
    raised.raise();
}

void raiseAssembly(llvm::Module &llvmModule) {
  SmallVector<llvm::CallInst *> calls;
  for (llvm::Function &function : llvmModule)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::CallInst>(&instruction);
          call && call->isInlineAsm())
        calls.push_back(call);
  for (llvm::CallInst *call : calls)
    raiseAssembly(*call);
}

} // namespace mlir::workgroup
