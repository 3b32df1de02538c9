//===- Instrument.cpp - From kernels to coroutines that are watched -------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "Emulator/State/RuntimeNames.h"
#include "Emulator/State/ThreadState.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>

using namespace llvm;

namespace mlir::workgroup::emulator {

Instrumenter::Instrumenter(PreparedKernel &kernel, InstrumentOptions options,
                           KernelTables &tables,
                           std::vector<DiagnosticRecord> &errors)
    : kernel(kernel), module(*kernel.module), function(kernel.function),
      options(options), tables(tables), errors(errors),
      context(module.getContext()), i8(IntegerType::get(context, 8)),
      i32(IntegerType::get(context, 32)), i64(IntegerType::get(context, 64)),
      ptr(PointerType::get(context, 0)), voidType(Type::getVoidTy(context)) {
  tables.name = function->getName().str();
}

Function *Instrumenter::run() {
  for (auto [number, instruction] : enumerate(kernel.instructions))
    ordinals[instruction] = number;
  collectShared();
  findEscapedBuffers();
  collectProvenances();
  if (!checkSpaces())
    return nullptr;
  findGrains();
  findPartialOrder();
  findSizeBounds();
  if (!makeFunction())
    return nullptr;
  replaceShared();
  if (options.withStatistics)
    countInstructions();
  // Constant expressions have become instructions: casts among them.
  SmallVector<Instruction *> all(make_pointer_range(instructions(*function)));
  // From the end on, so that a block that is split has little behind the split.
  for (Instruction *instruction : reverse(all))
    if (ordinals.contains(instruction) || isa<AddrSpaceCastInst>(instruction))
      instrument(*instruction);
  if (!errors.empty())
    return nullptr;
  if (tables.sites.size() >= kMaxSites) {
    addError(errors, nullptr, "the kernel has too many accesses to check");
    return nullptr;
  }
  freezeBranches();
  limitLoops();
  makeCoroutine();
  return function;
}

//===----------------------------------------------------------------------===//
// The new function
//===----------------------------------------------------------------------===//

/// True if the memory at `pointer` is looked at, as that of a tensor map is
/// not.
static bool isRead(const Value &pointer) {
  return any_of(pointer.users(), [](const User *user) {
    if (isa<PHINode, SelectInst>(user))
      return false; // whoever takes that for a tensor map looks again
    return !isa<CallInst>(user) || isa<MemIntrinsic>(user);
  });
}

/// Moves the body into a function that takes nothing but the thread; what was
/// an argument is read from the block of parameters.
bool Instrumenter::makeFunction() {
  const DataLayout &layout = module.getDataLayout();
  auto *type = FunctionType::get(ptr, {ptr}, false);
  function->setName("");
  Function *created =
      Function::Create(type, GlobalValue::ExternalLinkage, "emulated", module);
  created->splice(created->begin(), function);
  created->addFnAttr(Attribute::NoUnwind);
  thread = created->getArg(0);
  IRBuilder<> builder(&*created->getEntryBlock().getFirstInsertionPt());
  Value *parameters =
      getField(builder, ptr, thread, offsetof(ThreadState, parameters));
  for (Argument &argument : function->args()) {
    Type *held = argument.getType();
    bool isTensorMap = argument.hasByValAttr();
    tables.areTensorMaps.push_back(isTensorMap);
    if (isTensorMap && isRead(argument)) {
      addError(errors, nullptr,
               "parameter " + std::to_string(argument.getArgNo()) +
                   " of kernel '" + tables.name +
                   "' is passed by value in memory, which the emulator does "
                   "not know");
      return false;
    }
    uint64_t offset =
        alignTo(tables.parameterBytes, layout.getABITypeAlign(held));
    uint64_t bytes = layout.getTypeAllocSize(held);
    tables.parameters.push_back({offset, bytes});
    tables.parameterBytes = offset + bytes;
    Value *value = getField(builder, held, parameters, offset);
    argument.replaceAllUsesWith(value);
    if (isTensorMap)
      tensorMaps.insert(value);
  }
  function->eraseFromParent();
  function = created;
  return true;
}

/// Turns addresses of workgroup memory into offsets in its window.
void Instrumenter::replaceShared() {
  SmallVector<Constant *> variables;
  for (GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() == kSharedSpace)
      variables.push_back(&variable);
  convertUsersOfConstantsToInstructions(variables);
  for (Constant *constant : variables) {
    auto *variable = cast<GlobalVariable>(constant);
    uint64_t offset = tables.objects[sharedObjects.lookup(variable)].offset;
    variable->replaceAllUsesWith(ConstantExpr::getIntToPtr(
        ConstantInt::get(i64, offset), variable->getType()));
    variable->eraseFromParent();
  }
}

void Instrumenter::countInstructions() {
  for (BasicBlock &block : *function) {
    IRBuilder<> builder(&*block.getFirstInsertionPt());
    if (&block == &function->getEntryBlock())
      builder.SetInsertPoint(block.getTerminator());
    Value *counter = builder.CreateConstInBoundsGEP1_64(
        i8, thread, offsetof(ThreadState, instructions));
    uint64_t count = count_if(block, [&](Instruction &instruction) {
      return ordinals.contains(&instruction) && !isa<PHINode>(instruction);
    });
    Value *sum = builder.CreateAdd(builder.CreateLoad(i64, counter),
                                   builder.getInt64(count));
    builder.CreateStore(sum, counter);
  }
}

void Instrumenter::instrument(Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return instrumentLoad(*load);
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return instrumentStore(*store);
  if (auto *update = dyn_cast<AtomicRMWInst>(&instruction))
    return instrumentAtomic(*update, update->getPointerOperandIndex(),
                            update->getValOperand()->getType(),
                            AccessKind::Update);
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return instrumentAtomic(*exchange, exchange->getPointerOperandIndex(),
                            exchange->getNewValOperand()->getType(),
                            AccessKind::Update);
  if (isa<FenceInst>(instruction))
    return instrumentFence(instruction, getScope(instruction));
  if (auto *memory = dyn_cast<MemIntrinsic>(&instruction))
    return instrumentMemory(*memory);
  if (auto *cast = dyn_cast<AddrSpaceCastInst>(&instruction))
    return instrumentCast(*cast);
  if (auto *call = dyn_cast<CallInst>(&instruction))
    return instrumentCall(*call);
  if (auto *binary = dyn_cast<BinaryOperator>(&instruction))
    if (binary->isIntDivRem())
      return instrumentDivision(*binary);
  if (auto *memory = dyn_cast<AllocaInst>(&instruction))
    instrumentPrivate(*memory);
}

/// A thread of a GPU has 512 KiB of private memory, and so it has here.
void Instrumenter::instrumentPrivate(AllocaInst &memory) {
  constexpr uint64_t kMaxBytes = 512 << 10;
  auto bytes = memory.getAllocationSize(module.getDataLayout());
  if (!memory.isStaticAlloca() || !bytes) {
    refuse(memory, "private memory of a size that only the launch knows is not "
                   "emulated");
    return;
  }
  privateBytes += bytes->getFixedValue();
  if (privateBytes > kMaxBytes)
    refuse(memory, "the private memory of a thread has more than " +
                       Twine(kMaxBytes) + " bytes, which no GPU has");
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

bool Instrumenter::refuse(const Instruction &instruction,
                          const Twine &message) {
  addError(errors, &instruction, message.str());
  return false;
}

uint32_t Instrumenter::addSite(const Instruction &at) {
  Site site;
  site.location = getLocation(at);
  site.otherLocations = getOtherLocations(at);
  site.ordinal = ordinals.lookup(&at);
  tables.sites.push_back(std::move(site));
  return tables.sites.size() - 1;
}

Value *Instrumenter::getField(IRBuilder<> &builder, Type *type, Value *base,
                              uint64_t offset, bool isInvariant) {
  LoadInst *load = builder.CreateLoad(
      type, builder.CreateConstInBoundsGEP1_64(i8, base, offset));
  if (isInvariant)
    load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context, {}));
  return load;
}

CallInst *Instrumenter::callRuntime(IRBuilder<> &builder, StringRef name,
                                    Type *result, ArrayRef<Value *> operands) {
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

void Instrumenter::replace(Instruction &instruction, Value *value) {
  instruction.replaceAllUsesWith(value);
  instruction.eraseFromParent();
}

/// The bits of an address: of workgroup memory, the offset in the window.
Value *Instrumenter::getOffset(IRBuilder<> &builder, Value *pointer) {
  return builder.CreatePtrToInt(pointer, i64);
}

static uint64_t getNumRegisters(const DataLayout &layout, Type *type) {
  return divideCeil(layout.getTypeStoreSize(type).getFixedValue(), 4);
}

void Instrumenter::storeRegisters(IRBuilder<> &builder,
                                  ArrayRef<Value *> values) {
  const DataLayout &layout = module.getDataLayout();
  unsigned index = 0;
  for (Value *value : values) {
    if (value->getType()->isPointerTy())
      value = getOffset(builder, value);
    if (value->getType()->isIntegerTy() &&
        value->getType()->getIntegerBitWidth() < 32)
      value = builder.CreateZExt(value, i32);
    builder.CreateAlignedStore(
        value,
        builder.CreateConstInBoundsGEP1_64(
            i8, thread, offsetof(ThreadState, registers) + 4 * index),
        Align(4));
    index += getNumRegisters(layout, value->getType());
  }
}

Value *Instrumenter::loadRegisters(IRBuilder<> &builder, Type *type,
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
      builder.CreateConstInBoundsGEP1_64(
          i8, thread, offsetof(ThreadState, registers) + 4 * index),
      Align(4));
  index += getNumRegisters(module.getDataLayout(), held);
  return isNarrow ? builder.CreateTrunc(value, type) : value;
}

} // namespace mlir::workgroup::emulator
