//===- AsyncHazards.cpp - Hazards of asynchronous operations --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies that are waited for in a later turn of a loop, and what TMA and
// threads may see of each other.
//
//===----------------------------------------------------------------------===//

#include "HazardFinder.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Copies that are done in some turn of a loop
//===----------------------------------------------------------------------===//

/// The same as `visitDirection`, where the first access is a copy that is done
/// in some turn of a loop.
void HazardFinder::visitInLoop(unsigned first, unsigned second,
                               ArrayRef<unsigned> around, bool isOrdered) {
  const AsyncCompletion &done = *tree.getCompletion(first);
  const AsyncCompletion::InLoop &wait = *done.inLoop;
  unsigned to = tree.getStep(second);
  PairRelation relation;
  relation.threads = threads;
  for (unsigned loop : around)
    relation.sameTurn.push_back(tree.getLoop(loop));
  bool isInside = llvm::is_contained(getLoopsAround(to), wait.loop);
  if (isOrdered && isInside && !wait.isAround)
    addEntered(first, second, relation);
  else if (isOrdered && (isInside || isBefore(to, wait.loop)))
    addUnordered(first, second, relation, done.isExact);
  else if (isOrdered)
    addBehind(first, second, std::nullopt, relation);
  for (unsigned loop : llvm::reverse(around)) {
    relation.carrier = relation.sameTurn.pop_back_val();
    if (wait.isAround && loop == wait.loop) {
      addTurned(first, second, relation);
    } else if (llvm::is_contained(getLoopsAround(wait.step), loop)) {
      addBehind(first, second, loop, relation);
    } else {
      relation.most = std::nullopt;
      addUnordered(first, second, relation, done.isExact);
      relation.most = 1;
    }
  }
}

/// The copy is in the loop, and the second access in a later turn of it.
void HazardFinder::addTurned(unsigned first, unsigned second,
                             PairRelation relation) {
  const AsyncCompletion &done = *tree.getCompletion(first);
  const AsyncCompletion::InLoop &wait = *done.inLoop;
  bool isWaited = isBefore(wait.step, tree.getStep(second));
  relation.most = isWaited ? wait.turns - 1 : wait.turns;
  if (*relation.most >= relation.least)
    addUnordered(first, second, relation, done.isExact);
  addWaited(first, second, isWaited, [&](int64_t least, bool isFar) {
    relation.least = wait.turns + least;
    relation.most = isFar ? std::nullopt : std::optional(relation.least);
    return relation;
  });
}

/// The copy comes before the loop that the second access is in.
void HazardFinder::addEntered(unsigned first, unsigned second,
                              PairRelation relation) {
  const AsyncCompletion &done = *tree.getCompletion(first);
  const AsyncCompletion::InLoop &wait = *done.inLoop;
  bool isWaited = isBefore(wait.step, tree.getStep(second));
  const KernelLoop *loop = tree.getLoop(wait.loop);
  const KernelLoop *before = wait.before ? tree.getLoop(*wait.before) : nullptr;
  int64_t until = isWaited ? wait.turns - 1 : wait.turns;
  relation.turns = {{loop, std::nullopt, until, before}};
  if (until >= 0 || before)
    addUnordered(first, second, relation, done.isExact);
  addWaited(first, second, isWaited, [&](int64_t least, bool isFar) {
    least += wait.turns;
    relation.turns = {
        {loop, least, isFar ? std::nullopt : std::optional(least), before}};
    return relation;
  });
}

/// The second access comes behind the wait in its turn (`isWaited`), or in the
/// next or a later turn: `relate` gives the relation for that.
void HazardFinder::addWaited(
    unsigned first, unsigned second, bool isWaited,
    llvm::function_ref<PairRelation(int64_t least, bool isFar)> relate) {
  const AsyncCompletion::InLoop &wait = *tree.getCompletion(first)->inLoop;
  unsigned to = tree.getStep(second);
  if (isSeen(first))
    return;
  if (isWaited && add(first, second, {wait.step, to, std::nullopt, false},
                      relate(0, false)) == Conflict::Certain)
    return;
  if (add(first, second, {wait.step, to, wait.loop, false}, relate(1, false)) !=
      Conflict::Certain)
    add(first, second, {wait.step, to, wait.loop, true}, relate(2, true));
}

/// The second access comes when the loop was left, in a later turn of a `loop`
/// around if that is given. The wait may not have come before that.
void HazardFinder::addBehind(unsigned first, unsigned second,
                             std::optional<unsigned> loop,
                             PairRelation relation) {
  const AsyncCompletion &done = *tree.getCompletion(first);
  const AsyncCompletion::InLoop &wait = *done.inLoop;
  LoopEnd end;
  end.loop = tree.getLoop(wait.loop);
  end.most = wait.turns;
  bool isBeforeTest = tree.isBeforeTest(wait.step, wait.loop);
  end.isFromStart = !wait.isAround;
  if (end.isFromStart) {
    end.other = wait.before ? tree.getLoop(*wait.before) : nullptr;
    end.isBeforeTest = isBeforeTest;
  } else {
    end.isBeforeTest = tree.isBeforeTest(tree.getStep(first), wait.loop);
    end.most += end.isBeforeTest - isBeforeTest;
  }
  if (end.most == 0 && !end.other && (end.isBeforeTest || !end.isFromStart)) {
    if (!isSeen(first))
      addOrdered(first, second, wait.step, loop, relation);
    return; // all copies are waited for in the loop
  }
  PairRelation left = relation;
  left.ends.push_back(end);
  end.isNot = true;
  relation.ends.push_back(end);
  if (!isSeen(first))
    addOrdered(first, second, wait.step, loop, relation);
  bool isWaited =
      done.last && (loop ? llvm::is_contained(getLoopsAround(*done.last), *loop)
                         : isBefore(*done.last, tree.getStep(second)));
  if (isWaited && !isSeen(first))
    addOrdered(first, second, *done.last, loop, left);
  else if (!isWaited)
    addUnordered(first, second, left, /*isExact=*/false);
}

/// True if the second access comes behind a wait that misses the first one, in
/// the same turn, for certain.
bool HazardFinder::visitMissed(unsigned first, unsigned second) {
  const MissedPhase *missed = tree.getMissed(first);
  unsigned to = tree.getStep(second);
  if (!missed || !llvm::is_contained(getLoopsAround(to), missed->loop) ||
      !isBefore(missed->step, to))
    return false;
  const KernelLoop *loop = tree.getLoop(missed->loop);
  PairRelation relation;
  relation.threads = threads;
  relation.mayBeSame = true;
  relation.turns = {{loop, missed->turn, missed->turn, nullptr}};
  if (missed->distance == 0)
    relation.sameTurn.push_back(loop);
  else
    relation.carrier = loop;
  relation.least = std::max<int64_t>(1, missed->distance);
  relation.most = relation.least;
  Conflict conflict = conflicts.find(first, second, relation);
  if (conflict.kind != Conflict::Certain)
    return false;
  hazards.push_back({first,
                     second,
                     {to, to, std::nullopt, false},
                     relation,
                     conflict,
                     /*isUntimed=*/true,
                     missed});
  return true;
}

//===----------------------------------------------------------------------===//
// Proxies
//===----------------------------------------------------------------------===//

const SyncProgram &HazardFinder::getFenced(MemorySpace space) {
  auto [it, isNew] = fenced.try_emplace(space);
  if (isNew)
    it->second = tree.getFenced(space);
  return it->second;
}

/// True if the access is by the asynchronous proxy.
static bool isBulk(const ThreadAccess &access) {
  return access.isAsync &&
         isa<nvgpu::TmaAsyncLoadOp, nvgpu::TmaAsyncStoreOp>(access.op);
}

/// Adds what a thread does by one of the accesses, and TMA by the other.
void HazardFinder::visitProxies(unsigned first, unsigned second,
                                ArrayRef<unsigned> around, bool isOrdered,
                                bool isReverse) {
  bool isFirst = isBulk(accesses[first]), isSecond = isBulk(accesses[second]);
  if (isSecond && !isFirst)
    addUnfenced(first, second, around, isOrdered);
  if (isFirst && !isSecond)
    addUnfenced(second, first, around, isReverse);
}

/// Adds what a thread does by the first access, and TMA by the second, with no
/// proxy fence on some way between: also if one thread does both.
void HazardFinder::addUnfenced(unsigned first, unsigned second,
                               ArrayRef<unsigned> around, bool isOrdered) {
  const SyncProgram &fenced = getFenced(accesses[second].space);
  unsigned from = tree.getStep(first), to = tree.getStep(second);
  PairRelation relation;
  relation.threads = threads;
  relation.mayBeSame = true;
  relation.most = std::nullopt;
  auto visitOrder = [&](std::optional<unsigned> loop) {
    if (isCut(fenced, {from, to, loop, false}, {}) ||
        !conflicts.find(first, second, relation))
      return;
    Conflict conflict;
    conflict.kind = Conflict::Possible;
    conflict.reason = "no proxy fence (nvvm.fence.proxy) tells TMA of the "
                      "other access";
    hazards.push_back(
        {first, second, {to, to, std::nullopt, false}, relation, conflict});
  };
  for (unsigned loop : around)
    relation.sameTurn.push_back(tree.getLoop(loop));
  if (isOrdered)
    visitOrder(std::nullopt);
  for (unsigned loop : llvm::reverse(around)) {
    relation.carrier = relation.sameTurn.pop_back_val();
    visitOrder(loop);
  }
}

} // namespace mlir::workgroup
