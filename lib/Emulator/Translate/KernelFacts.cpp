//===- KernelFacts.cpp - What is known of a kernel ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What pointers point to comes first, since all else asks for it; then what
// orders memory, and for whom.
//
//===----------------------------------------------------------------------===//

#include "KernelFacts.h"
#include "AccessGrains.h"
#include "ClusterUse.h"
#include "InstructionFacts.h"
#include "KernelErrors.h"
#include "SizeBounds.h"
#include "SpaceChecks.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

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

/// Sets what `tables` say of fences and atomic operations that order.
static void findOrderOfMemory(const Function &function, KernelTables &tables) {
  for (const Instruction &instruction : instructions(function)) {
    bool orders = isFence(instruction);
    if (instruction.isAtomic() && !isa<FenceInst>(instruction)) {
      AtomicOrder order = getAtomicOrder(instruction, function.getDataLayout());
      orders |= order.acquires || order.releases;
    }
    if (!orders)
      continue;
    Scope scope = getScope(instruction);
    tables.ordersMemory = true;
    tables.ordersBlocks |= scope == Scope::Device;
    tables.usesClusters |= scope == Scope::Cluster;
  }
}

/// Sets what `tables` say of barriers of less than a block, of copies that go
/// on by themselves, and of loops that wait.
static void findWaits(const Function &function, KernelTables &tables) {
  for (const Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<CallInst>(&instruction);
    StringRef called = getCalledName(instruction);
    StringRef name = isa_and_nonnull<IntrinsicInst>(call) ? called : "";
    bool multiplies = called.contains("wgmma.");
    tables.hasWarpgroups |= multiplies || called.contains(".setmaxnreg.");
    tables.hasAgents |= multiplies || called.contains("cp.async.bulk.") ||
                        called.contains("cp.async.mbarrier.");
    tables.hasPartialOrder |=
        name == "llvm.nvvm.bar.warp.sync" || name.ends_with(".count") ||
        name.contains("barrier.cta.arrive") || (call && call->isInlineAsm()) ||
        called.starts_with("llvm.nvvm.mbarrier.");
    tables.usesClusters |= usesCluster(instruction);
    auto *load = dyn_cast<LoadInst>(&instruction);
    tables.mayWaitInLoops |=
        instruction.mayReadFromMemory() &&
        (instruction.isAtomic() || (load && load->isVolatile()));
  }
}

/// Sets what `tables` say of atomic operations that leave out threads which may
/// access the same memory, or that differ in how much they access at once.
static void findAtomicScopes(const Function &function, KernelTables &tables,
                             const Provenances &provenances) {
  bool isOfCluster = false;
  unsigned width = 0;
  for (const Instruction &instruction : instructions(function)) {
    auto [operand, type] = getAccess(instruction);
    if (!type || !(instruction.isAtomic() || instruction.isVolatile()))
      continue;
    AtomicOrder order = getAtomicOrder(instruction, function.getDataLayout());
    Scope widest = provenances.isOnlyShared(instruction, operand)
                       ? tables.usesClusters ? Scope::Cluster : Scope::Block
                       : Scope::Device;
    tables.hasNarrowAtomics |=
        order.scope < widest || (width && width != order.width);
    isOfCluster |= widest == Scope::Device && order.scope == Scope::Cluster;
    width = order.width;
  }
  tables.tellsBlocksApart = tables.ordersBlocks || isOfCluster;
}

KernelFacts::KernelFacts(const PreparedKernel &kernel, KernelTables &tables,
                         std::vector<DiagnosticRecord> &errors)
    : provenances(*kernel.function, tables),
      exchanges(findExchanges(*kernel.function, provenances)) {
  const Function &function = *kernel.function;
  for (auto [number, instruction] : enumerate(kernel.instructions))
    ordinals[instruction] = number;
  if (!checkSpaces(function, provenances, errors))
    return;
  findGrains(function, provenances, tables);
  findOrderOfMemory(function, tables);
  findWaits(function, tables);
  findAtomicScopes(function, tables, provenances);
  tables.hasValueOrder = exchanges.ordersShared || exchanges.ordersGlobal;
  tables.hasGlobalValueOrder = exchanges.ordersGlobal;
  tables.hasPartialOrder |= tables.hasAgents || tables.ordersMemory ||
                            tables.usesClusters || exchanges.ordersShared ||
                            tables.hasNarrowAtomics;
  for (const Instruction &instruction : instructions(function))
    if (auto *load = dyn_cast<LoadInst>(&instruction); load && isGuess(*load))
      guesses.insert(load);
  findSizeBounds(function, tables);
}

uint32_t KernelFacts::addSite(const Instruction &at,
                              KernelTables &tables) const {
  Site site;
  site.location = getLocation(at);
  site.otherLocations = getOtherLocations(at);
  site.ordinal = ordinals.lookup(&at);
  tables.sites.push_back(std::move(site));
  return tables.sites.size() - 1;
}

} // namespace mlir::workgroup::emulator
