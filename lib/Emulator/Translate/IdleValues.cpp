//===- IdleValues.cpp - Values that decide nothing ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands that decide something spread to all that they are made of. If one is
// read from memory that other threads or kernels write, all values count.
//
//===----------------------------------------------------------------------===//

#include "IdleValues.h"
#include "Emulator/Isa/MatrixOps.h"
#include "Emulator/Isa/WarpOps.h"
#include "Emulator/Math/MathLibrary.h"
#include "InstructionFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// One instruction
//===----------------------------------------------------------------------===//

/// True for what lanes of a warp do together.
static bool isOfWarp(const CallBase &call) {
  StringRef name = getCalledName(call);
  return WarpOp::decode(name) || MatrixOp::decode(name);
}

static bool isProduct(const CallBase &call) {
  std::optional<MatrixOp> matrix = MatrixOp::decode(getCalledName(call));
  return matrix && matrix->getKind() == MatrixOp::Kind::Compute;
}

/// True if the value of `call` is made of its operands, or of where the thread
/// is, and there is nothing else to it.
static bool isComputation(const CallBase &call) {
  if (isOfWarp(call) || call.isInlineAsm())
    return false;
  bool isMath = findMathFunction(getCalledName(call)) &&
                none_of(call.args(), [](const Use &operand) {
                  return operand->getType()->isPointerTy();
                });
  return isMath || (call.doesNotAccessMemory() && !call.mayHaveSideEffects());
}

/// True if the value of `call` may be what memory holds.
static bool mayReturnMemory(const CallBase &call) {
  StringRef name = getCalledName(call);
  std::optional<MatrixOp> matrix = MatrixOp::decode(name);
  if (matrix)
    return matrix->getKind() != MatrixOp::Kind::Compute;
  return !WarpOp::decode(name) && !isComputation(call) &&
         !name.starts_with("llvm.nvvm.barrier.") &&
         !name.starts_with("llvm.nvvm.mbarrier.") &&
         !name.starts_with("llvm.nvvm.read.ptx.sreg.");
}

/// True if dividing by `divisor` may fail.
static bool mayFail(const Value *divisor) {
  auto *number = dyn_cast<ConstantInt>(divisor);
  return !number || number->isZero() || number->isMinusOne();
}

/// True for what states something of a value, and does nothing.
static bool isStatement(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && (call->getIntrinsicID() == Intrinsic::assume ||
                  call->getIntrinsicID() == Intrinsic::fake_use);
}

/// True for what has nothing but a value.
static bool hasOnlyValue(const Instruction &instruction) {
  if (isStatement(instruction))
    return true;
  if (auto *call = dyn_cast<CallBase>(&instruction))
    return isComputation(*call);
  return !instruction.isTerminator() && !isa<AllocaInst>(instruction) &&
         !instruction.mayReadOrWriteMemory() &&
         !instruction.mayHaveSideEffects();
}

/// Whether memory is that of one thread: certainly, or possibly.
enum class Privacy { None, Maybe, Certain };

static Privacy getPrivacy(const Value *pointer) {
  SmallVector<const Value *, 4> bases;
  getUnderlyingObjects(pointer, bases, /*LI=*/nullptr, /*MaxLookup=*/0);
  unsigned count =
      count_if(bases, [](const Value *base) { return isa<AllocaInst>(base); });
  if (count == bases.size())
    return Privacy::Certain;
  bool isKnown = all_of(bases, [](const Value *base) {
    return isa<AllocaInst, Argument, GlobalVariable>(base);
  });
  return count || !isKnown ? Privacy::Maybe : Privacy::None;
}

/// True for memory that holds the same in all launches.
static bool isConstant(const Value *pointer) {
  auto *variable = dyn_cast<GlobalVariable>(getUnderlyingObject(pointer));
  return variable && variable->isConstant() && variable->hasInitializer();
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

namespace {
/// The values that decide something, and whether memory holds one of them.
class DecidingValues {
public:
  explicit DecidingValues(const Function &function) {
    for (const Instruction &instruction : instructions(function))
      addRoots(instruction);
    while (!worklist.empty())
      spread(*worklist.pop_back_val());
  }

  bool areOfMemory() const { return isMemoryRead; }
  bool contains(const Instruction &instruction) const {
    return values.contains(&instruction);
  }

private:
  void add(const Value *value) {
    auto *instruction = dyn_cast<Instruction>(value);
    if (instruction && values.insert(instruction).second)
      worklist.push_back(instruction);
  }
  void addAll(const User &user) {
    for (const Use &operand : user.operands())
      add(operand);
  }
  void addRoots(const Instruction &instruction);
  void addRootsOfCall(const CallBase &call);
  void addStored(const StoreInst &store);
  void spread(const Instruction &instruction);
  void readPrivate();

  IdleValues::Set values;
  SmallVector<const Instruction *> worklist;
  /// Stores to what may be private memory, of which nothing has been read yet.
  SmallVector<const StoreInst *> stores;
  bool isPrivateRead = false, isPrivateFilled = false, isMemoryRead = false;
};
} // namespace

/// What is stored in private memory counts if something of it does.
void DecidingValues::addStored(const StoreInst &store) {
  if (getPrivacy(store.getPointerOperand()) == Privacy::None)
    return;
  if (isPrivateRead)
    add(store.getValueOperand());
  else
    stores.push_back(&store);
}

void DecidingValues::readPrivate() {
  isPrivateRead = true;
  isMemoryRead |= isPrivateFilled;
  for (const StoreInst *store : stores)
    add(store->getValueOperand());
  stores.clear();
}

void DecidingValues::addRootsOfCall(const CallBase &call) {
  StringRef name = getCalledName(call);
  if (isStatement(call) || isComputation(call) || isProduct(call))
    return;
  if (name.starts_with("llvm.nvvm.shfl.sync.")) {
    constexpr unsigned kShuffled = 1; // behind the mask of lanes
    for (auto [number, operand] : enumerate(call.args()))
      if (number != kShuffled)
        add(operand);
    return;
  }
  if (name.starts_with("llvm.nvvm.stmatrix."))
    return add(call.getArgOperand(0));
  addAll(call);
  if (isa<MemTransferInst>(call)) {
    if (getPrivacy(call.getArgOperand(0)) != Privacy::None) {
      isPrivateFilled = true;
      isMemoryRead |= isPrivateRead;
    }
    return;
  }
  for (const Use &operand : call.args())
    if (operand->getType()->isPointerTy() &&
        getPrivacy(operand) != Privacy::None)
      readPrivate();
}

void DecidingValues::addRoots(const Instruction &instruction) {
  if (isa<AllocaInst>(instruction))
    return add(&instruction);
  if (instruction.isTerminator() || isa<AtomicCmpXchgInst>(instruction))
    return addAll(instruction);
  if (auto *call = dyn_cast<CallBase>(&instruction))
    return addRootsOfCall(*call);
  if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    add(store->getPointerOperand());
    return addStored(*store);
  }
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return add(load->getPointerOperand());
  if (auto *update = dyn_cast<AtomicRMWInst>(&instruction);
      update && getPrivacy(update->getPointerOperand()) == Privacy::None)
    return add(update->getPointerOperand());
  if (isa<AtomicRMWInst>(instruction))
    return addAll(instruction);
  auto *binary = dyn_cast<BinaryOperator>(&instruction);
  if (binary && binary->isIntDivRem() && mayFail(binary->getOperand(1)))
    addAll(instruction);
}

void DecidingValues::spread(const Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    const Value *pointer = load->getPointerOperand();
    Privacy privacy = getPrivacy(pointer);
    if (privacy != Privacy::None)
      readPrivate();
    isMemoryRead |= privacy != Privacy::Certain && !isConstant(pointer);
    return;
  }
  if (auto *call = dyn_cast<CallBase>(&instruction))
    isMemoryRead |= mayReturnMemory(*call);
  else
    isMemoryRead |= instruction.mayReadFromMemory();
  addAll(instruction);
}

std::optional<IdleValues> findIdleValues(const Function &function) {
  DecidingValues deciding(function);
  if (deciding.areOfMemory())
    return std::nullopt;
  IdleValues idle;
  for (const Instruction &instruction : instructions(function)) {
    if (isStatement(instruction)) {
      idle.removed.insert(&instruction);
      continue;
    }
    if (deciding.contains(instruction) || instruction.getType()->isVoidTy() ||
        instruction.getType()->isTokenTy())
      continue;
    (hasOnlyValue(instruction) ? idle.removed : idle.kept).insert(&instruction);
  }
  return idle;
}

void forgetValues(Function &function, const IdleValues &idle) {
  for (Instruction &instruction : instructions(function)) {
    bool isKept = idle.kept.contains(&instruction);
    if (isKept) // memory holds something else than is said of it
      instruction.dropUBImplyingAttrsAndMetadata();
    if ((isKept || idle.removed.contains(&instruction)) &&
        !instruction.use_empty())
      instruction.replaceAllUsesWith(
          Constant::getNullValue(instruction.getType()));
  }
}

} // namespace mlir::workgroup::emulator
