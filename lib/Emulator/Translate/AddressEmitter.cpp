//===- AddressEmitter.cpp - Addresses that were checked -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access that is in bounds of a buffer that is known takes one comparison;
// so does a read of workgroup memory that two threads have read before.
//
//===----------------------------------------------------------------------===//

#include "AddressEmitter.h"
#include "Emulator/State/RuntimeNames.h"
#include "MemorySpaces.h"
#include "workgroup/Target/AccessWidth.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include <cstddef>

using namespace llvm;

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// The GPU splits accesses of more bytes, and of less alignment.
static uint32_t getRequiredAlignment(Align align, uint64_t bytes) {
  return std::min(
      {align.value(), PowerOf2Ceil(bytes), uint64_t(kWidestAccessBytes)});
}

uint32_t AddressEmitter::addAccess(Instruction &at, unsigned pointerOperand,
                                   AccessKind kind, uint64_t bytes,
                                   Align align) {
  if (bytes > kMaxAccessBytes)
    context.refuse(at,
                   "an access of " + Twine(bytes) + " bytes is not emulated");
  uint32_t number = context.addSite(at);
  Site &site = context.tables.sites[number];
  const KernelFacts &facts = context.facts;
  const Provenance &provenance = facts.provenances.get(at, pointerOperand);
  unsigned space = getSpace(*at.getOperand(pointerOperand));
  site.kind = kind;
  site.feeds = facts.exchanges.feeds.lookup(&at);
  site.follows = facts.exchanges.follows.lookup(&at);
  site.bytes = bytes;
  site.alignment = getRequiredAlignment(align, bytes);
  site.object = provenance.object;
  site.isVariable = provenance.kind == Provenance::Kind::Variable;
  bool isShared = space == kSharedSpace || space == kClusterSpace;
  bool isPrivate = space == NVPTXAS::ADDRESS_SPACE_LOCAL ||
                   provenance.kind == Provenance::Kind::Private;
  site.space = isShared                                ? Space::Shared
               : isPrivate                             ? Space::Private
               : space == NVPTXAS::ADDRESS_SPACE_CONST ? Space::Constant
                                                       : Space::Generic;
  if (!isShared && provenance.kind == Provenance::Kind::Shared)
    site.object = 0; // the runtime finds out where the address points to
  return number;
}

uint32_t AddressEmitter::addSharedAccess(Instruction &at,
                                         unsigned pointerOperand,
                                         AccessKind kind, uint64_t bytes) {
  uint32_t number = addAccess(at, pointerOperand, kind, bytes, Align(1));
  Site &site = context.tables.sites[number];
  site.space = Space::Shared;
  const Provenance &provenance =
      context.facts.provenances.get(at, pointerOperand);
  if (provenance.kind == Provenance::Kind::Shared)
    site.object = provenance.object;
  return number;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// `value`, or where `condition` holds what `emit` makes there instead.
template <typename Emit>
static Value *replaceIf(IRBuilder<> &builder, Value *condition, Value *value,
                        Emit emit, MDNode *weights = nullptr) {
  Instruction *at = &*builder.GetInsertPoint();
  BasicBlock *head = at->getParent();
  Instruction *then = SplitBlockAndInsertIfThen(condition, at, false, weights);
  IRBuilder<> inside(then);
  Value *other = emit(inside);
  builder.SetInsertPoint(at);
  PHINode *result = builder.CreatePHI(value->getType(), 2);
  result->addIncoming(value, head);
  result->addIncoming(other, then->getParent());
  return result;
}

/// `host` if `bytes` of the site lie in `base` .. `base + size` and are
/// aligned, else an address that does no harm.
Value *AddressEmitter::checkBounds(IRBuilder<> &builder, Value *address,
                                   Value *base, Value *size, Value *host,
                                   uint32_t number) {
  const Site &site = context.tables.sites[number];
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
  return replaceIf(
      builder, isBad, host,
      [&](IRBuilder<> &cold) {
        return context.callRuntime(cold, runtime::kFault, context.ptr,
                                   {address, cold.getInt32(number)});
      },
      MDBuilder(context.context).createUnlikelyBranchWeights());
}

/// A read of one cell that needs no record: two others have read since the last
/// write, which all threads come after.
Value *AddressEmitter::readSaturated(IRBuilder<> &builder, Value *offset,
                                     uint32_t number) {
  const Site &site = context.tables.sites[number];
  uint64_t begin = kSharedBase;
  Value *size = nullptr;
  if (isStaticShared(site)) {
    begin = context.tables.objects[site.object].offset;
    size = builder.getInt64(int64_t(getObjectBytes(site)) - site.bytes);
  } else {
    size = builder.CreateSub(
        context.getThreadField(builder, context.i64,
                               offsetof(ThreadState, sharedEnd)),
        builder.getInt64(begin + site.bytes));
  }
  Value *isInside = builder.CreateICmpULE(
      builder.CreateSub(offset, builder.getInt64(begin)), size);
  Value *isAligned = builder.CreateIsNull(
      builder.CreateAnd(offset, builder.getInt64(site.bytes - 1)));
  // The cell is looked at only if there is one.
  return replaceIf(
      builder, builder.CreateAnd(isInside, isAligned), builder.getFalse(),
      [&](IRBuilder<> &inside) {
        Value *cells = context.getThreadField(inside, context.ptr,
                                              offsetof(ThreadState, cells));
        Value *cell = inside.CreateGEP(
            ArrayType::get(context.i8, sizeof(SharedCell)), cells,
            inside.CreateLShr(offset,
                              inside.getInt64(context.tables.sharedGrain)));
        Value *saturated = context.getField(
            inside, context.i32, cell, offsetof(SharedCell, saturated), false);
        return inside.CreateICmpEQ(
            saturated,
            context.getThreadField(inside, context.i32,
                                   offsetof(ThreadState, epoch), false));
      });
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

/// Asks the runtime for the address to use, unless it is in one of the private
/// buffers that it may point to.
Value *AddressEmitter::checkElsewhere(IRBuilder<> &builder, Value *address,
                                      const Provenance &provenance, Value *host,
                                      uint32_t number) {
  const Site site = context.tables.sites[number];
  StringRef name = getCheck(site.kind, /*isShared=*/false);
  SmallVector<Value *> operands = {address, builder.getInt32(number),
                                   builder.getInt64(site.bytes)};
  if (site.space == Space::Private) { // and in none of them
    name = runtime::kFault;
    operands.pop_back();
  }
  if (provenance.buffers.empty())
    return context.callRuntime(builder, name, context.ptr, operands);
  Value *isPrivate = builder.getFalse();
  for (AllocaInst *buffer : provenance.buffers) {
    auto allocated = buffer->getAllocationSize(context.getLayout());
    int64_t last = int64_t(allocated->getFixedValue()) - int64_t(site.bytes);
    Value *distance =
        builder.CreateSub(address, context.getOffset(builder, buffer));
    if (last >= 0)
      isPrivate = builder.CreateOr(
          isPrivate, builder.CreateICmpULE(distance, builder.getInt64(last)));
  }
  return replaceIf(
      builder, builder.CreateNot(isPrivate), host, [&](IRBuilder<> &elsewhere) {
        return context.callRuntime(elsewhere, name, context.ptr, operands);
      });
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value *AddressEmitter::getSharedAddress(IRBuilder<> &builder, Value *pointer,
                                        uint32_t number) {
  const KernelTables &tables = context.tables;
  const Site site = tables.sites[number];
  Value *offset = context.getOffset(builder, pointer);
  Value *window = context.getThreadField(builder, context.ptr,
                                         offsetof(ThreadState, shared));
  Value *host = builder.CreateGEP(context.i8, window, offset);
  bool isStatic = isStaticShared(site);
  bool isOfCluster = getSpace(*pointer) == kClusterSpace;
  if (!context.options.checksRaces && !isOfCluster) {
    uint64_t begin =
        site.object ? tables.objects[site.object].offset : kSharedBase;
    Value *size =
        isStatic ? builder.getInt64(getObjectBytes(site))
                 : builder.CreateSub(
                       context.getThreadField(builder, context.i64,
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
  uint64_t least =
      isStatic ? getObjectBytes(site) : tables.sharedEnd - kSharedBase;
  if (site.kind != AccessKind::Read || !isOneCell || tables.hasPartialOrder ||
      isOfCluster || least < site.bytes)
    return context.callRuntime(builder, name, context.ptr, operands);
  Value *isSaturated = readSaturated(builder, offset, number);
  return replaceIf(
      builder, builder.CreateNot(isSaturated), host, [&](IRBuilder<> &slow) {
        return context.callRuntime(slow, name, context.ptr, operands);
      });
}

/// Checks an access to what the pointer that is `argument` points to.
Value *AddressEmitter::checkArgument(IRBuilder<> &builder, Value *address,
                                     uint64_t argument, Value *host,
                                     uint32_t number) {
  Value *bounds = context.getThreadField(builder, context.ptr,
                                         offsetof(ThreadState, arguments));
  auto getBound = [&](uint64_t offset) {
    return context.getField(builder, context.i64, bounds,
                            argument * sizeof(Bounds) + offset);
  };
  Value *base = getBound(offsetof(Bounds, base));
  // A buffer that must not be written has no bytes to write to.
  bool isWrite = writes(context.tables.sites[number].kind);
  Value *size = getBound(isWrite ? offsetof(Bounds, writableBytes)
                                 : offsetof(Bounds, bytes));
  return checkBounds(builder, address, base, size, host, number);
}

Value *AddressEmitter::getOtherAddress(IRBuilder<> &builder, Value *pointer,
                                       const Provenance &provenance,
                                       uint32_t number) {
  using Kind = Provenance::Kind;
  const Site site = context.tables.sites[number];
  const DataLayout &layout = context.getLayout();
  Value *host = builder.CreateAddrSpaceCast(pointer, context.ptr);
  Value *address = context.getOffset(builder, host);
  if (provenance.kind == Kind::Private) {
    auto *buffer = cast<AllocaInst>(provenance.base);
    uint64_t size = buffer->getAllocationSize(layout)->getFixedValue();
    return checkBounds(builder, address, context.getOffset(builder, buffer),
                       builder.getInt64(size), host, number);
  }
  auto *variable = dyn_cast_or_null<GlobalVariable>(provenance.base);
  if (variable && variable->isConstant() && site.kind == AccessKind::Read) {
    uint64_t size = layout.getTypeAllocSize(variable->getValueType());
    return checkBounds(builder, address, context.getOffset(builder, variable),
                       builder.getInt64(size), host, number);
  }
  if (!context.options.checksRaces && provenance.kind == Kind::Argument)
    return checkArgument(builder, address,
                         context.tables.objects[provenance.object].offset, host,
                         number);
  return checkElsewhere(builder, address, provenance, host, number);
}

Value *AddressEmitter::getHostAddress(Instruction &at, unsigned pointerOperand,
                                      uint32_t number) {
  IRBuilder<> builder(&at);
  Value *pointer = at.getOperand(pointerOperand);
  Space space = context.tables.sites[number].space;
  if (context.options.withStatistics && space != Space::Private &&
      space != Space::Constant)
    context.callRuntime(
        builder, runtime::kLogAccess, context.voidType,
        {context.getOffset(builder, pointer), builder.getInt32(number)});
  if (space == Space::Shared)
    return getSharedAddress(builder, pointer, number);
  return getOtherAddress(builder, pointer,
                         context.facts.provenances.get(at, pointerOperand),
                         number);
}

} // namespace mlir::workgroup::emulator
