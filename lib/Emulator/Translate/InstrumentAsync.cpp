//===- InstrumentAsync.cpp - Copies, and mbarriers that track them --------===//
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
#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include <cstddef>

using namespace llvm;

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

bool Instrumenter::instrumentAsyncCopy(IntrinsicInst &call, StringRef name) {
  if (!name.consume_front("llvm.nvvm.cp.async."))
    return false;
  IRBuilder<> builder(&call);
  if (name == "commit.group") {
    callRuntime(builder, runtime::kCommitCopies, voidType, {});
  } else if (name == "wait.all") {
    callRuntime(builder, runtime::kWaitForAllCopies, voidType, {});
  } else if (name == "wait.group") {
    callRuntime(builder, runtime::kWaitForCopies, voidType,
                {call.getArgOperand(0)});
  } else if (name.starts_with("ca.shared.global.") ||
             name.starts_with("cg.shared.global.")) {
    bool hasSize = name.consume_back(".s");
    unsigned bytes = 0;
    name.rsplit('.').second.getAsInteger(10, bytes);
    uint32_t site = addAccess(call, 0, AccessKind::Write, bytes, Align(bytes));
    addAccess(call, 1, AccessKind::Read, bytes, Align(bytes));
    tables.sites[site].isAsync = tables.sites[site + 1].isAsync = true;
    Value *size = hasSize ? builder.CreateZExt(call.getArgOperand(2), i64)
                          : builder.getInt64(bytes);
    callRuntime(builder, runtime::kBeginCopy, voidType,
                {getOffset(builder, call.getArgOperand(0)),
                 getOffset(builder, call.getArgOperand(1)), size,
                 builder.getInt32(site)});
  } else {
    return refuse(call, "intrinsic 'llvm.nvvm.cp.async." + name +
                            "' is not emulated yet");
  }
  call.eraseFromParent();
  return true;
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// Adds the access of a bulk copy, or of an operation on an mbarrier, to
/// workgroup memory, whatever kind of address it has.
uint32_t Instrumenter::addSharedAccess(CallInst &call, unsigned operand,
                                       AccessKind kind, uint64_t bytes) {
  uint32_t number = addAccess(call, operand, kind, bytes, Align(1));
  Site &site = tables.sites[number];
  site.space = Space::Shared;
  const Provenance &provenance = provenances[{&call, operand}];
  if (provenance.kind == Provenance::Kind::Shared)
    site.object = provenance.object;
  return number;
}

/// The offset of an address in the window of workgroup memory.
Value *Instrumenter::getSharedOffset(IRBuilder<> &builder, Value *pointer) {
  Value *offset = getOffset(builder, pointer);
  if (pointer->getType()->getPointerAddressSpace() != 0)
    return offset;
  Value *window = getOffset(
      builder, getField(builder, ptr, thread, offsetof(ThreadState, shared)));
  return builder.CreateSub(offset, window);
}

/// True if `pointer` is certain to be a tensor map that the launch makes.
bool Instrumenter::isTensorMap(const Value *pointer) const {
  SmallVector<const Value *, 4> bases;
  getUnderlyingObjects(pointer, bases, /*LI=*/nullptr, /*MaxLookup=*/0);
  return all_of(bases,
                [&](const Value *base) { return tensorMaps.contains(base); });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {
/// Where the operands of a copy in bulk are among those of the call.
struct BulkOperands {
  unsigned shared, global;
  std::optional<unsigned> barrier;
  /// The coordinates, or the number of bytes.
  unsigned rest, count;
};
} // namespace

static BulkOperands getBulkOperands(const AsyncOp &op, bool isAssembly) {
  unsigned count = std::max(op.rank, 1u);
  if (op.kind == AsyncOp::Kind::StoreBytes)
    return {1, 0, std::nullopt, 2, count};
  if (op.kind == AsyncOp::Kind::StoreTensor)
    return isAssembly ? BulkOperands{1, 0, std::nullopt, 2, count}
                      : BulkOperands{0, 1, std::nullopt, 2, count};
  return isAssembly ? BulkOperands{0, 1, 2 + count, 2, count}
                    : BulkOperands{0, 2, 1, 3, count};
}

/// Copies to several blocks have a flag that is set.
static bool isMulticast(const CallInst &call, StringRef name) {
  if (!name.contains(".g2s.tile.") && !name.contains("to.shared.cluster"))
    return false;
  // Behind it are the flag of a hint for caches and, of boxes, a group of
  // blocks.
  unsigned fromEnd = name.contains(".g2s.tile.") ? 3 : 2;
  auto *flag =
      dyn_cast<ConstantInt>(call.getArgOperand(call.arg_size() - fromEnd));
  return !flag || flag->isOne();
}

void Instrumenter::instrumentBulkCopy(CallInst &call, IRBuilder<> &builder,
                                      const AsyncOp &op) {
  BulkOperands operands = getBulkOperands(op, call.isInlineAsm());
  constexpr uint64_t kBytes = TensorMap::kChunk;
  bool isTensor = op.rank != 0;
  Operation operation;
  auto addGlobalAccess = [&](AccessKind kind) {
    uint32_t site = addAccess(call, operands.global, kind, kBytes,
                              isTensor ? Align(1) : Align(kBytes));
    tables.sites[site].space = Space::Generic;
    return site;
  };
  if (op.isLoad()) {
    operation.accessSite =
        addSharedAccess(call, operands.shared, AccessKind::Write, kBytes);
    addGlobalAccess(AccessKind::Read);
  } else {
    operation.accessSite = addGlobalAccess(AccessKind::Write);
    addSharedAccess(call, operands.shared, AccessKind::Read, kBytes);
  }
  for (uint32_t site : {operation.accessSite, operation.accessSite + 1}) {
    tables.sites[site].isAsync = tables.sites[site].isBulk = true;
    tables.sites[site].isLoad = op.isLoad();
  }
  Value *global = call.getArgOperand(operands.global);
  if (isTensor && !isTensorMap(global)) {
    refuse(call, "a tensor map that is no parameter of the kernel is not "
                 "emulated");
    return;
  }
  SmallVector<Value *> values = {
      getSharedOffset(builder, call.getArgOperand(operands.shared)),
      operands.barrier
          ? getSharedOffset(builder, call.getArgOperand(*operands.barrier))
          : builder.getInt64(0),
      getOffset(builder, global)};
  for (unsigned i = 0; i < operands.count; ++i)
    values.push_back(call.getArgOperand(operands.rest + i));
  operation.async = op;
  executeAt(call, builder, std::move(operation), values);
}

void Instrumenter::instrumentMBarrier(CallInst &call, IRBuilder<> &builder,
                                      const AsyncOp &op) {
  using Kind = AsyncOp::Kind;
  bool isWritten = op.kind == Kind::Init || op.kind == Kind::Invalidate;
  Operation operation;
  operation.async = op;
  operation.accessSite =
      addSharedAccess(call, 0,
                      isWritten       ? AccessKind::Write
                      : op.suspends() ? AccessKind::AtomicRead
                                      : AccessKind::Update,
                      /*bytes=*/8);
  bool hasOperand =
      call.arg_size() > 1 && call.getArgOperand(1)->getType()->isIntegerTy();
  SmallVector<Value *> values = {
      getSharedOffset(builder, call.getArgOperand(0)),
      hasOperand ? builder.CreateZExt(call.getArgOperand(1), i64)
                 : builder.getInt64(1)};
  executeAt(call, builder, std::move(operation), values);
}

/// Lets the runtime do an operation with its operands in the registers, and
/// takes the result from there. Waits suspend the thread.
void Instrumenter::executeAt(CallInst &call, IRBuilder<> &builder,
                             Operation operation, ArrayRef<Value *> operands) {
  bool suspends = operation.async->suspends();
  operation.kind = Operation::Kind::Async;
  operation.site = addSite(call);
  uint32_t number = tables.operations.size();
  tables.operations.push_back(std::move(operation));
  storeRegisters(builder, operands);
  if (suspends) {
    auto setField = [&](uint64_t offset, uint32_t value) {
      return builder.CreateStore(
          builder.getInt32(value),
          builder.CreateConstInBoundsGEP1_64(i8, thread, offset));
    };
    setField(offsetof(ThreadState, operation), number);
    suspensions.push_back(
        setField(offsetof(ThreadState, wait), uint32_t(Wait::Phase)));
  } else {
    callRuntime(builder, runtime::kExecute, voidType,
                {builder.getInt32(number)});
  }
  unsigned index = 0;
  if (!call.getType()->isVoidTy())
    call.replaceAllUsesWith(loadRegisters(builder, call.getType(), index));
  call.eraseFromParent();
}

void Instrumenter::instrumentAsyncOp(CallInst &call, IRBuilder<> &builder,
                                     const AsyncOp &op) {
  tables.hasMBarriers |= !op.isStoreGroup();
  if (op.isCopy())
    return instrumentBulkCopy(call, builder, op);
  if (!op.isStoreGroup())
    return instrumentMBarrier(call, builder, op);
  Operation operation;
  operation.async = op;
  SmallVector<Value *> operands(call.args());
  executeAt(call, builder, std::move(operation), operands);
}

/// What only hints at something, and fences between proxies.
bool Instrumenter::instrumentProxy(CallInst &call, StringRef name) {
  std::optional<ProxyFence> fence = ProxyFence::decode(name);
  if (!fence && !isAsyncHint(name))
    return false;
  if (fence && options.checksRaces && tables.hasAgents) {
    IRBuilder<> builder(&call);
    callRuntime(builder, runtime::kFenceProxy, voidType,
                {builder.getInt32(fence->encode())});
  }
  call.eraseFromParent();
  return true;
}

bool Instrumenter::instrumentAsync(IntrinsicInst &call, StringRef name) {
  if (instrumentProxy(call, name))
    return true;
  if (name == "llvm.nvvm.mbarrier.pending.count") {
    constexpr uint64_t kCount = (1 << 20) - 1;
    IRBuilder<> builder(&call);
    Value *count = builder.CreateAnd(call.getArgOperand(0), kCount);
    replace(call, builder.CreateTrunc(count, call.getType()));
    return true;
  }
  std::optional<AsyncOp> op = AsyncOp::decode(name);
  if (!op)
    return false;
  if (isMulticast(call, name)) {
    refuse(call, "a copy to several blocks of a cluster is not emulated yet");
    return true;
  }
  IRBuilder<> builder(&call);
  instrumentAsyncOp(call, builder, *op);
  return true;
}

bool Instrumenter::instrumentAsyncAssembly(CallInst &call, StringRef text) {
  if (instrumentProxy(call, text))
    return true;
  std::optional<AsyncAssembly> assembly = AsyncAssembly::decode(text);
  if (!assembly || !call.getType()->isVoidTy() ||
      (assembly->predicate && *assembly->predicate >= call.arg_size()))
    return false;
  Instruction *at = &call;
  if (assembly->predicate) {
    Value *condition = call.getArgOperand(*assembly->predicate);
    at = SplitBlockAndInsertIfThen(condition, &call, /*Unreachable=*/false);
  }
  IRBuilder<> builder(at);
  instrumentAsyncOp(call, builder, assembly->op);
  return true;
}

} // namespace mlir::workgroup::emulator
