//===- InstructionFacts.cpp - What one instruction does -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM writes `atomicrmw` of any order as PTX's relaxed `atom`, and what is
// volatile counts as relaxed.
//
//===----------------------------------------------------------------------===//

#include "InstructionFacts.h"
#include "workgroup/Support/AtomicScope.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

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

StringRef getCalledName(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  if (!call)
    return "";
  if (auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand()))
    return assembly->getAsmString();
  return call->getCalledFunction() ? call->getCalledFunction()->getName() : "";
}

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

} // namespace mlir::workgroup::emulator
