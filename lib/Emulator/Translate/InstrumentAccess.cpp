//===- InstrumentAccess.cpp - Accesses go by a check ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emulator/State/RuntimeNames.h"
#include "Emulator/State/ThreadState.h"
#include "Instrument.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include <cstddef>

using namespace llvm;

namespace mlir::workgroup::emulator {

/// Bytes of an atomic operation, at most.
static constexpr uint64_t kMaxAtomicBytes = 8;

/// The GPU splits accesses of more bytes, and of less alignment.
static uint32_t getRequiredAlignment(Align align, uint64_t bytes) {
  constexpr uint64_t kWidest = 16;
  return std::min({align.value(), PowerOf2Ceil(bytes), kWidest});
}

uint32_t Instrumenter::addAccess(Instruction &at, unsigned pointerOperand,
                                 AccessKind kind, uint64_t bytes, Align align) {
  if (bytes > kMaxAccessBytes)
    refuse(at, "an access of " + Twine(bytes) + " bytes is not emulated");
  uint32_t number = addSite(at);
  Site &site = tables.sites[number];
  const Provenance &provenance = provenances[{&at, pointerOperand}];
  unsigned space =
      at.getOperand(pointerOperand)->getType()->getPointerAddressSpace();
  site.kind = kind;
  site.feeds = feeds.lookup(&at);
  site.follows = follows.lookup(&at);
  site.bytes = bytes;
  site.alignment = getRequiredAlignment(align, bytes);
  site.object = provenance.object;
  site.isVariable = provenance.kind == Provenance::Kind::Variable;
  bool isPrivate = space == NVPTXAS::ADDRESS_SPACE_LOCAL ||
                   provenance.kind == Provenance::Kind::Private;
  site.space = space == kSharedSpace                   ? Space::Shared
               : isPrivate                             ? Space::Private
               : space == NVPTXAS::ADDRESS_SPACE_CONST ? Space::Constant
                                                       : Space::Generic;
  if (space != kSharedSpace && provenance.kind == Provenance::Kind::Shared)
    site.object = 0; // the runtime finds out where the address points to
  return number;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// `host` if `bytes` of the site lie in `base` .. `base + size` and are
/// aligned, else an address that does no harm.
Value *Instrumenter::checkBounds(IRBuilder<> &builder, Value *address,
                                 Value *base, Value *size, Value *host,
                                 uint32_t number) {
  const Site &site = tables.sites[number];
  Value *distance = builder.CreateSub(address, base);
  Value *limit = builder.CreateSub(size, builder.getInt64(site.bytes));
  // An object of fewer bytes than the access makes the limit negative.
  Value *isBad =
      builder.CreateOr(builder.CreateICmpUGT(distance, limit),
                       builder.CreateICmpSLT(limit, builder.getInt64(0)));
  if (site.alignment > 1)
    isBad = builder.CreateOr(
        isBad, builder.CreateIsNotNull(builder.CreateAnd(
                   distance, builder.getInt64(site.alignment - 1))));
  Instruction *at = &*builder.GetInsertPoint();
  BasicBlock *head = at->getParent();
  Instruction *then = SplitBlockAndInsertIfThen(
      isBad, at, false, MDBuilder(context).createUnlikelyBranchWeights());
  IRBuilder<> cold(then);
  Value *elsewhere =
      callRuntime(cold, runtime::kFault, ptr, {address, cold.getInt32(number)});
  builder.SetInsertPoint(at);
  PHINode *result = builder.CreatePHI(ptr, 2);
  result->addIncoming(host, head);
  result->addIncoming(elsewhere, then->getParent());
  return result;
}

/// A read of one cell that needs no record: two others have read since the last
/// write, which all threads come after.
Value *Instrumenter::readSaturated(IRBuilder<> &builder, Value *offset,
                                   uint32_t number) {
  const Site &site = tables.sites[number];
  uint64_t begin = kSharedBase, end = 0;
  Value *size = nullptr;
  if (site.object && site.object != tables.dynamicObject) {
    begin = tables.objects[site.object].offset;
    end = begin + tables.objects[site.object].bytes;
    size = builder.getInt64(int64_t(end - begin) - site.bytes);
  } else {
    size = builder.CreateSub(
        getField(builder, i64, thread, offsetof(ThreadState, sharedEnd)),
        builder.getInt64(begin + site.bytes));
  }
  Value *isInside = builder.CreateICmpULE(
      builder.CreateSub(offset, builder.getInt64(begin)), size);
  Value *isAligned = builder.CreateIsNull(
      builder.CreateAnd(offset, builder.getInt64(site.bytes - 1)));
  Instruction *at = &*builder.GetInsertPoint();
  // The cell is looked at only if there is one.
  Instruction *probe = SplitBlockAndInsertIfThen(
      builder.CreateAnd(isInside, isAligned), at, false);
  BasicBlock *head = probe->getParent()->getSinglePredecessor();
  IRBuilder<> inside(probe);
  Value *cells = getField(inside, ptr, thread, offsetof(ThreadState, cells));
  Value *cell = inside.CreateGEP(
      ArrayType::get(i8, sizeof(SharedCell)), cells,
      inside.CreateLShr(offset, inside.getInt64(tables.sharedGrain)));
  Value *isSaturated = inside.CreateICmpEQ(
      getField(inside, i32, cell, offsetof(SharedCell, saturated), false),
      getField(inside, i32, thread, offsetof(ThreadState, epoch), false));
  builder.SetInsertPoint(at);
  PHINode *result = builder.CreatePHI(builder.getInt1Ty(), 2);
  result->addIncoming(builder.getFalse(), head);
  result->addIncoming(isSaturated, probe->getParent());
  return result;
}

/// The runtime function that checks an access.
static StringRef getCheck(AccessKind kind, bool isShared) {
  switch (kind) {
  case AccessKind::Write:
    return isShared ? runtime::kWriteShared : runtime::kWriteOther;
  case AccessKind::Update:
    return isShared ? runtime::kUpdateShared : runtime::kUpdateOther;
  case AccessKind::AtomicRead:
    return isShared ? runtime::kReadSharedAtomically : runtime::kReadAtomically;
  case AccessKind::AtomicWrite:
    return isShared ? runtime::kWriteSharedAtomically
                    : runtime::kWriteAtomically;
  default:
    return isShared ? runtime::kReadShared : runtime::kReadOther;
  }
}

Value *Instrumenter::getSharedAddress(IRBuilder<> &builder, Value *pointer,
                                      uint32_t number) {
  const Site site = tables.sites[number];
  Value *offset = getOffset(builder, pointer);
  Value *window = getField(builder, ptr, thread, offsetof(ThreadState, shared));
  Value *host = builder.CreateGEP(i8, window, offset);
  if (!options.checksRaces) {
    bool isStatic = site.object && site.object != tables.dynamicObject;
    uint64_t begin =
        site.object ? tables.objects[site.object].offset : kSharedBase;
    Value *size =
        isStatic ? builder.getInt64(tables.objects[site.object].bytes)
                 : builder.CreateSub(getField(builder, i64, thread,
                                              offsetof(ThreadState, sharedEnd)),
                                     builder.getInt64(begin));
    return checkBounds(builder, offset, builder.getInt64(begin), size, host,
                       number);
  }
  StringRef name = getCheck(site.kind, /*isShared=*/true);
  SmallVector<Value *> operands = {offset, builder.getInt32(number),
                                   builder.getInt64(site.bytes)};
  bool isOneCell = site.bytes == uint64_t(1) << tables.sharedGrain;
  // A buffer of fewer bytes has no such cell.
  uint64_t least = site.object && site.object != tables.dynamicObject
                       ? tables.objects[site.object].bytes
                       : tables.sharedEnd - kSharedBase;
  if (site.kind != AccessKind::Read || !isOneCell || tables.hasPartialOrder ||
      least < site.bytes)
    return callRuntime(builder, name, ptr, operands);
  Value *isSaturated = readSaturated(builder, offset, number);
  Instruction *at = &*builder.GetInsertPoint();
  Instruction *then =
      SplitBlockAndInsertIfThen(builder.CreateNot(isSaturated), at, false);
  BasicBlock *head = then->getParent()->getSinglePredecessor();
  IRBuilder<> slow(then);
  Value *checked = callRuntime(slow, name, ptr, operands);
  builder.SetInsertPoint(at);
  PHINode *result = builder.CreatePHI(ptr, 2);
  result->addIncoming(host, head);
  result->addIncoming(checked, then->getParent());
  return result;
}

Value *Instrumenter::getOtherAddress(IRBuilder<> &builder, Value *pointer,
                                     const Provenance &provenance,
                                     uint32_t number) {
  using Kind = Provenance::Kind;
  const Site site = tables.sites[number];
  Value *host = builder.CreateAddrSpaceCast(pointer, ptr);
  Value *address = getOffset(builder, host);
  const DataLayout &layout = module.getDataLayout();
  if (provenance.kind == Kind::Private) {
    auto *memory = cast<AllocaInst>(provenance.base);
    uint64_t size = memory->getAllocationSize(layout)->getFixedValue();
    return checkBounds(builder, address, getOffset(builder, memory),
                       builder.getInt64(size), host, number);
  }
  auto *variable = dyn_cast_or_null<GlobalVariable>(provenance.base);
  if (variable && variable->isConstant() && site.kind == AccessKind::Read) {
    uint64_t size = layout.getTypeAllocSize(variable->getValueType());
    return checkBounds(builder, address, getOffset(builder, variable),
                       builder.getInt64(size), host, number);
  }
  if (!options.checksRaces && provenance.kind == Kind::Argument) {
    uint64_t argument = tables.objects[provenance.object].offset;
    Value *bounds =
        getField(builder, ptr, thread, offsetof(ThreadState, arguments));
    uint64_t at = argument * sizeof(Bounds);
    Value *base = getField(builder, i64, bounds, at + offsetof(Bounds, base));
    Value *size = getField(builder, i64, bounds, at + offsetof(Bounds, bytes));
    if (!writes(site.kind))
      return checkBounds(builder, address, base, size, host, number);
    // A buffer that must not be written has no bytes to write to.
    Value *writable =
        getField(builder, i64, bounds, at + offsetof(Bounds, writableBytes));
    return checkBounds(builder, address, base, writable, host, number);
  }
  return checkElsewhere(builder, address, provenance, host, number);
}

/// Asks the runtime for the address to use, unless it is in one of the private
/// buffers that it may point to.
Value *Instrumenter::checkElsewhere(IRBuilder<> &builder, Value *address,
                                    const Provenance &provenance, Value *host,
                                    uint32_t number) {
  const Site site = tables.sites[number];
  StringRef name = getCheck(site.kind, /*isShared=*/false);
  SmallVector<Value *> operands = {address, builder.getInt32(number),
                                   builder.getInt64(site.bytes)};
  if (site.space == Space::Private) { // and in none of them
    name = runtime::kFault;
    operands.pop_back();
  }
  if (provenance.buffers.empty())
    return callRuntime(builder, name, ptr, operands);
  Value *isPrivate = builder.getFalse();
  for (AllocaInst *buffer : provenance.buffers) {
    auto allocated = buffer->getAllocationSize(module.getDataLayout());
    int64_t last = int64_t(allocated->getFixedValue()) - int64_t(site.bytes);
    Value *distance = builder.CreateSub(address, getOffset(builder, buffer));
    if (last >= 0)
      isPrivate = builder.CreateOr(
          isPrivate, builder.CreateICmpULE(distance, builder.getInt64(last)));
  }
  Instruction *at = &*builder.GetInsertPoint();
  BasicBlock *head = at->getParent();
  Instruction *then =
      SplitBlockAndInsertIfThen(builder.CreateNot(isPrivate), at, false);
  IRBuilder<> elsewhere(then);
  Value *checked = callRuntime(elsewhere, name, ptr, operands);
  builder.SetInsertPoint(at);
  PHINode *result = builder.CreatePHI(ptr, 2);
  result->addIncoming(host, head);
  result->addIncoming(checked, then->getParent());
  return result;
}

/// Emits the check of an access before it; returns the address to use instead.
Value *Instrumenter::getHostAddress(Instruction &at, unsigned pointerOperand,
                                    uint32_t number) {
  IRBuilder<> builder(&at);
  Value *pointer = at.getOperand(pointerOperand);
  Space space = tables.sites[number].space;
  if (options.withStatistics && space != Space::Private &&
      space != Space::Constant)
    callRuntime(builder, runtime::kLogAccess, voidType,
                {getOffset(builder, pointer), builder.getInt32(number)});
  if (space == Space::Shared)
    return getSharedAddress(builder, pointer, number);
  return getOtherAddress(builder, pointer, provenances[{&at, pointerOperand}],
                         number);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// True for what happens at once, at a time of its own: volatile accesses are
/// relaxed atomic ones, if they are no wider than those can be.
template <typename Access>
static bool isAtomicAccess(const Access &access, uint64_t bytes) {
  return access.isAtomic() ||
         (access.isVolatile() && bytes <= kMaxAtomicBytes &&
          isPowerOf2_64(bytes));
}

void Instrumenter::instrumentLoad(LoadInst &load) {
  uint64_t bytes = module.getDataLayout().getTypeStoreSize(load.getType());
  if (isAtomicAccess(load, bytes))
    return instrumentAtomic(load, load.getPointerOperandIndex(), load.getType(),
                            AccessKind::AtomicRead);
  unsigned operand = load.getPointerOperandIndex();
  AccessKind kind =
      guesses.contains(&load) ? AccessKind::AtomicRead : AccessKind::Read;
  uint32_t site = addAccess(load, operand, kind, bytes, load.getAlign());
  if (kind == AccessKind::AtomicRead) {
    // It orders nothing, and is atomic to whom the swap is.
    AtomicOrder order = getAtomicOrder(load, module.getDataLayout());
    tables.sites[site].order.scope = order.scope;
    tables.sites[site].order.width = order.width;
  }
  load.setOperand(operand, getHostAddress(load, operand, site));
  // A misaligned address is a finding, not a fault of the host.
  load.setAlignment(Align(1));
}

void Instrumenter::instrumentStore(StoreInst &store) {
  Type *type = store.getValueOperand()->getType();
  uint64_t bytes = module.getDataLayout().getTypeStoreSize(type);
  if (isAtomicAccess(store, bytes))
    return instrumentAtomic(store, store.getPointerOperandIndex(), type,
                            AccessKind::AtomicWrite);
  unsigned operand = store.getPointerOperandIndex();
  uint32_t site =
      addAccess(store, operand, AccessKind::Write, bytes, store.getAlign());
  store.setOperand(operand, getHostAddress(store, operand, site));
  store.setAlignment(Align(1));
}

void Instrumenter::instrumentAtomic(Instruction &atomic, unsigned operand,
                                    Type *type, AccessKind kind) {
  uint64_t bytes = module.getDataLayout().getTypeStoreSize(type);
  if (bytes > kMaxAtomicBytes) {
    refuse(atomic,
           "an atomic operation on " + Twine(bytes) + " bytes is not emulated");
    return;
  }
  Align align(PowerOf2Ceil(bytes));
  uint32_t number = addAccess(atomic, operand, kind, bytes, align);
  Site &site = tables.sites[number];
  site.order = getAtomicOrder(atomic, module.getDataLayout());
  if (site.order.isSequential)
    instrumentFence(atomic, site.order.scope);
  bool mayMeetBlocks = options.checksRaces && tables.ordersBlocks &&
                       site.order.isDeviceWide() && site.order.reads &&
                       site.space == Space::Generic;
  Value *pointer = atomic.getOperand(operand);
  atomic.setOperand(operand, getHostAddress(atomic, operand, number));
  if (!mayMeetBlocks)
    return;
  IRBuilder<> after(atomic.getNextNode());
  callRuntime(after, runtime::kFinishAtomic, voidType,
              {getOffset(after, pointer), after.getInt32(number)});
}

void Instrumenter::instrumentFence(Instruction &fence, Scope scope) {
  if (!options.checksRaces)
    return;
  IRBuilder<> builder(&fence);
  callRuntime(builder, runtime::kFence, voidType,
              {builder.getInt1(scope == Scope::Device)});
}

/// True if `pointer` is no private buffer, or one of at least `length` bytes.
bool Instrumenter::isWithinPrivate(const Value *pointer, const Value *length) {
  auto *buffer = dyn_cast<AllocaInst>(getUnderlyingObject(pointer));
  if (!buffer)
    return true;
  auto *bytes = dyn_cast<ConstantInt>(length);
  auto size = buffer->getAllocationSize(module.getDataLayout());
  return pointer == buffer && bytes && size &&
         bytes->getZExtValue() <= size->getFixedValue();
}

void Instrumenter::instrumentMemory(MemIntrinsic &memory) {
  auto *transfer = dyn_cast<MemTransferInst>(&memory);
  if (!isWithinPrivate(memory.getRawDest(), memory.getLength()) ||
      (transfer &&
       !isWithinPrivate(transfer->getRawSource(), memory.getLength()))) {
    refuse(memory, "a copy of a part of private memory is not emulated");
    return;
  }
  IRBuilder<> builder(&memory);
  Value *bytes = builder.CreateZExtOrTrunc(memory.getLength(), i64);
  uint32_t site = addAccess(memory, 0, AccessKind::Write, 1, Align(1));
  Value *target = getOffset(builder, memory.getRawDest());
  if (auto *fill = dyn_cast<MemSetInst>(&memory)) {
    callRuntime(builder, runtime::kSetBytes, voidType,
                {target, fill->getValue(), bytes, builder.getInt32(site)});
  } else {
    addAccess(memory, 1, AccessKind::Read, 1, Align(1));
    Value *source = getOffset(builder, transfer->getRawSource());
    callRuntime(builder, runtime::kCopyBytes, voidType,
                {target, source, bytes, builder.getInt32(site)});
  }
  memory.eraseFromParent();
}

/// Generic addresses are host addresses, of workgroup memory in its window.
void Instrumenter::instrumentCast(AddrSpaceCastInst &cast) {
  IRBuilder<> builder(&cast);
  unsigned from = cast.getSrcAddressSpace(), to = cast.getDestAddressSpace();
  if (cast.getType()->isVectorTy()) {
    refuse(cast, "a vector of addresses in several memories is not emulated");
    return;
  }
  // The memory of a block is part of that of its cluster, at one address.
  bool isFromShared = from == kSharedSpace || from == kClusterSpace;
  bool isToShared = to == kSharedSpace || to == kClusterSpace;
  Value *offset = getOffset(builder, cast.getPointerOperand());
  Value *window = getOffset(
      builder, getField(builder, ptr, thread, offsetof(ThreadState, shared)));
  if (isFromShared && !isToShared)
    offset = builder.CreateAdd(offset, window);
  else if (!isFromShared && isToShared)
    offset = builder.CreateSub(offset, window);
  replace(cast, builder.CreateIntToPtr(offset, cast.getType()));
}

/// Division by zero, and of the least number by -1, trap on the host and have
/// no defined result anywhere: they become findings, and divisions by one.
void Instrumenter::instrumentDivision(BinaryOperator &division) {
  IRBuilder<> builder(&division);
  Value *left = division.getOperand(0), *right = division.getOperand(1);
  Type *type = right->getType();
  bool isSigned = division.getOpcode() == Instruction::SDiv ||
                  division.getOpcode() == Instruction::SRem;
  Value *isZero = builder.CreateICmpEQ(right, Constant::getNullValue(type));
  Value *isBad = isZero;
  if (isSigned) {
    APInt least = APInt::getSignedMinValue(type->getScalarSizeInBits());
    Value *overflows = builder.CreateAnd(
        builder.CreateICmpEQ(left, ConstantInt::get(type, least)),
        builder.CreateICmpEQ(right, Constant::getAllOnesValue(type)));
    isBad = builder.CreateOr(isBad, overflows);
  }
  if (match(isBad, PatternMatch::m_Zero()))
    return;
  division.setOperand(
      1, builder.CreateSelect(isBad, ConstantInt::get(type, 1), right));
  auto isAny = [&](IRBuilder<> &builder, Value *values) {
    return type->isVectorTy() ? builder.CreateOrReduce(values) : values;
  };
  uint32_t site = addSite(division);
  Instruction *then = SplitBlockAndInsertIfThen(
      isAny(builder, isBad), &division, false,
      MDBuilder(context).createUnlikelyBranchWeights());
  IRBuilder<> cold(then);
  callRuntime(cold, runtime::kDivideFault, voidType,
              {cold.getInt32(site), isAny(cold, isZero)});
}

} // namespace mlir::workgroup::emulator
