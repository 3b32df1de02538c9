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
#include "HazardWays.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "workgroup/IR/Workgroup.h"

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

/// A step may hold loops that each thread turns on its own: there an access
/// meets a copy of the turns before, none of which was waited for.
void HazardFinder::visitRepeated(unsigned first, unsigned second,
                                 ArrayRef<unsigned> around) {
  auto isCopy = [&](unsigned access) {
    return accesses[access].isAsync && !isa<CopyOp>(accesses[access].op);
  };
  if (tree.getStep(first) != tree.getStep(second) || tree.isOfPart() ||
      !(isCopy(first) || isCopy(second)))
    return;
  PairRelation relation;
  relation.threads = threads;
  relation.most = std::nullopt;
  for (unsigned loop : around)
    relation.sameTurn.push_back(tree.getLoop(loop));
  const KernelLoops &loops = conflicts.getIndex().getLoops();
  const KernelLoop *other = loops.getLoop(accesses[second].op);
  SmallVector<const KernelLoop *, 3> inside; // the outermost one last
  for (const KernelLoop *loop = loops.getLoop(accesses[first].op); loop;
       loop = loop->parent)
    if (loop->contains(other) && !llvm::is_contained(relation.sameTurn, loop))
      inside.push_back(loop);
  auto addLater = [&](unsigned copy, unsigned later) {
    const AsyncCompletion *done = tree.getCompletion(copy);
    if (isCopy(copy) && done)
      addUnordered(copy, later, relation, done->isExact);
    else if (isCopy(copy))
      visitUnknown(copy, later);
  };
  for (const KernelLoop *loop : llvm::reverse(inside)) {
    relation.carrier = loop;
    addLater(first, second);
    if (first != second)
      addLater(second, first);
    relation.sameTurn.push_back(loop);
  }
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
  return addUncuttable(first, second, relation, missed);
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

namespace {

/// Finds the proxy fences between what a thread does and what TMA does.
class FencedWays {
public:
  struct Fence {
    unsigned node;
    /// In which turn it is passed.
    SyncTurn turn;
  };

  FencedWays(const SyncProgram &program, const SyncProgram &fenced,
             const SyncHazard &order)
      : program(program), fenced(fenced), order(order) {}

  /// On every way the first one; none if there is a way without.
  SmallVector<Fence, 1> findFirst() const {
    return find([](const Fence &) { return true; });
  }
  /// True if on every way comes one, and then a barrier: so the thread that
  /// starts the copy knows of what others have fenced.
  bool isMet() const {
    return !find([&](const Fence &fence) {
              return isCut(program, getOrderBehind(fence), {});
            }).empty();
  }
  SyncHazard getOrderBehind(const Fence &fence) const;

private:
  using Condition = llvm::function_ref<bool(const Fence &)>;

  SmallVector<Fence, 1> find(Condition condition) const {
    auto walk = [&](const SyncWays &ways) { ways.walk(order); };
    return find(std::nullopt, walk, condition);
  }
  SmallVector<Fence, 1> find(std::optional<SyncTurn> arm,
                             llvm::function_ref<void(const SyncWays &)> walk,
                             Condition condition) const;
  SmallVector<Fence, 1> findInArms(unsigned branch, const SyncTurn &turn,
                                   Condition condition) const;

  /// As barriers see the kernel, and as fences do.
  const SyncProgram &program, &fenced;
  const SyncHazard &order;
};

} // namespace

/// On every way that is walked the first fence for which the condition holds;
/// none if there is a way without. What is walked may be an arm that is passed
/// in the turn `arm`.
SmallVector<FencedWays::Fence, 1>
FencedWays::find(std::optional<SyncTurn> arm,
                 llvm::function_ref<void(const SyncWays &)> walk,
                 Condition condition) const {
  SmallVector<Fence, 1> found;
  auto ignore = [](SyncGap) {};
  auto visit = [&](unsigned node, const SyncTurn &passed) {
    if (!found.empty())
      return;
    Fence fence{node, arm.value_or(passed)};
    if (fenced.nodes[node].kind != SyncNode::Barrier)
      found = findInArms(node, fence.turn, condition);
    else if (condition(fence))
      found.push_back(fence);
  };
  walk(SyncWays(fenced, {ignore, visit}));
  return found;
}

SmallVector<FencedWays::Fence, 1>
FencedWays::findInArms(unsigned branch, const SyncTurn &turn,
                       Condition condition) const {
  SmallVector<Fence, 1> all;
  for (unsigned part : fenced.nodes[branch].parts) {
    if (fenced.sequences[part].isNeverTaken)
      continue;
    auto walk = [&](const SyncWays &ways) { ways.walkArm(part); };
    SmallVector<Fence, 1> found = find(turn, walk, condition);
    if (found.empty())
      return found;
    llvm::append_range(all, found);
  }
  return all;
}

/// The order from a fence to what TMA does. What is known of arms is known of
/// those that are passed in the turn of one of the accesses.
SyncHazard FencedWays::getOrderBehind(const Fence &fence) const {
  SyncHazard behind{fence.node, order.to, order.loop, order.isFar};
  bool isSecond = fence.turn.isSecond;
  if (isSecond) {
    behind.loop = std::nullopt;
    behind.isFar = false;
  }
  if (fence.turn.isOther || fence.turn.whole) {
    behind.isFar = false;
    return behind;
  }
  for (auto [arm, passed] : order.taken) {
    if (isSecond && !passed.isSecond)
      continue; // of another turn than both
    behind.taken.push_back({arm, passed});
    passed.isSecond = false;
    if (isSecond && passed == SyncTurn())
      behind.taken.push_back({arm, passed});
  }
  return behind;
}

/// Adds what a thread does by the first access, and TMA by the second, with no
/// proxy fence on some way between: also if one thread does both.
void HazardFinder::addUnfenced(unsigned first, unsigned second,
                               ArrayRef<unsigned> around, bool isOrdered) {
  PairRelation relation;
  relation.threads = threads;
  for (unsigned loop : around)
    relation.sameTurn.push_back(tree.getLoop(loop));
  unsigned from = tree.getStep(first), to = tree.getStep(second);
  if (isOrdered)
    addUnfenced({first, second, {from, to, std::nullopt, false}, relation, {}});
  for (unsigned loop : llvm::reverse(around)) {
    relation.carrier = relation.sameTurn.pop_back_val();
    addUnfenced({first, second, {from, to, loop, false}, relation, {}});
    PairRelation later = relation;
    later.least = 2;
    later.most = std::nullopt;
    addUnfenced({first, second, {from, to, loop, true}, later, {}});
  }
}

void HazardFinder::addUnfenced(Hazard hazard) {
  const SyncProgram &fenced = getFenced(accesses[hazard.second].space);
  SyncHazard order = hazard.order;
  bool isMet = FencedWays(program, fenced, order).isMet();
  if (isMet && isOpenOnly)
    return;
  auto isConflict = [&](bool isFenced) {
    hazard.relation.mayBeSame = !isFenced;
    hazard.conflict =
        conflicts.find(hazard.first, hazard.second, hazard.relation);
    return bool(hazard.conflict);
  };
  bool isFenced = isCut(fenced, order, {});
  if (!isConflict(isFenced))
    return;
  if (!isMet) {
    auto isOfUse = [&](unsigned node) { return syncNodes.contains(node); };
    order = narrow(hazard, tree, conflicts, decisions, isOfUse);
    if (isOpenOnly && FencedWays(program, fenced, order).isMet())
      return;
    bool isFencedOnAll = isCut(fenced, order, {});
    if (isFencedOnAll && !isFenced && !isConflict(true))
      return;
    isFenced = isFencedOnAll;
  }
  if (isFenced && use != HazardUse::Verification) {
    // A barrier has to come behind the fence.
    FencedWays ways(program, fenced, order);
    for (const FencedWays::Fence &fence : ways.findFirst()) {
      hazard.order = ways.getOrderBehind(fence);
      hazards.push_back(hazard);
    }
    return;
  }
  hazard.conflict = Conflict();
  hazard.conflict.kind = Conflict::Possible;
  hazard.conflict.reason =
      isFenced ? "no barrier comes between the proxy fence (nvvm.fence.proxy) "
                 "of the one thread and what the other one has TMA do"
               : "no proxy fence (nvvm.fence.proxy) tells TMA of the other "
                 "access";
  hazard.order = {order.to, order.to, std::nullopt, false};
  hazards.push_back(std::move(hazard));
}

} // namespace mlir::workgroup
