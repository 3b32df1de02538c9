//===- Instrument.cpp - From kernels to coroutines that are watched -------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "RuntimeFunctions.h"
#include "ThreadState.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>
#include <numeric>

using namespace llvm;

namespace mlir::workgroup::emulator {

static constexpr unsigned kSharedSpace = 3;

Instrumenter::Instrumenter(PreparedKernel &kernel, InstrumentOptions options,
                           KernelTables &tables,
                           std::vector<DiagnosticRecord> &errors)
    : kernel(kernel), module(*kernel.module), function(kernel.function),
      options(options), tables(tables), errors(errors),
      context(module.getContext()), i8(IntegerType::get(context, 8)),
      i16(IntegerType::get(context, 16)), i32(IntegerType::get(context, 32)),
      i64(IntegerType::get(context, 64)), ptr(PointerType::get(context, 0)),
      voidType(Type::getVoidTy(context)) {
  tables.name = function->getName().str();
}

Function *Instrumenter::run() {
  for (auto [number, instruction] : enumerate(kernel.instructions))
    ordinals[instruction] = number;
  collectShared();
  findEscapedBuffers();
  collectProvenances();
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
// What there is
//===----------------------------------------------------------------------===//

/// Lays out workgroup memory in the order of its variables. Dynamic memory
/// comes last: all symbols of no size are one.
void Instrumenter::collectShared() {
  const DataLayout &layout = module.getDataLayout();
  SmallVector<GlobalVariable *> dynamic;
  Align dynamicAlign(16);
  for (GlobalVariable &variable : module.globals()) {
    if (variable.getAddressSpace() != kSharedSpace)
      continue;
    uint64_t bytes = layout.getTypeAllocSize(variable.getValueType());
    Align align =
        variable.getAlign().value_or(layout.getPreferredAlign(&variable));
    if (bytes == 0) {
      dynamic.push_back(&variable);
      dynamicAlign = std::max(dynamicAlign, align);
      continue;
    }
    uint64_t offset = alignTo(tables.sharedEnd, align);
    sharedObjects[&variable] = tables.objects.size();
    tables.objects.push_back(
        {Object::Kind::Shared, variable.getName().str(), offset, bytes});
    tables.sharedEnd = offset + bytes;
  }
  if (dynamic.empty())
    return;
  tables.sharedEnd = alignTo(tables.sharedEnd, dynamicAlign);
  tables.dynamicObject = tables.objects.size();
  tables.objects.push_back({Object::Kind::Dynamic,
                            dynamic.front()->getName().str(), tables.sharedEnd,
                            0});
  for (GlobalVariable *variable : dynamic)
    sharedObjects[variable] = tables.dynamicObject;
}

Provenance Instrumenter::trace(Value *pointer) {
  SmallVector<const Value *, 4> bases;
  getUnderlyingObjects(pointer, bases, /*LI=*/nullptr, /*MaxLookup=*/0);
  erase_if(bases, [](const Value *base) { return isa<UndefValue>(base); });
  Provenance unknown;
  unknown.buffers = escapedBuffers;
  if (bases.size() != 1)
    return unknown;
  auto *base = const_cast<Value *>(bases.front());
  if (auto *variable = dyn_cast<GlobalVariable>(base)) {
    if (variable->getAddressSpace() == kSharedSpace)
      return {Provenance::Kind::Shared, sharedObjects.lookup(variable)};
    return {Provenance::Kind::Variable, 0, variable};
  }
  if (auto *argument = dyn_cast<Argument>(base))
    return {Provenance::Kind::Argument, argumentObjects.lookup(argument)};
  if (isa<AllocaInst>(base))
    return {Provenance::Kind::Private, 0, base};
  return unknown;
}

/// Finds the private buffers whose addresses go where they cannot be followed:
/// into memory, or into values that may be one of several.
void Instrumenter::findEscapedBuffers() {
  for (Instruction &instruction : instructions(*function)) {
    auto *buffer = dyn_cast<AllocaInst>(&instruction);
    if (!buffer)
      continue;
    SmallVector<const Value *> worklist = {buffer};
    bool escapes = false;
    while (!worklist.empty() && !escapes)
      for (const Use &use : worklist.pop_back_val()->uses()) {
        const User *user = use.getUser();
        if (isa<GetElementPtrInst, AddrSpaceCastInst>(user))
          worklist.push_back(user);
        else if (auto *store = dyn_cast<StoreInst>(user))
          escapes |= use.getOperandNo() != store->getPointerOperandIndex();
        else
          escapes |= !isa<LoadInst, AtomicRMWInst, CallInst>(user);
      }
    if (escapes)
      escapedBuffers.push_back(buffer);
  }
}

void Instrumenter::collectProvenances() {
  for (Argument &argument : function->args()) {
    if (!argument.getType()->isPointerTy())
      continue;
    argumentObjects[&argument] = tables.objects.size();
    tables.objects.push_back({Object::Kind::Argument,
                              "argument " + std::to_string(argument.getArgNo()),
                              argument.getArgNo(), 0});
  }
  for (Instruction &instruction : instructions(*function))
    for (Use &operand : instruction.operands())
      if (operand->getType()->isPointerTy() && !isa<PHINode>(instruction) &&
          !isa<Function>(operand))
        provenances[{&instruction, operand.getOperandNo()}] = trace(operand);
}

/// The pointer operand and the type of what an instruction accesses.
static std::pair<unsigned, Type *> getAccess(const Instruction &access) {
  if (auto *load = dyn_cast<LoadInst>(&access))
    return {load->getPointerOperandIndex(), load->getType()};
  if (auto *store = dyn_cast<StoreInst>(&access))
    return {store->getPointerOperandIndex(),
            store->getValueOperand()->getType()};
  if (auto *update = dyn_cast<AtomicRMWInst>(&access))
    return {update->getPointerOperandIndex(),
            update->getValOperand()->getType()};
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&access))
    return {exchange->getPointerOperandIndex(),
            exchange->getNewValOperand()->getType()};
  return {0, nullptr};
}

static Align getAlignment(const Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return load->getAlign();
  auto *store = dyn_cast<StoreInst>(&instruction);
  return store ? store->getAlign() : Align();
}

/// Logarithm of the bytes of the smallest piece that `instruction` accesses by
/// itself; nullopt if it accesses nothing.
static std::optional<unsigned> getGrain(const Instruction &instruction,
                                        const DataLayout &layout) {
  if (Type *type = getAccess(instruction).second) {
    unsigned bytes = layout.getTypeStoreSize(type).getFixedValue();
    Align align = getAlignment(instruction);
    if (instruction.isAtomic() || !isa<LoadInst, StoreInst>(instruction))
      align = Align(PowerOf2Ceil(bytes));
    return std::min<unsigned>(llvm::countr_zero(bytes), Log2(align));
  }
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call)
    return std::nullopt;
  StringRef name = call->getCalledFunction()->getName();
  if (isa<MemIntrinsic>(call) || name.contains(".wmma."))
    return 0;
  if (name.contains("matrix.sync"))
    return 1;
  if (name.consume_front("llvm.nvvm.cp.async.c")) {
    name.consume_back(".s");
    return name.ends_with(".16") ? 4 : name.ends_with(".8") ? 3 : 2;
  }
  return std::nullopt;
}

/// Cells of the shadow are as small as the smallest piece that the kernel
/// accesses by itself, so that neighbours are told apart.
void Instrumenter::findGrains() {
  constexpr unsigned kLargest = 4;
  tables.argumentGrain.assign(function->arg_size(), kLargest);
  tables.sharedGrain = tables.globalGrain = kLargest;
  for (Instruction &instruction : instructions(*function)) {
    auto grain = getGrain(instruction, module.getDataLayout());
    if (!grain)
      continue;
    for (Use &use : instruction.operands()) {
      auto it = provenances.find({&instruction, use.getOperandNo()});
      if (it != provenances.end())
        refineGrains(it->second, *use, *grain);
    }
  }
}

void Instrumenter::refineGrains(const Provenance &provenance,
                                const Value &pointer, unsigned grain) {
  using Kind = Provenance::Kind;
  if (provenance.kind == Kind::Argument) {
    unsigned &own =
        tables.argumentGrain[tables.objects[provenance.object].offset];
    own = std::min(own, grain);
    return;
  }
  if (provenance.kind == Kind::Private || provenance.kind == Kind::Variable)
    return;
  tables.sharedGrain = std::min(tables.sharedGrain, grain);
  if (pointer.getType()->getPointerAddressSpace() != kSharedSpace)
    tables.globalGrain = std::min(tables.globalGrain, grain);
}

/// True for what lanes exchange values by.
static bool isExchange(StringRef name) {
  std::optional<WarpOp> warp = WarpOp::decode(name);
  if (warp)
    return warp->getKind() != WarpOp::Kind::Sync;
  std::optional<MatrixOp> matrix = MatrixOp::decode(name);
  return matrix && matrix->getKind() == MatrixOp::Kind::Compute;
}

static bool isExchangeCall(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && isExchange(call->getCalledFunction()->getName());
}

/// Finds the reads of memory whose values go into exchanges.
void Instrumenter::findFeedingLoads() {
  SmallVector<const Instruction *> worklist;
  SmallPtrSet<const Instruction *, 16> seen;
  for (const Instruction &instruction : instructions(*function))
    if (isExchangeCall(instruction))
      worklist.push_back(&instruction);
  while (!worklist.empty())
    for (const Value *operand : worklist.pop_back_val()->operand_values()) {
      auto *source = dyn_cast<Instruction>(operand);
      if (!source || !seen.insert(source).second)
        continue;
      auto *call = dyn_cast<IntrinsicInst>(source);
      bool isLoad =
          isa<LoadInst>(source) ||
          (call && !isExchangeCall(*source) && call->mayReadFromMemory());
      if (isLoad)
        feedingLoads.insert(source);
      else
        worklist.push_back(source);
    }
}

/// True if an operand may point to workgroup memory.
bool Instrumenter::mayBeShared(const Instruction &access,
                               unsigned operand) const {
  auto it = provenances.find({&access, operand});
  return it == provenances.end() ||
         it->second.kind == Provenance::Kind::Shared ||
         it->second.kind == Provenance::Kind::Unknown;
}

/// Finds the stores of what is computed from what lanes exchange.
void Instrumenter::findFollowingStores() {
  SmallVector<const Instruction *> worklist;
  SmallPtrSet<const Instruction *, 16> seen;
  for (const Instruction &instruction : instructions(*function))
    if (isExchangeCall(instruction))
      worklist.push_back(&instruction);
  while (!worklist.empty())
    for (const User *user : worklist.pop_back_val()->users()) {
      auto *next = dyn_cast<Instruction>(user);
      if (!next || !seen.insert(next).second)
        continue;
      if (isa<StoreInst>(next) && mayBeShared(*next, 1))
        followingStores.insert(next);
      else if (!isa<LoadInst, StoreInst>(next))
        worklist.push_back(next);
    }
}

static bool isFence(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return isa<FenceInst>(instruction) ||
         (call && (call->getIntrinsicID() == Intrinsic::nvvm_membar_gl ||
                   call->getIntrinsicID() == Intrinsic::nvvm_membar_sys ||
                   call->getIntrinsicID() == Intrinsic::nvvm_membar_cta ||
                   call->getIntrinsicID() == Intrinsic::nvvm_fence_sc_cluster));
}

/// True for an atomic operation that orders what is around it. LLVM writes
/// `atomicrmw` of any order as PTX's relaxed `atom`: only with fences about can
/// it order anything.
bool Instrumenter::isOrdering(const Instruction &instruction) const {
  if (isa<AtomicRMWInst>(instruction))
    return hasFence;
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return hasFence || isStrongerThanMonotonic(exchange->getSuccessOrdering());
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return isStrongerThanMonotonic(load->getOrdering());
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return isStrongerThanMonotonic(store->getOrdering());
  return false;
}

/// True for the first guess of a loop that compares and swaps: whatever it
/// reads, the swap sees to it.
static bool isGuess(const LoadInst &load) {
  return any_of(load.getPointerOperand()->users(), [&](const User *user) {
    auto *exchange = dyn_cast<AtomicCmpXchgInst>(user);
    if (!exchange || exchange->getPointerOperand() != load.getPointerOperand())
      return false;
    const Value *expected = exchange->getCompareOperand();
    auto isLoad = [&](const Value *value) {
      if (auto *cast = dyn_cast<BitCastInst>(value))
        value = cast->getOperand(0);
      return value == &load;
    };
    if (auto *cast = dyn_cast<BitCastInst>(expected))
      expected = cast->getOperand(0);
    auto *merged = dyn_cast<PHINode>(expected);
    return isLoad(expected) ||
           (merged && any_of(merged->incoming_values(), isLoad));
  });
}

/// Barriers of less than a block, and atomics that order.
void Instrumenter::findPartialOrder() {
  hasFence = any_of(instructions(*function), isFence);
  for (Instruction &instruction : instructions(*function)) {
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
      StringRef name = call->getCalledFunction()->getName();
      tables.hasPartialOrder |= name == "llvm.nvvm.bar.warp.sync" ||
                                name.ends_with(".count") ||
                                name.contains("barrier.cta.arrive");
    }
    if (auto *call = dyn_cast<CallInst>(&instruction))
      tables.hasPartialOrder |= call->isInlineAsm();
    tables.hasPartialOrder |= isOrdering(instruction);
    auto *load = dyn_cast<LoadInst>(&instruction);
    if (load && isGuess(*load))
      guesses.insert(load);
  }
  findFeedingLoads();
  findFollowingStores();
  tables.hasValueOrder = !followingStores.empty() &&
                         any_of(feedingLoads, [&](const Instruction *load) {
                           return mayBeShared(*load, 0);
                         });
  tables.hasPartialOrder |= tables.hasValueOrder;
}

/// Sizes of launches that attributes promise: of the function, and ranges of
/// what special registers hold.
void Instrumenter::findSizeBounds() {
  auto readSizes = [&](StringRef name) {
    SmallVector<StringRef> parts;
    SmallVector<uint32_t> sizes;
    StringRef text = function->getFnAttribute(name).getValueAsString();
    text.split(parts, ',', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
      if (uint32_t size = 0; !part.trim().getAsInteger(10, size))
        sizes.push_back(size);
    return sizes;
  };
  if (SmallVector<uint32_t> sizes = readSizes("nvvm.maxntid"); !sizes.empty())
    tables.maxThreads = std::accumulate(sizes.begin(), sizes.end(), 1u,
                                        std::multiplies<uint32_t>());
  for (auto [dim, size] : enumerate(readSizes("nvvm.reqntid")))
    tables.sizeBounds.push_back({false, unsigned(dim), size, size});
  for (Instruction &instruction : instructions(*function)) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    std::optional<ConstantRange> range = call ? call->getRange() : std::nullopt;
    StringRef name = call ? call->getCalledFunction()->getName() : "";
    if (!range || !name.consume_front("llvm.nvvm.read.ptx.sreg."))
      continue;
    auto [kind, part] = name.split('.');
    unsigned dim = part == "x" ? 0 : part == "y" ? 1 : 2;
    uint32_t end = range->getUnsignedMax().getZExtValue();
    bool isGrid = kind.contains("ctaid");
    if (kind == "tid" || kind == "ctaid")
      tables.sizeBounds.push_back({isGrid, dim, 1, end + 1});
    else if (kind == "ntid" || kind == "nctaid")
      tables.sizeBounds.push_back({isGrid, dim, 1, end});
  }
}

//===----------------------------------------------------------------------===//
// The new function
//===----------------------------------------------------------------------===//

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
    if (argument.hasByValAttr()) {
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
    tables.isPointer.push_back(held->isPointerTy());
    tables.parameterBytes = offset + bytes;
    argument.replaceAllUsesWith(getField(builder, held, parameters, offset));
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
                            update->getValOperand()->getType());
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return instrumentAtomic(*exchange, exchange->getPointerOperandIndex(),
                            exchange->getNewValOperand()->getType());
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
