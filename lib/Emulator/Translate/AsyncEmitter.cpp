//===- AsyncEmitter.cpp - Copies, and mbarriers ---------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation has a record in the table of operations, which the runtime
// executes by its number. Intrinsics and inline assembly differ only in where
// their operands are.
//
//===----------------------------------------------------------------------===//

#include "AsyncEmitter.h"
#include "ClusterUse.h"
#include "Emulator/Isa/TensorMaps.h"
#include "Emulator/State/RuntimeNames.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

bool AsyncEmitter::emitThreadCopy(IntrinsicInst &call, StringRef name) {
  if (!name.consume_front("llvm.nvvm.cp.async."))
    return false;
  IRBuilder<> builder(&call);
  if (name == "commit.group") {
    context.callRuntime(builder, runtime::kCommitCopies, context.voidType, {});
  } else if (name == "wait.all") {
    context.callRuntime(builder, runtime::kWaitForAllCopies, context.voidType,
                        {});
  } else if (name == "wait.group") {
    context.callRuntime(builder, runtime::kWaitForCopies, context.voidType,
                        {call.getArgOperand(0)});
  } else if (name.starts_with("ca.shared.global.") ||
             name.starts_with("cg.shared.global.")) {
    bool hasSize = name.consume_back(".s");
    unsigned bytes = 0;
    name.rsplit('.').second.getAsInteger(10, bytes);
    uint32_t site =
        addresses.addAccess(call, 0, AccessKind::Write, bytes, Align(bytes));
    addresses.addAccess(call, 1, AccessKind::Read, bytes, Align(bytes));
    context.tables.sites[site].isAsync =
        context.tables.sites[site + 1].isAsync = true;
    Value *size = hasSize
                      ? builder.CreateZExt(call.getArgOperand(2), context.i64)
                      : builder.getInt64(bytes);
    context.callRuntime(builder, runtime::kBeginCopy, context.voidType,
                        {context.getOffset(builder, call.getArgOperand(0)),
                         context.getOffset(builder, call.getArgOperand(1)),
                         size, builder.getInt32(site)});
  } else {
    return context.refuse(call, "intrinsic 'llvm.nvvm.cp.async." + name +
                                    "' is not emulated yet");
  }
  call.eraseFromParent();
  return true;
}

//===----------------------------------------------------------------------===//
// Copies in bulk
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

/// True if `pointer` is certain to be a tensor map that the launch makes.
bool AsyncEmitter::isTensorMap(const Value *pointer) const {
  SmallVector<const Value *, 4> bases;
  getUnderlyingObjects(pointer, bases, /*LI=*/nullptr, /*MaxLookup=*/0);
  return all_of(bases, [&](const Value *base) {
    return context.tensorMaps.contains(base);
  });
}

void AsyncEmitter::emitBulkCopy(CallInst &call, IRBuilder<> &builder,
                                const AsyncOp &op) {
  BulkOperands operands = getBulkOperands(op, call.isInlineAsm());
  Operation operation;
  operation.async = op;
  operation.accessSite =
      addBulkAccesses(call, op, operands.shared, operands.global);
  Value *global = call.getArgOperand(operands.global);
  if (op.rank != 0 && !isTensorMap(global)) {
    context.refuse(call, "a tensor map that is no parameter of the kernel is "
                         "not emulated");
    return;
  }
  auto getSharedOffset = [&](unsigned operand) {
    return context.getSharedOffset(builder, call.getArgOperand(operand));
  };
  SmallVector<Value *> values = {getSharedOffset(operands.shared)};
  values.push_back(operands.barrier ? getSharedOffset(*operands.barrier)
                                    : builder.getInt64(0));
  values.push_back(context.getOffset(builder, global));
  for (unsigned i = 0; i < operands.count; ++i)
    values.push_back(call.getArgOperand(operands.rest + i));
  if (op.isMulticast)
    values.push_back(getBlockMask(call).first);
  execute(call, builder, std::move(operation), values);
}

/// Adds the sites of what a copy writes and of what it reads, one behind the
/// other; returns the first.
uint32_t AsyncEmitter::addBulkAccesses(CallInst &call, const AsyncOp &op,
                                       unsigned shared, unsigned global) {
  constexpr uint64_t kBytes = TensorMap::kChunk;
  auto addGlobalAccess = [&](AccessKind kind) {
    uint32_t site = addresses.addAccess(call, global, kind, kBytes,
                                        op.rank ? Align(1) : Align(kBytes));
    context.tables.sites[site].space = Space::Generic;
    return site;
  };
  uint32_t first = 0;
  if (op.isLoad()) {
    first = addresses.addSharedAccess(call, shared, AccessKind::Write, kBytes);
    addGlobalAccess(AccessKind::Read);
  } else {
    first =
        addGlobalAccess(op.reduction ? AccessKind::Update : AccessKind::Write);
    context.tables.sites[first].order.scope = Scope::Device;
    addresses.addSharedAccess(call, shared, AccessKind::Read, kBytes);
  }
  for (uint32_t number : {first, first + 1}) {
    Site &site = context.tables.sites[number];
    site.isAsync = site.isBulk = true;
    site.isLoad = op.isLoad();
  }
  return first;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void AsyncEmitter::emitMBarrier(CallInst &call, IRBuilder<> &builder,
                                const AsyncOp &op) {
  using Kind = AsyncOp::Kind;
  bool isWritten = op.kind == Kind::Init || op.kind == Kind::Invalidate;
  Operation operation;
  operation.async = op;
  operation.accessSite =
      addresses.addSharedAccess(call, 0,
                                isWritten       ? AccessKind::Write
                                : op.suspends() ? AccessKind::AtomicRead
                                                : AccessKind::Update,
                                /*bytes=*/8);
  bool hasOperand =
      call.arg_size() > 1 && call.getArgOperand(1)->getType()->isIntegerTy();
  SmallVector<Value *> values = {
      context.getSharedOffset(builder, call.getArgOperand(0)),
      hasOperand ? builder.CreateZExt(call.getArgOperand(1), context.i64)
                 : builder.getInt64(1)};
  execute(call, builder, std::move(operation), values);
}

/// Lets the runtime do an operation with its operands in the registers, and
/// takes the result from there. Waits suspend the thread.
void AsyncEmitter::execute(CallInst &call, IRBuilder<> &builder,
                           Operation operation, ArrayRef<Value *> operands) {
  bool suspends = operation.async->suspends();
  operation.kind = Operation::Kind::Async;
  uint32_t number = context.addOperation(call, std::move(operation));
  context.storeRegisters(builder, operands);
  if (suspends)
    context.suspend(builder, number, Wait::Phase);
  else
    context.callRuntime(builder, runtime::kExecute, context.voidType,
                        {builder.getInt32(number)});
  unsigned index = 0;
  if (!call.getType()->isVoidTy())
    call.replaceAllUsesWith(
        context.loadRegisters(builder, call.getType(), index));
  call.eraseFromParent();
}

void AsyncEmitter::emit(CallInst &call, IRBuilder<> &builder,
                        const AsyncOp &op) {
  context.tables.hasMBarriers |= !op.isStoreGroup();
  if (op.isCopy())
    return emitBulkCopy(call, builder, op);
  if (!op.isStoreGroup())
    return emitMBarrier(call, builder, op);
  Operation operation;
  operation.async = op;
  SmallVector<Value *> operands(call.args());
  execute(call, builder, std::move(operation), operands);
}

/// What only hints at something, and fences between proxies.
bool AsyncEmitter::emitProxy(CallInst &call, StringRef name) {
  std::optional<ProxyFence> fence = ProxyFence::decode(name);
  if (!fence && !isAsyncHint(name))
    return false;
  if (fence && context.options.checksRaces && context.tables.hasAgents) {
    IRBuilder<> builder(&call);
    context.callRuntime(builder, runtime::kFenceProxy, context.voidType,
                        {builder.getInt32(fence->encode())});
  }
  call.eraseFromParent();
  return true;
}

bool AsyncEmitter::emitIntrinsic(IntrinsicInst &call, StringRef name) {
  if (emitProxy(call, name))
    return true;
  if (name == "llvm.nvvm.mbarrier.pending.count") {
    constexpr uint64_t kCount = (1 << 20) - 1;
    IRBuilder<> builder(&call);
    Value *count = builder.CreateAnd(call.getArgOperand(0), kCount);
    context.replace(call, builder.CreateTrunc(count, call.getType()));
    return true;
  }
  std::optional<AsyncOp> op = AsyncOp::decode(name);
  if (!op)
    return false;
  if (Value *flag = getBlockMask(call).second) {
    auto *constant = dyn_cast<ConstantInt>(flag);
    if (!constant) {
      context.refuse(call, "a copy that may or may not be to several blocks of "
                           "a cluster is not emulated");
      return true;
    }
    op->isMulticast = constant->isOne();
  }
  IRBuilder<> builder(&call);
  emit(call, builder, *op);
  return true;
}

bool AsyncEmitter::emitAssembly(CallInst &call, StringRef text) {
  if (emitProxy(call, text))
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
  emit(call, builder, assembly->op);
  return true;
}

} // namespace mlir::workgroup::emulator
