//===- InstrumentAnalysis.cpp - What a kernel does with memory ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace llvm;

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// What pointers point to
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

std::pair<unsigned, Type *> getAccess(const Instruction &access) {
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

StringRef getAsyncName(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  if (!call)
    return "";
  if (auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand()))
    return assembly->getAsmString();
  return call->getCalledFunction() ? call->getCalledFunction()->getName() : "";
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
  StringRef name = getAsyncName(instruction);
  if (name.contains("mbarrier") || name.contains("cp.async.bulk."))
    return 3;
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call)
    return std::nullopt;
  name = call->getCalledFunction()->getName();
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

/// True if an operand may point to workgroup memory.
bool Instrumenter::mayBeShared(const Instruction &access,
                               unsigned operand) const {
  auto it = provenances.find({&access, operand});
  return it == provenances.end() ||
         it->second.kind == Provenance::Kind::Shared ||
         it->second.kind == Provenance::Kind::Unknown;
}

/// True if an operand points to workgroup memory, which only the threads of a
/// block can access.
bool Instrumenter::isOnlyShared(const Instruction &access,
                                unsigned operand) const {
  auto it = provenances.find({&access, operand});
  return access.getOperand(operand)->getType()->getPointerAddressSpace() ==
             kSharedSpace ||
         (it != provenances.end() &&
          it->second.kind == Provenance::Kind::Shared);
}

static bool isFeedingLoad(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return isa<LoadInst>(instruction) ||
         (call && !isExchangeCall(instruction) && call->mayReadFromMemory());
}

/// The operand that a write of memory has for its address; nullopt if it is
/// none that may follow an exchange.
static std::optional<unsigned> getWrittenOperand(const Instruction &write) {
  if (auto *store = dyn_cast<StoreInst>(&write))
    return store->getPointerOperandIndex();
  auto *call = dyn_cast<IntrinsicInst>(&write);
  if (!call)
    return std::nullopt;
  std::optional<MatrixOp> matrix =
      MatrixOp::decode(call->getCalledFunction()->getName());
  if (matrix && matrix->getKind() == MatrixOp::Kind::Store)
    return 0;
  return std::nullopt;
}

/// Spreads sets of exchanges, which are numbered in order, from each of them to
/// its neighbours until nothing changes; not beyond instructions that end it.
/// What is at the end of `exchanges` goes first.
template <typename Neighbours, typename IsEnd>
static void spread(ArrayRef<const Instruction *> exchanges, unsigned count,
                   DenseMap<const Instruction *, BitVector> &sets,
                   Neighbours getNeighbours, IsEnd isEnd) {
  SmallVector<const Instruction *> worklist(exchanges);
  while (!worklist.empty()) {
    const Instruction *from = worklist.pop_back_val();
    BitVector set = sets[from];
    for (const Value *value : getNeighbours(*from)) {
      auto *next = dyn_cast<Instruction>(value);
      if (!next)
        continue;
      BitVector &theirs = sets[next];
      theirs.resize(count);
      if (!set.test(theirs)) // nothing new
        continue;
      theirs |= set;
      if (!isEnd(*next))
        worklist.push_back(next);
    }
  }
}

/// Finds the reads of workgroup memory whose values go into exchanges, and the
/// writes of what is computed from what comes out of them.
void Instrumenter::findExchanges() {
  // Of very many, some stand for others, which makes no race up.
  constexpr unsigned kMaxExchanges = 512;
  SmallVector<const Instruction *> exchanges;
  for (const Instruction &instruction : instructions(*function))
    if (isExchangeCall(instruction))
      exchanges.push_back(&instruction);
  unsigned count = std::min<size_t>(exchanges.size(), kMaxExchanges);
  for (auto [number, exchange] : enumerate(exchanges))
    for (Exchanges *sets : {&feeds, &follows}) {
      (*sets)[exchange].resize(count);
      (*sets)[exchange].set(number % count);
    }
  spread(
      exchanges, count, feeds,
      [](const Instruction &from) { return from.operand_values(); },
      isFeedingLoad);
  // Forwards, what comes first is to go first.
  std::reverse(exchanges.begin(), exchanges.end());
  spread(
      exchanges, count, follows,
      [](const Instruction &from) { return from.users(); },
      [](const Instruction &next) {
        return isa<LoadInst>(next) || getWrittenOperand(next);
      });
  // What is neither a read nor a write was but on the way.
  BitVector read(count), written(count);
  for (auto &[instruction, set] : feeds)
    if (isFeedingLoad(*instruction) && mayBeShared(*instruction, 0))
      read |= set;
    else
      set.clear();
  for (auto &[instruction, set] : follows) {
    auto operand = getWrittenOperand(*instruction);
    if (operand && mayBeShared(*instruction, *operand))
      written |= set;
    else
      set.clear();
  }
  tables.hasValueOrder = read.anyCommon(written);
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
  if (SmallVector<uint32_t> sizes = readSizes("nvvm.cluster_dim");
      !sizes.empty()) {
    tables.cluster = {1, 1, 1};
    copy(ArrayRef(sizes).take_front(3), tables.cluster->begin());
  }
  if (SmallVector<uint32_t> most = readSizes("nvvm.maxclusterrank");
      !most.empty())
    tables.maxClusterBlocks = most.front();
  if (SmallVector<uint32_t> sizes = readSizes("nvvm.reqntid"); !sizes.empty()) {
    sizes.resize(3, 1); // what is left out is one
    for (auto [dim, size] : enumerate(sizes))
      tables.sizeBounds.push_back({false, unsigned(dim), size, size});
  }
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

} // namespace mlir::workgroup::emulator
