//===- AccessEmitter.cpp - Accesses go by a check -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The address of an access is replaced by one that was checked; what an atomic
// operation orders goes to its site.
//
//===----------------------------------------------------------------------===//

#include "AccessEmitter.h"
#include "Emulator/State/RuntimeNames.h"
#include "InstructionFacts.h"
#include "MemorySpaces.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

/// Bytes of an atomic operation, at most.
static constexpr uint64_t kMaxAtomicBytes = 8;

/// True for what happens at once, at a time of its own: volatile accesses are
/// relaxed atomic ones, if they are no wider than those can be.
template <typename Access>
static bool isAtomicAccess(const Access &access, uint64_t bytes) {
  return access.isAtomic() ||
         (access.isVolatile() && bytes <= kMaxAtomicBytes &&
          isPowerOf2_64(bytes));
}

void AccessEmitter::emitLoad(LoadInst &load) {
  uint64_t bytes = context.getLayout().getTypeStoreSize(load.getType());
  if (isAtomicAccess(load, bytes))
    return emitAtomic(load, AccessKind::AtomicRead);
  unsigned operand = load.getPointerOperandIndex();
  AccessKind kind = context.facts.guesses.contains(&load)
                        ? AccessKind::AtomicRead
                        : AccessKind::Read;
  uint32_t number =
      addresses.addAccess(load, operand, kind, bytes, load.getAlign());
  if (kind == AccessKind::AtomicRead) {
    // It orders nothing, and is atomic to whom the swap is.
    AtomicOrder order = getAtomicOrder(load, context.getLayout());
    Site &site = context.tables.sites[number];
    site.order.scope = order.scope;
    site.order.width = order.width;
  }
  load.setOperand(operand, addresses.getHostAddress(load, operand, number));
  // A misaligned address is a finding, not a fault of the host.
  load.setAlignment(Align(1));
}

void AccessEmitter::emitStore(StoreInst &store) {
  Type *type = store.getValueOperand()->getType();
  uint64_t bytes = context.getLayout().getTypeStoreSize(type);
  if (isAtomicAccess(store, bytes))
    return emitAtomic(store, AccessKind::AtomicWrite);
  unsigned operand = store.getPointerOperandIndex();
  uint32_t site = addresses.addAccess(store, operand, AccessKind::Write, bytes,
                                      store.getAlign());
  store.setOperand(operand, addresses.getHostAddress(store, operand, site));
  store.setAlignment(Align(1));
}

void AccessEmitter::emitAtomic(Instruction &atomic, AccessKind kind) {
  auto [operand, type] = getAccess(atomic);
  uint64_t bytes = context.getLayout().getTypeStoreSize(type);
  if (bytes > kMaxAtomicBytes) {
    context.refuse(atomic, "an atomic operation on " + Twine(bytes) +
                               " bytes is not emulated");
    return;
  }
  Align align(PowerOf2Ceil(bytes));
  uint32_t number = addresses.addAccess(atomic, operand, kind, bytes, align);
  Site &site = context.tables.sites[number];
  site.order = getAtomicOrder(atomic, context.getLayout());
  if (site.order.isSequential)
    emitFence(atomic, site.order.scope);
  bool mayMeetBlocks = context.options.checksRaces &&
                       context.tables.ordersBlocks &&
                       site.order.isDeviceWide() && site.order.reads &&
                       site.space == Space::Generic;
  Value *pointer = atomic.getOperand(operand);
  atomic.setOperand(operand, addresses.getHostAddress(atomic, operand, number));
  if (!mayMeetBlocks)
    return;
  IRBuilder<> after(atomic.getNextNode());
  context.callRuntime(
      after, runtime::kFinishAtomic, context.voidType,
      {context.getOffset(after, pointer), after.getInt32(number)});
}

void AccessEmitter::emitFence(Instruction &at, Scope scope) {
  if (!context.options.checksRaces)
    return;
  IRBuilder<> builder(&at);
  context.callRuntime(builder, runtime::kFence, context.voidType,
                      {builder.getInt1(scope == Scope::Device)});
}

/// True if `pointer` is no private buffer, or one of at least `length` bytes.
static bool isWithinPrivate(const Value *pointer, const Value *length,
                            const DataLayout &layout) {
  auto *buffer = dyn_cast<AllocaInst>(getUnderlyingObject(pointer));
  if (!buffer)
    return true;
  auto *bytes = dyn_cast<ConstantInt>(length);
  auto size = buffer->getAllocationSize(layout);
  return pointer == buffer && bytes && size &&
         bytes->getZExtValue() <= size->getFixedValue();
}

void AccessEmitter::emitMemory(MemIntrinsic &memory) {
  const DataLayout &layout = context.getLayout();
  auto *transfer = dyn_cast<MemTransferInst>(&memory);
  if (!isWithinPrivate(memory.getRawDest(), memory.getLength(), layout) ||
      (transfer && !isWithinPrivate(transfer->getRawSource(),
                                    memory.getLength(), layout))) {
    context.refuse(memory,
                   "a copy of a part of private memory is not emulated");
    return;
  }
  IRBuilder<> builder(&memory);
  Value *bytes = builder.CreateZExtOrTrunc(memory.getLength(), context.i64);
  uint32_t site =
      addresses.addAccess(memory, 0, AccessKind::Write, 1, Align(1));
  Value *target = context.getOffset(builder, memory.getRawDest());
  if (auto *fill = dyn_cast<MemSetInst>(&memory)) {
    context.callRuntime(
        builder, runtime::kSetBytes, context.voidType,
        {target, fill->getValue(), bytes, builder.getInt32(site)});
  } else {
    addresses.addAccess(memory, 1, AccessKind::Read, 1, Align(1));
    Value *source = context.getOffset(builder, transfer->getRawSource());
    context.callRuntime(builder, runtime::kCopyBytes, context.voidType,
                        {target, source, bytes, builder.getInt32(site)});
  }
  memory.eraseFromParent();
}

/// Generic addresses are host addresses, of workgroup memory in its window.
void AccessEmitter::emitCast(AddrSpaceCastInst &cast) {
  IRBuilder<> builder(&cast);
  unsigned from = cast.getSrcAddressSpace(), to = cast.getDestAddressSpace();
  if (cast.getType()->isVectorTy()) {
    context.refuse(cast,
                   "a vector of addresses in several memories is not emulated");
    return;
  }
  // The memory of a block is part of that of its cluster, at one address.
  bool isFromShared = from == kSharedSpace || from == kClusterSpace;
  bool isToShared = to == kSharedSpace || to == kClusterSpace;
  Value *offset = context.getOffset(builder, cast.getPointerOperand());
  Value *window = context.getWindow(builder);
  if (isFromShared && !isToShared)
    offset = builder.CreateAdd(offset, window);
  else if (!isFromShared && isToShared)
    offset = builder.CreateSub(offset, window);
  context.replace(cast, builder.CreateIntToPtr(offset, cast.getType()));
}

} // namespace mlir::workgroup::emulator
