//===- Exchanges.cpp - Values that lanes exchange -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sets of exchanges spread from each of them, backwards to loads and forwards
// to stores.
//
//===----------------------------------------------------------------------===//

#include "Exchanges.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

/// True for what lanes exchange values by.
static bool isExchange(StringRef name) {
  std::optional<WarpOp> warp = WarpOp::decode(name);
  if (warp)
    return warp->getKind() != WarpOp::Kind::Sync;
  std::optional<MatrixOp> matrix = MatrixOp::decode(name);
  return matrix && matrix->getKind() == MatrixOp::Kind::Compute;
}

static bool isExchangeCall(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && isExchange(call->getCalledFunction()->getName());
}

static bool isFeedingLoad(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return isa<LoadInst>(instruction) ||
         (call && !isExchangeCall(instruction) && call->mayReadFromMemory());
}

/// The operand that a write of memory has for its address; nullopt if it is
/// none that may follow an exchange.
static std::optional<unsigned> getWrittenOperand(const Instruction &write) {
  if (auto *store = dyn_cast<StoreInst>(&write))
    return store->getPointerOperandIndex();
  auto *call = dyn_cast<IntrinsicInst>(&write);
  if (!call)
    return std::nullopt;
  std::optional<MatrixOp> matrix =
      MatrixOp::decode(call->getCalledFunction()->getName());
  if (matrix && matrix->getKind() == MatrixOp::Kind::Store)
    return 0;
  return std::nullopt;
}

/// Spreads sets of exchanges, which are numbered in order, from each of them to
/// its neighbours until nothing changes; not beyond instructions that end it.
/// What is at the end of `exchanges` goes first.
template <typename Neighbours, typename IsEnd>
static void spread(ArrayRef<const Instruction *> exchanges, unsigned count,
                   DenseMap<const Instruction *, BitVector> &sets,
                   Neighbours getNeighbours, IsEnd isEnd) {
  SmallVector<const Instruction *> worklist(exchanges);
  while (!worklist.empty()) {
    const Instruction *from = worklist.pop_back_val();
    BitVector set = sets[from];
    for (const Value *value : getNeighbours(*from)) {
      auto *next = dyn_cast<Instruction>(value);
      if (!next)
        continue;
      BitVector &theirs = sets[next];
      theirs.resize(count);
      if (!set.test(theirs)) // nothing new
        continue;
      theirs |= set;
      if (!isEnd(*next))
        worklist.push_back(next);
    }
  }
}

namespace {
/// The exchanges that reads feed, or that writes follow, by what is accessed.
struct AccessedExchanges {
  BitVector shared, anywhere;
  /// By the object, in global memory; that of 0 is not known.
  DenseMap<uint32_t, BitVector> global;

  explicit AccessedExchanges(unsigned count) : shared(count), anywhere(count) {
    global[0] = anywhere;
  }
  void add(const Instruction &access, unsigned operand, const BitVector &set,
           const Provenances &provenances) {
    if (provenances.mayBeShared(access, operand))
      shared |= set;
    if (provenances.isOnlyShared(access, operand))
      return;
    anywhere |= set;
    BitVector &ofObject = global[provenances.get(access, operand).object];
    ofObject.resize(set.size());
    ofObject |= set;
  }
};
} // namespace

/// True if an operand is a pointer that may be to memory of several threads.
static bool isCommon(const Instruction &access, unsigned operand,
                     const Provenances &provenances) {
  auto *call = dyn_cast<CallBase>(&access);
  return !(call && operand >= call->arg_size()) &&
         access.getOperand(operand)->getType()->isPointerTy() &&
         provenances.get(access, operand).kind != Provenance::Kind::Private;
}

/// Empties the sets of what is neither a read nor a write of workgroup or
/// global memory, but only on the way between exchanges and such.
static void keepAccesses(Exchanges &found, unsigned count,
                         const Provenances &provenances) {
  AccessedExchanges read(count), written(count);
  for (auto &[instruction, set] : found.feeds)
    if (isFeedingLoad(*instruction) && isCommon(*instruction, 0, provenances))
      read.add(*instruction, 0, set, provenances);
    else
      set.clear();
  for (auto &[instruction, set] : found.follows) {
    auto operand = getWrittenOperand(*instruction);
    if (operand && isCommon(*instruction, *operand, provenances))
      written.add(*instruction, *operand, set, provenances);
    else
      set.clear();
  }
  auto getCommon = [](BitVector set, const BitVector &other) {
    return set &= other;
  };
  BitVector shared = getCommon(read.shared, written.shared);
  BitVector global = getCommon(read.global[0], written.anywhere);
  global |= getCommon(written.global[0], read.anywhere);
  for (auto &[object, set] : read.global)
    if (auto it = written.global.find(object); it != written.global.end())
      global |= getCommon(set, it->second);
  found.ordersShared = shared.any();
  found.ordersGlobal = global.any();
  for (auto &[_, number] : found.numbers)
    if (!shared.test(number - 1) && !global.test(number - 1))
      number = 0;
}

Exchanges findExchanges(const Function &function,
                        const Provenances &provenances) {
  // Of very many, some stand for others, which makes no race up.
  constexpr unsigned kMaxExchanges = 512;
  Exchanges found;
  SmallVector<const Instruction *> exchanges;
  for (const Instruction &instruction : instructions(function))
    if (isExchangeCall(instruction))
      exchanges.push_back(&instruction);
  unsigned count = std::min<size_t>(exchanges.size(), kMaxExchanges);
  for (auto [number, exchange] : enumerate(exchanges)) {
    found.numbers[exchange] = number % count + 1;
    for (Exchanges::Sets *sets : {&found.feeds, &found.follows}) {
      (*sets)[exchange].resize(count);
      (*sets)[exchange].set(number % count);
    }
  }
  spread(
      exchanges, count, found.feeds,
      [](const Instruction &from) { return from.operand_values(); },
      isFeedingLoad);
  // Forwards, what comes first is to go first.
  std::reverse(exchanges.begin(), exchanges.end());
  spread(
      exchanges, count, found.follows,
      [](const Instruction &from) { return from.users(); },
      [](const Instruction &next) {
        return isa<LoadInst>(next) || getWrittenOperand(next);
      });
  keepAccesses(found, count, provenances);
  return found;
}

} // namespace mlir::workgroup::emulator
