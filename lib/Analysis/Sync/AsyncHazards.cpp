//===- AsyncHazards.cpp - Hazards of asynchronous operations --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each place that the second access may have relative to the copy's loop
// (in it, in a later iteration, behind it), the iterations in which the copy is
// under way are told from those in which it was waited for.
//
//===----------------------------------------------------------------------===//

#include "AsyncHazards.h"
#include "Analysis/Program/OpEffects.h"
#include "workgroup/IR/Workgroup.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Copies that are done in some iteration of a loop
//===----------------------------------------------------------------------===//

void AsyncHazards::visitInLoop(unsigned first, unsigned second,
                               ArrayRef<unsigned> around, bool isOrdered) {
  const AsyncCompletion &done = *tree.getCompletion(first);
  const AsyncCompletion::InLoop &wait = *done.inLoop;
  unsigned to = tree.getStep(second);
  PairRelation relation = context.getRelation(around);
  bool isInside = llvm::is_contained(context.getLoopsAround(to), wait.loop);
  if (isOrdered && isInside && !wait.isAround)
    addEntered(first, second, relation);
  else if (isOrdered && (isInside || context.isBefore(to, wait.loop)))
    found.addUnordered(first, second, relation, done.isExact);
  else if (isOrdered)
    addBehind(first, second, std::nullopt, relation);
  for (unsigned loop : llvm::reverse(around)) {
    relation.carrier = relation.sameIteration.pop_back_val();
    if (wait.isAround && loop == wait.loop) {
      addTurned(first, second, relation);
    } else if (llvm::is_contained(context.getLoopsAround(wait.step), loop)) {
      addBehind(first, second, loop, relation);
    } else {
      relation.most = std::nullopt;
      found.addUnordered(first, second, relation, done.isExact);
      relation.most = 1;
    }
  }
}

/// The copy is in the loop, and the second access in a later iteration of it.
void AsyncHazards::addTurned(unsigned first, unsigned second,
                             PairRelation relation) {
  const AsyncCompletion &done = *tree.getCompletion(first);
  const AsyncCompletion::InLoop &wait = *done.inLoop;
  bool isWaited = context.isBefore(wait.step, tree.getStep(second));
  relation.most = isWaited ? wait.iterations - 1 : wait.iterations;
  if (*relation.most >= relation.least)
    found.addUnordered(first, second, relation, done.isExact);
  addWaited(first, second, isWaited, [&](int64_t least, bool isFar) {
    relation.least = wait.iterations + least;
    relation.most = isFar ? std::nullopt : std::optional(relation.least);
    return relation;
  });
}

/// The copy comes before the loop that the second access is in.
void AsyncHazards::addEntered(unsigned first, unsigned second,
                              PairRelation relation) {
  const AsyncCompletion &done = *tree.getCompletion(first);
  const AsyncCompletion::InLoop &wait = *done.inLoop;
  bool isWaited = context.isBefore(wait.step, tree.getStep(second));
  const KernelLoop *loop = tree.getLoop(wait.loop);
  const KernelLoop *before = wait.before ? tree.getLoop(*wait.before) : nullptr;
  int64_t until = isWaited ? wait.iterations - 1 : wait.iterations;
  relation.iterations = {{loop, std::nullopt, until, before}};
  if (until >= 0 || before)
    found.addUnordered(first, second, relation, done.isExact);
  addWaited(first, second, isWaited, [&](int64_t least, bool isFar) {
    least += wait.iterations;
    relation.iterations = {
        {loop, least, isFar ? std::nullopt : std::optional(least), before}};
    return relation;
  });
}

/// The second access comes behind the wait in its iteration (`isWaited`), or in
/// the next or a later iteration: `relate` gives the relation for that.
void AsyncHazards::addWaited(
    unsigned first, unsigned second, bool isWaited,
    llvm::function_ref<PairRelation(int64_t least, bool isFar)> relate) {
  const AsyncCompletion::InLoop &wait = *tree.getCompletion(first)->inLoop;
  unsigned to = tree.getStep(second);
  if (!context.asksForBarriers(first))
    return;
  if (isWaited && found.add(first, second, {wait.step, to, std::nullopt, false},
                            relate(0, false)) == Conflict::Certain)
    return;
  if (found.add(first, second, {wait.step, to, wait.loop, false},
                relate(1, false)) != Conflict::Certain)
    found.add(first, second, {wait.step, to, wait.loop, true}, relate(2, true));
}

/// The second access comes when the loop was left, in a later iteration of a
/// `loop` around if that is given. The wait may not have come before that.
void AsyncHazards::addBehind(unsigned first, unsigned second,
                             std::optional<unsigned> loop,
                             PairRelation relation) {
  const AsyncCompletion &done = *tree.getCompletion(first);
  const AsyncCompletion::InLoop &wait = *done.inLoop;
  LoopEnd end;
  end.loop = tree.getLoop(wait.loop);
  end.most = wait.iterations;
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
    if (context.asksForBarriers(first))
      found.addOrdered(first, second, wait.step, loop, relation);
    return; // all copies are waited for in the loop
  }
  PairRelation left = relation;
  left.ends.push_back(end);
  end.isNot = true;
  relation.ends.push_back(end);
  if (context.asksForBarriers(first))
    found.addOrdered(first, second, wait.step, loop, relation);
  bool isWaited =
      done.last &&
      (loop ? llvm::is_contained(context.getLoopsAround(*done.last), *loop)
            : context.isBefore(*done.last, tree.getStep(second)));
  if (isWaited && context.asksForBarriers(first))
    found.addOrdered(first, second, *done.last, loop, left);
  else if (!isWaited)
    found.addUnordered(first, second, left, /*isExact=*/false);
}

void AsyncHazards::visitRepeated(unsigned first, unsigned second,
                                 ArrayRef<unsigned> around) {
  auto isCopy = [&](unsigned access) {
    return accesses[access].isAsync &&
           !isa<CopyOp, GatherOp>(accesses[access].op);
  };
  if (tree.getStep(first) != tree.getStep(second) || tree.isOfPart() ||
      !(isCopy(first) || isCopy(second)))
    return;
  PairRelation relation = context.getRelation(around);
  relation.most = std::nullopt;
  const KernelLoops &loops = conflicts.getIndex().getLoops();
  const KernelLoop *other = loops.getLoop(accesses[second].op);
  SmallVector<const KernelLoop *, 3> inside; // the outermost one last
  for (const KernelLoop *loop = loops.getLoop(accesses[first].op); loop;
       loop = loop->parent)
    if (loop->contains(other) &&
        !llvm::is_contained(relation.sameIteration, loop))
      inside.push_back(loop);
  auto addLater = [&](unsigned copy, unsigned later) {
    const AsyncCompletion *done = tree.getCompletion(copy);
    bool isKnown = done || context.use == HazardUse::Waits;
    // In the next iteration it is done if the thread waits for it in its own.
    bool isWaited = done && done->inStep &&
                    relation.carrier->contains(loops.getLoop(done->inStep));
    if (isCopy(copy) && isKnown && !isWaited)
      found.addUnordered(copy, later, relation, !done || done->isExact);
    else if (isCopy(copy) && !isKnown)
      visitUnknown(copy, later);
  };
  for (const KernelLoop *loop : llvm::reverse(inside)) {
    relation.carrier = loop;
    addLater(first, second);
    if (first != second)
      addLater(second, first);
    relation.sameIteration.push_back(loop);
  }
}

bool AsyncHazards::visitMissed(unsigned first, unsigned second) {
  const MissedPhase *missed = tree.getMissed(first);
  unsigned to = tree.getStep(second);
  if (!missed ||
      !llvm::is_contained(context.getLoopsAround(to), missed->loop) ||
      !context.isBefore(missed->step, to))
    return false;
  const KernelLoop *loop = tree.getLoop(missed->loop);
  PairRelation relation;
  relation.threads = context.threads;
  relation.mayBeSame = true;
  relation.iterations = {{loop, missed->iteration, missed->iteration, nullptr}};
  if (missed->distance == 0)
    relation.sameIteration.push_back(loop);
  else
    relation.carrier = loop;
  relation.least = std::max<int64_t>(1, missed->distance);
  relation.most = relation.least;
  return found.addUncoverable(first, second, relation, missed);
}

//===----------------------------------------------------------------------===//
// Copies of which it is not known when they are done
//===----------------------------------------------------------------------===//

bool AsyncHazards::isWaitedBefore(unsigned first, unsigned second) const {
  const AsyncCompletion *done = tree.getCompletion(first);
  if (!done || !done->inStep || tree.getStep(second) != done->last)
    return false;
  Operation *behind =
      done->inStep->getBlock()->findAncestorOpInBlock(*accesses[second].op);
  return behind && done->inStep->isBeforeInBlock(behind);
}

/// True if nothing waits for `copy`, and `other`, which comes behind it,
/// touches the same for certain: no barrier helps.
bool AsyncHazards::visitUnwaited(unsigned copy, unsigned other) {
  unsigned from = tree.getStep(copy), to = tree.getStep(other);
  if (!tree.isNeverDone(copy) || !context.isBefore(from, to))
    return false;
  PairRelation relation = context.getRelation(context.getCommonLoops(from, to));
  relation.mayBeSame = true;
  return found.addUncoverable(copy, other, relation, nullptr);
}

/// True if what a thread does to what it has TMA store itself is asked for
/// where lanes are told apart, too: there, its waits are followed in branches
/// of warps.
bool AsyncHazards::isLeftToWarps(unsigned first, unsigned second) {
  auto isOfStore = [&](unsigned access) {
    return !context.isUnknown(access) ||
           getOpKind(accesses[access].op) == OpKind::BulkStore;
  };
  return context.use == HazardUse::Verification &&
         context.threads == PairRelation::OfTwoWarps && isOfStore(first) &&
         isOfStore(second) &&
         conflicts.getIndex().getShape().getNumThreads().has_value();
}

/// True if threads may touch the same bytes by both accesses at any time. One
/// access meets itself by another thread, or in a later iteration.
bool AsyncHazards::mayMeetAnyTime(unsigned first, unsigned second) {
  auto mayMeet = [&](const PairRelation &relation) {
    return conflicts.mayFind(first, second, relation) &&
           conflicts.canMeet(first, second, relation);
  };
  PairRelation relation = context.getAnyTime(first, second);
  relation.mayBeSame &= !isLeftToWarps(first, second);
  if (first != second)
    return mayMeet(relation);
  PairRelation byOther = relation;
  byOther.mayBeSame = false;
  if (mayMeet(byOther))
    return true;
  SmallVector<const KernelLoop *, 3> around; // the outermost one last
  for (const KernelLoop *loop =
           conflicts.getIndex().getLoops().getLoop(accesses[first].op);
       loop; loop = loop->parent)
    around.push_back(loop);
  relation.most = std::nullopt;
  return llvm::any_of(llvm::reverse(around), [&](const KernelLoop *loop) {
    relation.carrier = loop;
    bool isMet = mayMeet(relation);
    relation.sameIteration.push_back(loop);
    return isMet;
  });
}

bool AsyncHazards::visitUnknown(unsigned first, unsigned second) {
  bool isFirst = context.isUnknown(first);
  if (!isFirst && !context.isUnknown(second))
    return false;
  if (visitUnwaited(first, second) || visitUnwaited(second, first))
    return true;
  // What comes before a copy is in order with its start, whenever it is done.
  auto isBehind = [&](unsigned copy, unsigned other) {
    unsigned from = tree.getStep(other), to = tree.getStep(copy);
    return tree.isNeverDone(copy) && !context.isUnknown(other) &&
           context.getCommonLoops(from, to).empty() &&
           context.isBefore(from, to);
  };
  if (isBehind(first, second) || isBehind(second, first))
    return false;
  if (!mayMeetAnyTime(first, second))
    return true;
  if (unknown.insert(isFirst ? first : second).second) {
    unsigned step = tree.getStep(second);
    Conflict conflict;
    conflict.kind = Conflict::Possible;
    conflict.reason = HazardCollector::kUntimed.str();
    found.keep({first,
                second,
                {step, step, std::nullopt, false},
                {},
                conflict,
                /*isUntimed=*/true});
  }
  return true;
}

void AsyncHazards::visitUndone(unsigned copy, unsigned other) {
  if (!context.isUnknown(copy))
    return;
  unsigned from = tree.getStep(copy), to = tree.getStep(other);
  SmallVector<unsigned, 3> around = context.getCommonLoops(from, to);
  PairRelation relation = context.getRelation(around);
  if (copy != other && (from == to || context.isBefore(from, to)))
    found.addUnordered(copy, other, relation, /*isExact=*/true);
  relation.most = std::nullopt;
  while (!relation.sameIteration.empty()) {
    relation.carrier = relation.sameIteration.pop_back_val();
    found.addUnordered(copy, other, relation, /*isExact=*/true);
  }
}

} // namespace mlir::workgroup
