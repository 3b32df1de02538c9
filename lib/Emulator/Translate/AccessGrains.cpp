//===- AccessGrains.cpp - The smallest pieces of memory -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each access refines the grain of the memory that it may be to.
//
//===----------------------------------------------------------------------===//

#include "AccessGrains.h"
#include "InstructionFacts.h"
#include "MemorySpaces.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

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
  StringRef name = getCalledName(instruction);
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

static void refineGrains(KernelTables &tables, const Provenance &provenance,
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
  if (getSpace(pointer) != kSharedSpace)
    tables.globalGrain = std::min(tables.globalGrain, grain);
}

void findGrains(const Function &function, const Provenances &provenances,
                KernelTables &tables) {
  constexpr unsigned kLargest = 4;
  tables.argumentGrain.assign(function.arg_size(), kLargest);
  tables.sharedGrain = tables.globalGrain = kLargest;
  for (const Instruction &instruction : instructions(function)) {
    auto grain = getGrain(instruction, function.getDataLayout());
    if (!grain)
      continue;
    for (const Use &use : instruction.operands())
      if (use->getType()->isPointerTy() && !isa<Function>(use))
        refineGrains(tables, provenances.get(instruction, use.getOperandNo()),
                     *use, *grain);
  }
}

} // namespace mlir::workgroup::emulator
