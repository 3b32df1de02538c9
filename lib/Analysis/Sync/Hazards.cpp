//===- Hazards.cpp - Accesses that a barrier has to separate --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two accesses are asked for in both orders, in the same iteration of the loops
// around both and in later iterations of each of these; what is asynchronous,
// and what TMA does, has rules of its own.
//
//===----------------------------------------------------------------------===//

#include "Hazards.h"
#include "AsyncHazards.h"
#include "DominatingHazards.h"
#include "FenceHazards.h"
#include <map>

namespace mlir::workgroup {

namespace {

/// Asks for all pairs of accesses of a kernel.
/// Which accesses may be to one memory: one answer for all of those to the same
/// roots.
class SharedMemory {
public:
  explicit SharedMemory(const ThreadAccesses &accesses);

  bool mayAlias(unsigned first, unsigned second) const {
    return answers.empty() ||
           answers[numbers[first] * numRoots + numbers[second]];
  }

private:
  SmallVector<unsigned, 0> numbers;
  size_t numRoots = 0;
  /// By two numbers, if there are not too many.
  std::vector<bool> answers;
};

class HazardFinder {
public:
  HazardFinder(HazardContext &context, const ThreadAccesses &memory,
               llvm::function_ref<bool(unsigned, unsigned)> isElsewhere)
      : context(context), memory(memory), accesses(context.accesses),
        tree(context.tree), conflicts(context.conflicts),
        isElsewhere(isElsewhere), found(context), dominating(context, found),
        async(context, found), fences(context, found) {}

  std::vector<Hazard> find(ArrayRef<SyncHazard> covered);

private:
  void visit(unsigned first, unsigned second);
  void visitDirection(unsigned first, unsigned second,
                      ArrayRef<unsigned> around, bool isOrdered);

  HazardContext &context;
  const SharedMemory memory;
  const ArrayRef<ThreadAccess> accesses;
  const SyncTree &tree;
  ThreadConflicts &conflicts;
  llvm::function_ref<bool(unsigned, unsigned)> isElsewhere;
  HazardCollector found;
  DominatingHazards dominating;
  AsyncHazards async;
  FenceHazards fences;
};

} // namespace

SharedMemory::SharedMemory(const ThreadAccesses &accesses) {
  constexpr size_t kMaxRoots = 1 << 7;
  std::map<std::pair<MemorySpace, std::vector<unsigned>>, unsigned> known;
  SmallVector<const ThreadAccess *> examples;
  for (const ThreadAccess &access : accesses.getAccesses()) {
    std::vector<unsigned> roots(access.roots.begin(), access.roots.end());
    auto [it, isNew] = known.try_emplace({access.space, std::move(roots)},
                                         unsigned(examples.size()));
    if (isNew)
      examples.push_back(&access);
    numbers.push_back(it->second);
  }
  numRoots = examples.size();
  if (numRoots > kMaxRoots)
    return;
  for (const ThreadAccess *first : examples)
    for (const ThreadAccess *second : examples)
      answers.push_back(accesses.mayAlias(*first, *second));
}

/// Asks for all iterations in which `second` comes after `first`. A hazard
/// within an iteration contains no more places than one into the next
/// iteration, and this no more than one into a later iteration or an iteration
/// of a loop around: those need no asking. But who leaves a loop at its test
/// does not get to what follows that.
void HazardFinder::visitDirection(unsigned first, unsigned second,
                                  ArrayRef<unsigned> around, bool isOrdered) {
  const AsyncCompletion *done = tree.getCompletion(first);
  // Nobody has to wait for what is done when its thread goes on.
  if (!done && !context.asksForBarriers())
    return;
  if (done && done->inLoop)
    return async.visitInLoop(first, second, around, isOrdered);
  unsigned issue = tree.getStep(first), to = tree.getStep(second);
  unsigned from = done ? *done->last : issue;
  PairRelation relation = context.getRelation(around);
  // Between the start of a copy and the wait for it, nothing is in order.
  if (isOrdered && done && !context.isBefore(from, to) &&
      !async.isWaitedBefore(first, second))
    found.addUnordered(first, second, relation, done->isExact);
  else if (isOrdered && context.asksForBarriers(first) &&
           found.addOrdered(first, second, from, std::nullopt, relation) ==
               Conflict::Certain)
    return;
  for (unsigned loop :
       llvm::reverse(context.getCarriers(first, second, around))) {
    relation.carrier = relation.sameIteration.pop_back_val();
    if (!llvm::is_contained(context.getLoopsAround(from), loop)) {
      relation.most = std::nullopt;
      found.addUnordered(first, second, relation, done->isExact);
      relation.most = 1;
    } else if (context.asksForBarriers(first) &&
               found.addOrdered(first, second, from, loop, relation) ==
                   Conflict::Certain &&
               !tree.isBeforeTest(from, loop)) {
      return;
    }
  }
}

void HazardFinder::visit(unsigned first, unsigned second) {
  if (conflicts.areApart(first, second) || !context.canRace(first, second) ||
      context.isOrdered(first, second))
    return;
  unsigned from = tree.getStep(first), to = tree.getStep(second);
  // In one step nothing is in an order, unless it is the same operation that
  // threads do together.
  bool isSame = accesses[first].op == accesses[second].op;
  bool isTogether =
      isSame && (accesses[first].accessScope == AccessScope::Block ||
                 (accesses[first].accessScope == AccessScope::Warp &&
                  context.threads == PairRelation::OfOneWarp));
  SmallVector<unsigned, 3> around = context.getCommonLoops(from, to);
  // Started again in a later iteration, an operation meets itself.
  bool isCarried = !context.getCarriers(first, second, around).empty();
  if (async.visitMissed(first, second) || async.visitMissed(second, first))
    return;
  bool isInStep = from == to && !(isElsewhere && isElsewhere(first, second));
  bool isOrdered =
      from == to ? isInStep && !isTogether : context.isBefore(from, to);
  bool isReverse = from != to && context.isBefore(to, from);
  if (context.use != HazardUse::Waits)
    fences.visit(first, second, around, isOrdered, isReverse || isInStep);
  if (context.use == HazardUse::Fences)
    return;
  if (context.use == HazardUse::Waits) {
    async.visitUndone(first, second);
    if (first != second)
      async.visitUndone(second, first);
  } else if ((!isSame || isCarried) && async.visitUnknown(first, second)) {
    return;
  }
  // One operation by two threads at the same time, and in one iteration after
  // the other. What the block copies is read by some threads, written by
  // others.
  if (isSame && (isOrdered || (isTogether && isInStep && first != second))) {
    PairRelation relation = context.getRelation(around);
    if (context.asksForBarriers() &&
        (first != second || !context.writesSame(first)))
      found.add(first, second, {from, to, std::nullopt, false}, relation);
    isOrdered = false;
  }
  visitDirection(first, second, around, isOrdered);
  if (first != second && !(from == to && !isCarried))
    visitDirection(second, first, around, isReverse);
  async.visitRepeated(first, second, around);
}

std::vector<Hazard> HazardFinder::find(ArrayRef<SyncHazard> covered) {
  if (context.isOpenOnly)
    found.implied.addBarriers();
  for (const SyncHazard &order : covered)
    if (found.implied.canLead(order.from, order.to, order.loop))
      found.implied.add(order);
  if (context.choosesBarriers())
    dominating.find();
  std::vector<std::pair<unsigned, unsigned>> leading = found.getLeadingPairs();
  if (context.use == HazardUse::Trial && !leading.empty())
    return found.take();
  // Of a kernel with so many that nothing covers, it is enough to tell some. Of
  // those that are only possible none is enough: a certain one may follow.
  constexpr size_t kMaxOpen = 1 << 10;
  auto isOpen = [&](const Hazard &hazard) {
    return hazard.conflict.kind == Conflict::Certain &&
           !found.isCovered(hazard.order);
  };
  auto isTold = [&] {
    if (context.use == HazardUse::Trial)
      return !found.getHazards().empty();
    return context.use == HazardUse::Verification &&
           found.getHazards().size() > kMaxOpen &&
           size_t(llvm::count_if(found.getHazards(), isOpen)) > kMaxOpen;
  };
  auto next = leading.begin();
  for (unsigned second = 0; second < accesses.size() && !isTold(); ++second)
    for (unsigned first = 0; first <= second; ++first) {
      bool isLeading =
          next != leading.end() && *next == std::pair(second, first);
      next += isLeading;
      // Two reads are no race, nor is what is in different memory.
      if ((!accesses[first].isWrite() && !accesses[second].isWrite()) ||
          !memory.mayAlias(first, second))
        continue;
      if (!context.asksForBarriers() && !accesses[first].isAsync &&
          !accesses[second].isAsync)
        continue;
      if (isLeading ||
          (!dominating.isSettled(first, second) &&
           tree.contains(accesses[first]) && tree.contains(accesses[second])))
        visit(first, second);
    }
  return found.take();
}

std::vector<Hazard>
findHazards(const ThreadAccesses &accesses, const SyncTree &tree,
            ThreadConflicts &conflicts, PairRelation::Threads threads,
            HazardUse use,
            llvm::function_ref<bool(unsigned, unsigned)> isElsewhere,
            bool isComplete, ArrayRef<SyncHazard> covered,
            llvm::function_ref<bool(unsigned, unsigned)> isOrdered) {
  HazardContext context(accesses, tree, conflicts, threads, use, isComplete,
                        isOrdered);
  return HazardFinder(context, accesses, isElsewhere).find(covered);
}

} // namespace mlir::workgroup
