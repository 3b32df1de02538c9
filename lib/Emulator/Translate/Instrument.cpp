//===- Instrument.cpp - From kernels to watched coroutines ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel as a whole: its new function, its parameters, the addresses of
// workgroup memory, and which emitter rewrites which instruction.
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "AccessEmitter.h"
#include "CallEmitter.h"
#include "Coroutine.h"
#include "InstructionFacts.h"
#include "KernelErrors.h"
#include "MathEmitter.h"
#include "MemorySpaces.h"
#include "ProductRegisters.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>

using namespace llvm;

namespace mlir::workgroup::emulator {

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

/// Moves the body of a kernel into a function that takes nothing but the
/// thread. The old function is left with its arguments.
static Function *moveBody(Function &kernel) {
  auto *ptr = PointerType::get(kernel.getContext(), 0);
  auto *type = FunctionType::get(ptr, {ptr}, false);
  kernel.setName("");
  Function *created = Function::Create(type, GlobalValue::ExternalLinkage,
                                       "emulated", *kernel.getParent());
  created->splice(created->begin(), &kernel);
  created->addFnAttr(Attribute::NoUnwind);
  return created;
}

/// Reads what was an argument of `kernel` from the block of parameters. False
/// after an error.
static bool readParameters(EmissionContext &context, Function &kernel) {
  const DataLayout &layout = context.getLayout();
  KernelTables &tables = context.tables;
  IRBuilder<> builder(&*context.function.getEntryBlock().getFirstInsertionPt());
  Value *parameters = context.getThreadField(builder, context.ptr,
                                             offsetof(ThreadState, parameters));
  for (Argument &argument : kernel.args()) {
    Type *held = argument.getType();
    bool isTensorMap = argument.hasByValAttr();
    tables.areTensorMaps.push_back(isTensorMap);
    if (isTensorMap && isRead(argument)) {
      addError(context.errors, nullptr,
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
    Value *value = context.getField(builder, held, parameters, offset);
    argument.replaceAllUsesWith(value);
    if (isTensorMap)
      context.tensorMaps.insert(value);
  }
  return true;
}

/// Turns addresses of workgroup memory into offsets in its window.
static void replaceShared(EmissionContext &context) {
  SmallVector<Constant *> variables;
  for (GlobalVariable &variable : context.module.globals())
    if (variable.getAddressSpace() == kSharedSpace)
      variables.push_back(&variable);
  convertUsersOfConstantsToInstructions(variables);
  for (Constant *constant : variables) {
    auto *variable = cast<GlobalVariable>(constant);
    uint32_t object = context.facts.provenances.getSharedObject(*variable);
    uint64_t offset = context.tables.objects[object].offset;
    variable->replaceAllUsesWith(ConstantExpr::getIntToPtr(
        ConstantInt::get(context.i64, offset), variable->getType()));
    variable->eraseFromParent();
  }
}

static void countInstructions(EmissionContext &context) {
  Function &function = context.function;
  for (BasicBlock &block : function) {
    IRBuilder<> builder(&*block.getFirstInsertionPt());
    if (&block == &function.getEntryBlock())
      builder.SetInsertPoint(block.getTerminator());
    Value *counter =
        context.getThreadAddress(builder, offsetof(ThreadState, instructions));
    uint64_t count = count_if(block, [&](Instruction &instruction) {
      return context.facts.ordinals.contains(&instruction) &&
             !isa<PHINode>(instruction);
    });
    Value *sum = builder.CreateAdd(builder.CreateLoad(context.i64, counter),
                                   builder.getInt64(count));
    builder.CreateStore(sum, counter);
  }
}

//===----------------------------------------------------------------------===//
// Its instructions
//===----------------------------------------------------------------------===//

namespace {
/// All emitters, and which of them rewrites what.
class Instrumenter {
public:
  explicit Instrumenter(EmissionContext &context)
      : context(context), addresses(context), accesses(context, addresses),
        math(context), calls(context, addresses, accesses, math) {}

  void rewrite(Instruction &instruction);

private:
  void limitPrivate(AllocaInst &memory);

  EmissionContext &context;
  AddressEmitter addresses;
  AccessEmitter accesses;
  MathEmitter math;
  CallEmitter calls;
  /// Bytes of private memory of a thread.
  uint64_t privateBytes = 0;
};
} // namespace

void Instrumenter::rewrite(Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return accesses.emitLoad(*load);
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return accesses.emitStore(*store);
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction))
    return accesses.emitAtomic(instruction, AccessKind::Update);
  if (isa<FenceInst>(instruction))
    return accesses.emitFence(instruction, getScope(instruction));
  if (auto *memory = dyn_cast<MemIntrinsic>(&instruction))
    return accesses.emitMemory(*memory);
  if (auto *cast = dyn_cast<AddrSpaceCastInst>(&instruction))
    return accesses.emitCast(*cast);
  if (auto *call = dyn_cast<CallInst>(&instruction))
    return calls.emit(*call);
  if (auto *binary = dyn_cast<BinaryOperator>(&instruction))
    if (binary->isIntDivRem())
      return math.emitDivision(*binary);
  if (auto *memory = dyn_cast<AllocaInst>(&instruction))
    limitPrivate(*memory);
}

/// A thread of a GPU has 512 KiB of private memory, and so it has here.
void Instrumenter::limitPrivate(AllocaInst &memory) {
  constexpr uint64_t kMaxBytes = 512 << 10;
  auto bytes = memory.getAllocationSize(context.getLayout());
  if (!memory.isStaticAlloca() || !bytes) {
    context.refuse(memory, "private memory of a size that only the launch "
                           "knows is not emulated");
    return;
  }
  privateBytes += bytes->getFixedValue();
  if (privateBytes > kMaxBytes)
    context.refuse(memory, "the private memory of a thread has more than " +
                               Twine(kMaxBytes) + " bytes, which no GPU has");
}

static void rewriteInstructions(EmissionContext &context) {
  Instrumenter instrumenter(context);
  // Constant expressions have become instructions: casts among them.
  SmallVector<Instruction *> all(
      make_pointer_range(instructions(context.function)));
  // From the end on, so that a block that is split has little behind the split.
  for (Instruction *instruction : reverse(all))
    if (context.facts.ordinals.contains(instruction) ||
        isa<AddrSpaceCastInst>(instruction))
      instrumenter.rewrite(*instruction);
}

Function *instrument(PreparedKernel &kernel, InstrumentOptions options,
                     KernelTables &tables,
                     std::vector<DiagnosticRecord> &errors) {
  Function *original = kernel.function;
  tables.name = original->getName().str();
  KernelFacts facts(kernel, tables, errors);
  if (!errors.empty())
    return nullptr;
  Function *function = kernel.function = moveBody(*original);
  EmissionContext context(*function, facts, options, tables, errors);
  if (!readParameters(context, *original))
    return nullptr;
  original->eraseFromParent();
  replaceShared(context);
  if (options.withStatistics)
    countInstructions(context);
  if (tables.hasWarpgroups && options.checksRaces)
    watchProductRegisters(context);
  rewriteInstructions(context);
  if (!errors.empty())
    return nullptr;
  if (tables.sites.size() >= kMaxSites) {
    addError(errors, nullptr, "the kernel has too many accesses to check");
    return nullptr;
  }
  makeCoroutine(context);
  return function;
}

} // namespace mlir::workgroup::emulator
