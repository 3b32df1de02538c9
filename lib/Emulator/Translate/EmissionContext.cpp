//===- EmissionContext.cpp - What all emitters share ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands and results go by the registers of the thread's state, where the
// runtime, and other threads, find them.
//
//===----------------------------------------------------------------------===//

#include "EmissionContext.h"
#include "KernelErrors.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include <cstddef>

using namespace llvm;

namespace mlir::workgroup::emulator {

EmissionContext::EmissionContext(Function &function, const KernelFacts &facts,
                                 InstrumentOptions options,
                                 KernelTables &tables,
                                 std::vector<DiagnosticRecord> &errors)
    : function(function), module(*function.getParent()),
      context(function.getContext()), facts(facts), options(options),
      tables(tables), errors(errors), thread(function.getArg(0)),
      i8(IntegerType::get(context, 8)), i32(IntegerType::get(context, 32)),
      i64(IntegerType::get(context, 64)), ptr(PointerType::get(context, 0)),
      voidType(Type::getVoidTy(context)) {}

bool EmissionContext::refuse(const Instruction &instruction,
                             const Twine &message) {
  addError(errors, &instruction, message.str());
  return false;
}

uint32_t EmissionContext::addOperation(const Instruction &at,
                                       Operation operation) {
  operation.site = addSite(at);
  tables.operations.push_back(std::move(operation));
  return tables.operations.size() - 1;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

Value *EmissionContext::getField(IRBuilder<> &builder, Type *type, Value *base,
                                 uint64_t offset, bool isInvariant) {
  LoadInst *load = builder.CreateLoad(
      type, builder.CreateConstInBoundsGEP1_64(i8, base, offset));
  if (isInvariant)
    load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context, {}));
  return load;
}

StoreInst *EmissionContext::setThreadField(IRBuilder<> &builder,
                                           uint64_t offset, uint32_t value) {
  return builder.CreateStore(builder.getInt32(value),
                             getThreadAddress(builder, offset));
}

CallInst *EmissionContext::callRuntime(IRBuilder<> &builder, StringRef name,
                                       Type *result,
                                       ArrayRef<Value *> operands) {
  SmallVector<Value *> all = {thread};
  append_range(all, operands);
  SmallVector<Type *> types;
  for (Value *value : all)
    types.push_back(value->getType());
  FunctionCallee callee =
      module.getOrInsertFunction(name, FunctionType::get(result, types, false));
  cast<Function>(callee.getCallee())->addFnAttr(Attribute::NoUnwind);
  return builder.CreateCall(callee, all);
}

void EmissionContext::replace(Instruction &instruction, Value *value) {
  instruction.replaceAllUsesWith(value);
  instruction.eraseFromParent();
}

Value *EmissionContext::getWindow(IRBuilder<> &builder) {
  return getOffset(builder,
                   getThreadField(builder, ptr, offsetof(ThreadState, shared)));
}

Value *EmissionContext::getSharedOffset(IRBuilder<> &builder, Value *pointer) {
  Value *offset = getOffset(builder, pointer);
  if (pointer->getType()->getPointerAddressSpace() != 0)
    return offset;
  return builder.CreateSub(offset, getWindow(builder));
}

static uint64_t getNumRegisters(const DataLayout &layout, Type *type) {
  return divideCeil(layout.getTypeStoreSize(type).getFixedValue(), 4);
}

void EmissionContext::storeRegisters(IRBuilder<> &builder,
                                     ArrayRef<Value *> values) {
  unsigned index = 0;
  for (Value *value : values) {
    if (value->getType()->isPointerTy())
      value = getOffset(builder, value);
    if (value->getType()->isIntegerTy() &&
        value->getType()->getIntegerBitWidth() < 32)
      value = builder.CreateZExt(value, i32);
    builder.CreateAlignedStore(
        value,
        getThreadAddress(builder, offsetof(ThreadState, registers) + 4 * index),
        Align(4));
    index += getNumRegisters(getLayout(), value->getType());
  }
}

Value *EmissionContext::loadRegisters(IRBuilder<> &builder, Type *type,
                                      unsigned &index) {
  if (auto *record = dyn_cast<StructType>(type)) {
    Value *result = PoisonValue::get(type);
    for (auto [i, element] : enumerate(record->elements()))
      result = builder.CreateInsertValue(
          result, loadRegisters(builder, element, index), i);
    return result;
  }
  bool isNarrow = type->isIntegerTy() && type->getIntegerBitWidth() < 32;
  Type *held = isNarrow ? i32 : type;
  Value *value = builder.CreateAlignedLoad(
      held,
      getThreadAddress(builder, offsetof(ThreadState, registers) + 4 * index),
      Align(4));
  index += getNumRegisters(getLayout(), held);
  return isNarrow ? builder.CreateTrunc(value, type) : value;
}

//===----------------------------------------------------------------------===//
// Threads that wait or end
//===----------------------------------------------------------------------===//

void EmissionContext::suspend(IRBuilder<> &builder, uint32_t number,
                              Wait wait) {
  setThreadField(builder, offsetof(ThreadState, operation), number);
  addSuspension(
      *setThreadField(builder, offsetof(ThreadState, wait), uint32_t(wait)));
}

BasicBlock *EmissionContext::getEnd() {
  if (!end)
    end = BasicBlock::Create(context, "end", &function);
  return end;
}

void EmissionContext::endThreadAfter(Instruction &call) {
  BasicBlock *block = call.getParent();
  SplitBlock(block, &call);
  block->getTerminator()->eraseFromParent();
  IRBuilder<>(block).CreateBr(getEnd());
  if (!call.use_empty())
    call.replaceAllUsesWith(PoisonValue::get(call.getType()));
  call.eraseFromParent();
}

} // namespace mlir::workgroup::emulator
