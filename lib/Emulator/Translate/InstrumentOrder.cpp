//===- InstrumentOrder.cpp - What orders memory, and for whom -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "workgroup/Support/AtomicScope.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

bool isFence(const Instruction &instruction) {
  if (isa<FenceInst>(instruction))
    return true;
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && (call->getIntrinsicID() == Intrinsic::nvvm_membar_gl ||
                  call->getIntrinsicID() == Intrinsic::nvvm_membar_sys ||
                  call->getIntrinsicID() == Intrinsic::nvvm_membar_cta ||
                  call->getIntrinsicID() == Intrinsic::nvvm_fence_sc_cluster);
}

/// What an operation orders by itself. LLVM writes `atomicrmw` of any order as
/// PTX's relaxed `atom`, and what is volatile counts as relaxed.
AtomicOrder getAtomicOrder(const Instruction &instruction,
                           const DataLayout &layout) {
  AtomicOrder order;
  order.reads = instruction.mayReadFromMemory();
  order.writes = instruction.mayWriteToMemory();
  AtomicOrdering ordering = AtomicOrdering::Monotonic;
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    ordering = exchange->getSuccessOrdering();
  } else if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    ordering = load->getOrdering();
    order.writes = false;
  } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    ordering = store->getOrdering();
    order.reads = false;
  }
  order.acquires = order.reads && isAcquireOrStronger(ordering);
  order.releases = order.writes && isReleaseOrStronger(ordering);
  order.isSequential = ordering == AtomicOrdering::SequentiallyConsistent;
  order.scope = getScope(instruction);
  Type *type = getAccess(instruction).second;
  order.width = layout.getTypeStoreSize(type->getScalarType());
  return order;
}

/// The scope of a name that LLVM knows.
static Scope getScope(StringRef name) {
  switch (getScopeNamed(name)) {
  case AtomicScope::Thread:
    return Scope::Thread;
  case AtomicScope::Block:
    return Scope::Block;
  case AtomicScope::Cluster:
    return Scope::Cluster;
  case AtomicScope::Device:
  case AtomicScope::System: // all of a launch are on one device
    return Scope::Device;
  }
  llvm_unreachable("unknown scope");
}

Scope getScope(const Instruction &instruction) {
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
    switch (call->getIntrinsicID()) {
    case Intrinsic::nvvm_membar_cta:
      return Scope::Block;
    case Intrinsic::nvvm_fence_sc_cluster:
      return Scope::Cluster;
    default:
      return Scope::Device;
    }
  }
  std::optional<SyncScope::ID> scope = getAtomicSyncScopeID(&instruction);
  if (!scope)
    return Scope::Device; // volatile: of the system
  SmallVector<StringRef> names;
  instruction.getContext().getSyncScopeNames(names);
  StringRef name = *scope < names.size() ? names[*scope] : "";
  return getScope(name);
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

/// Barriers of less than a block, fences, and atomics that order.
void Instrumenter::findPartialOrder() {
  for (Instruction &instruction : instructions(*function)) {
    bool orders = isFence(instruction);
    if (instruction.isAtomic() && !isa<FenceInst>(instruction)) {
      AtomicOrder order = getAtomicOrder(instruction, module.getDataLayout());
      orders |= order.acquires || order.releases;
    }
    tables.ordersMemory |= orders;
    tables.ordersBlocks |= orders && getScope(instruction) == Scope::Device;
    if (orders && getScope(instruction) == Scope::Cluster)
      tables.clusterOrderSite = addSite(instruction);
    auto *call = dyn_cast<CallInst>(&instruction);
    StringRef name = isa_and_nonnull<IntrinsicInst>(call)
                         ? call->getCalledFunction()->getName()
                         : "";
    tables.hasPartialOrder |=
        name == "llvm.nvvm.bar.warp.sync" || name.ends_with(".count") ||
        name.contains("barrier.cta.arrive") || (call && call->isInlineAsm());
    StringRef async = getAsyncName(instruction);
    tables.hasAgents |= async.contains("cp.async.bulk.") ||
                        async.contains("cp.async.mbarrier.");
    tables.hasPartialOrder |=
        tables.hasAgents || async.starts_with("llvm.nvvm.mbarrier.");
    auto *load = dyn_cast<LoadInst>(&instruction);
    if (load && isGuess(*load))
      guesses.insert(load);
    tables.mayWaitInLoops |=
        instruction.mayReadFromMemory() &&
        (instruction.isAtomic() || (load && load->isVolatile()));
  }
  findExchanges();
  findAtomicScopes();
  tables.hasPartialOrder |=
      tables.ordersMemory || tables.hasValueOrder || tables.hasNarrowAtomics;
}

/// Atomic operations that leave out threads which may access the same memory,
/// or that differ in how much they access at once.
void Instrumenter::findAtomicScopes() {
  bool isOfCluster = false;
  unsigned width = 0;
  for (Instruction &instruction : instructions(*function)) {
    bool isAccess = getAccess(instruction).second != nullptr;
    if (!isAccess || !(instruction.isAtomic() || instruction.isVolatile()))
      continue;
    AtomicOrder order = getAtomicOrder(instruction, module.getDataLayout());
    unsigned operand = getAccess(instruction).first;
    Scope widest =
        isOnlyShared(instruction, operand) ? Scope::Block : Scope::Device;
    tables.hasNarrowAtomics |=
        order.scope < widest || (width && width != order.width);
    isOfCluster |= widest == Scope::Device && order.scope == Scope::Cluster;
    width = order.width;
  }
  tables.tellsBlocksApart = tables.ordersBlocks || isOfCluster;
}

} // namespace mlir::workgroup::emulator
