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
#include "Emulator/State/RuntimeNames.h"
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

/// Reserves `bytes` in the block of parameters for the next of them; returns
/// where they are.
static uint64_t addParameter(KernelTables &tables, uint64_t bytes,
                             llvm::Align align) {
  uint64_t offset = alignTo(tables.parameterBytes, align);
  tables.parameters.push_back({offset, bytes});
  tables.parameterBytes = offset + bytes;
  return offset;
}

/// Reads what was an argument of `kernel` from the block of parameters: a value
/// where the function begins, what is passed by value into its copy.
static void readParameters(EmissionContext &context, Function &kernel,
                           const std::map<unsigned, AllocaInst *> &copies) {
  const DataLayout &layout = context.getLayout();
  KernelTables &tables = context.tables;
  BasicBlock &entry = context.function.getEntryBlock();
  IRBuilder<> builder(&*entry.getFirstInsertionPt());
  Value *parameters = context.getThreadField(builder, context.ptr,
                                             offsetof(ThreadState, parameters));
  for (Argument &argument : kernel.args()) {
    if (auto it = copies.find(argument.getArgNo()); it != copies.end()) {
      AllocaInst *copy = it->second;
      tables.areTensorMaps.push_back(false);
      Type *type = copy->getAllocatedType();
      uint64_t bytes = layout.getTypeAllocSize(type);
      uint64_t offset = addParameter(tables, bytes, copy->getAlign());
      IRBuilder<> behind(copy->getNextNode());
      behind.CreateMemCpy(
          copy, copy->getAlign(),
          behind.CreateConstInBoundsGEP1_64(context.i8, parameters, offset),
          Align(1), bytes);
      continue;
    }
    Type *held = argument.getType();
    bool isTensorMap = argument.hasByValAttr();
    tables.areTensorMaps.push_back(isTensorMap);
    uint64_t offset = addParameter(tables, layout.getTypeAllocSize(held),
                                   layout.getABITypeAlign(held));
    Value *value = context.getField(builder, held, parameters, offset);
    argument.replaceAllUsesWith(value);
    if (isTensorMap)
      context.tensorMaps.insert(value);
  }
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

/// True for what threads order memory by, or may wait for each other by.
static bool isSynchronizing(const Instruction &instruction) {
  return instruction.isAtomic() || instruction.isVolatile() ||
         isFence(instruction);
}

/// Lets the thread stop before `instruction`.
static void delayBefore(EmissionContext &context, Instruction &instruction) {
  IRBuilder<> builder(&instruction);
  context.callRuntime(builder, runtime::kDelay, context.voidType, {});
  context.addSuspension(*context.setThreadField(
      builder, offsetof(ThreadState, wait), uint32_t(Wait::None)));
}

void Instrumenter::rewrite(Instruction &instruction) {
  if (context.options.withDelays && isSynchronizing(instruction))
    delayBefore(context, instruction);
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
    if (!context.idle.removed.contains(instruction) &&
        (context.facts.ordinals.contains(instruction) ||
         isa<AddrSpaceCastInst>(instruction)))
      instrumenter.rewrite(*instruction);
}

/// Finds what can be left out. False if all values count.
static bool forgetValues(PreparedKernel &kernel, const KernelTables &tables,
                         IdleValues &idle) {
  if (tables.hasWarpgroups) // whose registers are looked at
    return false;
  std::optional<IdleValues> found = findIdleValues(*kernel.function);
  if (!found)
    return false;
  idle = std::move(*found);
  forgetValues(*kernel.function, idle);
  return true;
}

static void removeIdle(Function &function, const IdleValues &idle) {
  SmallVector<Instruction *> removed;
  for (Instruction &instruction : instructions(function))
    if (idle.removed.contains(&instruction))
      removed.push_back(&instruction);
  for (Instruction *instruction : removed)
    instruction->dropAllReferences();
  for (Instruction *instruction : removed)
    instruction->eraseFromParent();
}

Function *instrument(PreparedKernel &kernel, InstrumentOptions &options,
                     KernelTables &tables,
                     std::vector<DiagnosticRecord> &errors) {
  Function *original = kernel.function;
  tables.name = original->getName().str();
  KernelFacts facts(kernel, tables, errors);
  if (!errors.empty())
    return nullptr;
  IdleValues idle;
  options.forgetsValues =
      options.forgetsValues && forgetValues(kernel, tables, idle);
  Function *function = kernel.function = moveBody(*original);
  EmissionContext context(*function, facts, options, tables, errors);
  context.idle = std::move(idle);
  readParameters(context, *original, kernel.copies);
  original->eraseFromParent();
  replaceShared(context);
  if (options.withStatistics)
    countInstructions(context);
  if (tables.hasWarpgroups && options.checksRaces)
    watchProductRegisters(context);
  rewriteInstructions(context);
  removeIdle(*function, context.idle);
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
