//===- Provenance.cpp - What pointers point to ----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Objects first: workgroup memory, arguments, private buffers that escape. Then
// each pointer is followed to what it is made from.
//
//===----------------------------------------------------------------------===//

#include "Provenance.h"
#include "MemorySpaces.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

Provenances::Provenances(Function &function, KernelTables &tables) {
  layOutShared(*function.getParent(), tables);
  findEscapedBuffers(function);
  addArguments(function, tables);
  for (Instruction &instruction : instructions(function))
    for (Use &operand : instruction.operands())
      if (operand->getType()->isPointerTy() && !isa<PHINode>(instruction) &&
          !isa<Function>(operand))
        provenances[{&instruction, operand.getOperandNo()}] = trace(operand);
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

/// Lays out workgroup memory in the order of its variables. Dynamic memory
/// comes last: all symbols of no size are one.
void Provenances::layOutShared(const Module &module, KernelTables &tables) {
  const DataLayout &layout = module.getDataLayout();
  SmallVector<const GlobalVariable *> dynamic;
  Align dynamicAlign(16);
  for (const GlobalVariable &variable : module.globals()) {
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
  for (const GlobalVariable *variable : dynamic)
    sharedObjects[variable] = tables.dynamicObject;
}

void Provenances::addArguments(const Function &function, KernelTables &tables) {
  for (const Argument &argument : function.args()) {
    if (!argument.getType()->isPointerTy())
      continue;
    argumentObjects[&argument] = tables.objects.size();
    tables.objects.push_back({Object::Kind::Argument,
                              "argument " + std::to_string(argument.getArgNo()),
                              argument.getArgNo(), 0});
  }
}

/// Finds the private buffers whose addresses go where they cannot be followed:
/// into memory, or into values that may be one of several.
void Provenances::findEscapedBuffers(Function &function) {
  for (Instruction &instruction : instructions(function)) {
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

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

Provenance Provenances::trace(Value *pointer) const {
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

const Provenance &Provenances::get(const Instruction &instruction,
                                   unsigned operand) const {
  static const Provenance kUnknown;
  auto it = provenances.find({&instruction, operand});
  return it == provenances.end() ? kUnknown : it->second;
}

bool Provenances::mayBeShared(const Instruction &access,
                              unsigned operand) const {
  Provenance::Kind kind = get(access, operand).kind;
  return kind == Provenance::Kind::Shared || kind == Provenance::Kind::Unknown;
}

bool Provenances::isOnlyShared(const Instruction &access,
                               unsigned operand) const {
  return getSpace(*access.getOperand(operand)) == kSharedSpace ||
         get(access, operand).kind == Provenance::Kind::Shared;
}

} // namespace mlir::workgroup::emulator
