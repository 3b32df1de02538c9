//===- Hazards.cpp - Accesses that a barrier has to separate --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HazardFinder.h"
#include "PathRefinement.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

namespace mlir::workgroup {

const SmallVector<unsigned, 3> &HazardFinder::getLoopsAround(unsigned step) {
  auto [it, isNew] = loopsAround.try_emplace(step);
  if (isNew)
    it->second = tree.getLoopsAround(step);
  return it->second;
}

/// The loops around both steps, outermost first.
SmallVector<unsigned, 3> HazardFinder::getCommonLoops(unsigned from,
                                                      unsigned to) {
  SmallVector<unsigned, 3> around;
  // The one may make the other move.
  getLoopsAround(from);
  getLoopsAround(to);
  for (auto [lhs, rhs] : llvm::zip(getLoopsAround(from), getLoopsAround(to))) {
    if (lhs != rhs)
      break;
    around.push_back(lhs);
  }
  return around;
}

/// Of what nobody reads the result, and what does the same exactly, it makes no
/// difference which comes first: sums of floats are rounded.
unsigned HazardFinder::getUpdateClass(const ThreadAccess &access) {
  if (getAtomicScope(access.op))
    return kOrderedUpdate;
  if (!isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(access.op))
    return 0; // of an mbarrier
  auto update = dyn_cast<memref::AtomicRMWOp>(access.op);
  if (!update || !update->use_empty())
    return kOrderedUpdate;
  switch (update.getKind()) {
  case arith::AtomicRMWKind::assign:
  case arith::AtomicRMWKind::addf:
  case arith::AtomicRMWKind::mulf:
    return kOrderedUpdate;
  default:
    return kOrderedUpdate + 1 + static_cast<unsigned>(update.getKind());
  }
}

/// True if it makes no difference which of two atomic updates comes first.
bool HazardFinder::areInterchangeable(const ThreadAccess &lhs,
                                      const ThreadAccess &rhs) {
  unsigned updates = getUpdateClass(lhs);
  return updates != kOrderedUpdate && updates == getUpdateClass(rhs);
}

/// True if threads that do the one and the other at the same time are wrong, or
/// if barriers that stand between are to stay.
bool HazardFinder::canRace(unsigned first, unsigned second) const {
  const ThreadAccess &lhs = accesses[first], &rhs = accesses[second];
  if (!lhs.isWrite() && !rhs.isWrite())
    return false;
  // What announces bytes for a phase that is not over spoils the phase.
  auto isAnnouncement = [&](unsigned access) {
    return tree.getCompletion(access) &&
           isa<nvgpu::MBarrierArriveExpectTxOp>(accesses[access].op);
  };
  if (areAtomic(lhs, rhs) && getCommonScope(lhs, rhs) >= AtomicScope::Block)
    return (isAnnouncement(first) && isAnnouncement(second)) ||
           (use == HazardUse::Elimination && !areInterchangeable(lhs, rhs));
  if (first == second && lhs.sameness == ThreadAccess::SameAlways)
    return false;
  // What the block does together is spread over its threads in whatever way;
  // that warps meet is no help.
  bool isBlock = lhs.accessScope == AccessScope::Block ||
                 rhs.accessScope == AccessScope::Block;
  return !(isBlock && threads == PairRelation::OfOneWarp);
}

/// That threads do both, in any iterations. Mostly they do not touch the same
/// then, and all other questions are settled.
PairRelation HazardFinder::getAnyTime(unsigned first, unsigned second) const {
  auto isAsync = [&](unsigned access) {
    return accesses[access].isAsync || tree.getCompletion(access);
  };
  PairRelation anyTime;
  anyTime.threads = threads;
  anyTime.mayBeSame = isAsync(first) || isAsync(second);
  return anyTime;
}

/// True if, within one iteration of the loops around both, `first` comes before
/// `second`: steps have numbers in the order of the program, but those in
/// different regions of a branch exclude each other.
bool HazardFinder::isBefore(unsigned first, unsigned second) const {
  // The paths up to the sequence that both are in.
  auto getPath = [&](unsigned node) {
    SmallVector<std::pair<unsigned, unsigned>, 8> path;
    for (std::optional<unsigned> at = node; at;
         at = program.sequences[program.nodes[*at].sequence].parent)
      path.insert(path.begin(),
                  {program.nodes[*at].sequence, program.nodes[*at].index});
    return path;
  };
  auto lhs = getPath(first), rhs = getPath(second);
  for (auto [left, right] : llvm::zip(lhs, rhs)) {
    if (left.first != right.first)
      return false; // regions of one branch
    if (left.second != right.second)
      return left.second < right.second;
  }
  return false;
}

void HazardFinder::findSyncNodes() {
  auto add = [&](unsigned node) {
    for (unsigned parent : getSyncParents(program, node))
      if (!syncNodes.insert(parent).second)
        return;
  };
  llvm::for_each(tree.getBarriers(), add);
  llvm::for_each(tree.getFences(), add);
  for (const SyncSequence &sequence : program.sequences) {
    SmallVector<unsigned, 0> &counts = partedBefore.emplace_back(1, 0);
    for (unsigned item : sequence.items)
      counts.push_back(counts.back() + !program.nodes[item].parts.empty());
  }
}

/// True if no loop and no branch lies between, so that there is only one way.
bool HazardFinder::isStraight(const SyncHazard &order) const {
  const SyncNode &from = program.nodes[order.from];
  const SyncNode &to = program.nodes[order.to];
  const SmallVector<unsigned, 0> &parted = partedBefore[from.sequence];
  auto isFree = [&](unsigned first, unsigned last) {
    return parted[first] == parted[last];
  };
  if (from.sequence != to.sequence || order.isFar)
    return false;
  if (!order.loop)
    return from.index < to.index && isFree(from.index, to.index);
  return program.sequences[from.sequence].parent == order.loop &&
         isFree(from.index, parted.size() - 1) && isFree(0, to.index);
}

/// Adds a hazard, but for what barriers order. True if what has no fewer places
/// needs no asking: whatever comes to cover this one covers that, too.
bool HazardFinder::addHazard(Hazard hazard) {
  constexpr unsigned kMaxNarrowed = 1 << 10;
  bool isSettled = hazard.conflict.kind == Conflict::Certain &&
                   (isOpenOnly || counts.isCovered(hazard.order));
  bool isNarrowing = !isStraight(hazard.order) && ++numNarrowed <= kMaxNarrowed;
  auto isOfUse = [&](unsigned node) { return syncNodes.contains(node); };
  std::vector<Hazard> parts{hazard};
  if (isNarrowing)
    parts = split(hazard, tree, conflicts);
  isSettled &= parts.size() == 1;
  for (Hazard &part : parts) {
    if (isNarrowing)
      part.order = use == HazardUse::Verification
                       ? narrow(part, tree, conflicts, decisions, isOfUse)
                       : narrow(part, tree, conflicts, decisions);
    isSettled &= part.order.wholeIterations.empty() && part.order.taken.empty();
    if (isOpenOnly && hasBarriers && isOrdered(part, tree, conflicts)) {
      isSettled = false;
      continue;
    }
    isSettled &= part.conflict.kind == Conflict::Certain;
    hazards.push_back(std::move(part));
  }
  return isSettled;
}

Conflict::Kind HazardFinder::add(unsigned first, unsigned second,
                                 SyncHazard order,
                                 const PairRelation &relation) {
  if (Leading *known = getLeading(first, second, order)) {
    known->isAdded = true;
    hazards.push_back(known->hazard);
    return known->kind;
  }
  // Then what contains no fewer places is covered, too.
  if (isOpenOnly && hasBarriers && counts.isCovered(order))
    return Conflict::Certain;
  bool isImplied = implied.isImplied(order);
  if (isLeadingOnly && isImplied)
    return Conflict::Certain;
  // At the second of two operations of a warp, all its lanes have what they
  // have read by the first (PTX ISA, wmma: `.sync`).
  auto isOfWarp = [&](unsigned access) {
    return accesses[access].accessScope == AccessScope::Warp;
  };
  if (threads == PairRelation::OfOneWarp && !accesses[first].isWrite() &&
      !accesses[first].isAsync && isOfWarp(first) && isOfWarp(second))
    return Conflict::None;
  PairRelation anyTime = getAnyTime(first, second);
  if (!conflicts.mayFind(first, second, anyTime))
    return Conflict::None;
  Conflict conflict = conflicts.find(first, second, relation);
  // Without iterations there is less to be in doubt about.
  if (conflict.kind == Conflict::Possible &&
      !conflicts.find(first, second, anyTime))
    return Conflict::None;
  if (!conflict)
    return Conflict::None;
  Hazard hazard{first, second, order, relation, conflict};
  hazard.isImplied = isImplied;
  return addHazard(std::move(hazard)) ? Conflict::Certain : Conflict::Possible;
}

/// Adds what no barrier separates, because the first access may happen at any
/// time: by the same thread, too.
void HazardFinder::addUnordered(unsigned first, unsigned second,
                                PairRelation relation, bool isExact) {
  unsigned step = tree.getStep(second);
  size_t numBefore = hazards.size();
  relation.mayBeSame = true;
  add(first, second, {step, step, std::nullopt, false}, relation);
  for (Hazard &hazard : MutableArrayRef(hazards).drop_front(numBefore))
    hazard.isUndone = true;
  if (isExact || hazards.empty())
    return;
  Hazard &hazard = hazards.back();
  if (hazard.first != first || hazard.second != second ||
      hazard.conflict.kind != Conflict::Certain)
    return;
  hazard.conflict = Conflict();
  hazard.conflict.kind = Conflict::Possible;
  hazard.conflict.reason = kUntimed.str();
}

/// Adds what barriers separate that stand between `from` and the second access,
/// in the same iterations of all loops or, if `relation` has a carrier, in a
/// later iteration of that: of `loop`.
Conflict::Kind HazardFinder::addOrdered(unsigned first, unsigned second,
                                        unsigned from,
                                        std::optional<unsigned> loop,
                                        PairRelation relation) {
  unsigned to = tree.getStep(second);
  Conflict::Kind kind = add(first, second, {from, to, loop, false}, relation);
  if (!loop || kind == Conflict::Certain)
    return kind;
  // What a whole iteration lies between contains more places than what follows.
  relation.least = 2;
  relation.most = std::nullopt;
  add(first, second, {from, to, loop, true}, relation);
  return kind;
}

/// The loops of `around` in whose later iterations the accesses may meet: tiles
/// of a ring are of one iteration of all loops around that give them.
ArrayRef<unsigned> HazardFinder::getCarriers(unsigned first, unsigned second,
                                             ArrayRef<unsigned> around) {
  Operation *tile = memory.getCommonTile(accesses[first], accesses[second]);
  if (!tile)
    return around;
  return around.drop_while([&](unsigned loop) {
    const KernelLoop *turning = tree.getLoop(loop);
    return turning->op && turning->op->isProperAncestor(tile);
  });
}

/// Asks for all iterations in which `second` comes after `first`. A hazard
/// within an iteration contains no more places than one into the next
/// iteration, and this no more than one into a later iteration or an iteration
/// of a loop around: those need no asking. But who leaves a loop at its test
/// does not get to what follows that.
void HazardFinder::visitDirection(unsigned first, unsigned second,
                                  ArrayRef<unsigned> around, bool isOrdered) {
  const AsyncCompletion *done = tree.getCompletion(first);
  if (done && done->inLoop)
    return visitInLoop(first, second, around, isOrdered);
  unsigned issue = tree.getStep(first), to = tree.getStep(second);
  unsigned from = done ? *done->last : issue;
  PairRelation relation;
  relation.threads = threads;
  for (unsigned loop : around)
    relation.sameIteration.push_back(tree.getLoop(loop));
  // Between the start of a copy and the wait for it, nothing is in order.
  if (isOrdered && done && !isBefore(from, to) &&
      !isWaitedBefore(first, second))
    addUnordered(first, second, relation, done->isExact);
  else if (isOrdered && !isSeen(first) &&
           addOrdered(first, second, from, std::nullopt, relation) ==
               Conflict::Certain)
    return;
  for (unsigned loop : llvm::reverse(getCarriers(first, second, around))) {
    relation.carrier = relation.sameIteration.pop_back_val();
    if (!llvm::is_contained(getLoopsAround(from), loop)) {
      relation.most = std::nullopt;
      addUnordered(first, second, relation, done->isExact);
      relation.most = 1;
    } else if (!isSeen(first) &&
               addOrdered(first, second, from, loop, relation) ==
                   Conflict::Certain &&
               !tree.isBeforeTest(from, loop)) {
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// Adds what no barrier helps against, if it happens for certain; false if it
/// may not.
bool HazardFinder::addUncoverable(unsigned first, unsigned second,
                                  const PairRelation &relation,
                                  const MissedPhase *missed) {
  Conflict conflict = conflicts.find(first, second, relation);
  if (conflict.kind != Conflict::Certain)
    return false;
  unsigned to = tree.getStep(second);
  hazards.push_back({first,
                     second,
                     {to, to, std::nullopt, false},
                     relation,
                     conflict,
                     /*isUntimed=*/true,
                     missed});
  return true;
}

void HazardFinder::visit(unsigned first, unsigned second) {
  if (conflicts.areApart(first, second) || !canRace(first, second))
    return;
  unsigned from = tree.getStep(first), to = tree.getStep(second);
  // In one step nothing is in an order, unless it is the same operation that
  // threads do together.
  bool isSame = accesses[first].op == accesses[second].op;
  bool isTogether =
      isSame && (accesses[first].accessScope == AccessScope::Block ||
                 (accesses[first].accessScope == AccessScope::Warp &&
                  threads == PairRelation::OfOneWarp));
  SmallVector<unsigned, 3> around = getCommonLoops(from, to);
  // Started again in a later iteration, an operation meets itself.
  bool isCarried = !getCarriers(first, second, around).empty();
  if (visitMissed(first, second) || visitMissed(second, first))
    return;
  bool isInStep = from == to && !(isElsewhere && isElsewhere(first, second));
  bool isOrdered = from == to ? isInStep && !isTogether : isBefore(from, to);
  bool isReverse = from != to && isBefore(to, from);
  visitProxies(first, second, around, isOrdered, isReverse || isInStep);
  if (use == HazardUse::Waits) {
    visitUndone(first, second);
    if (first != second)
      visitUndone(second, first);
  } else if ((!isSame || isCarried) && visitUnknown(first, second)) {
    return;
  }
  // One operation by two threads at the same time, and in one iteration after
  // the other. What the block copies is read by some threads, written by
  // others.
  if (isSame && (isOrdered || (isTogether && isInStep && first != second))) {
    PairRelation relation;
    relation.threads = threads;
    for (unsigned loop : around)
      relation.sameIteration.push_back(tree.getLoop(loop));
    if (first != second || accesses[first].sameness == ThreadAccess::NotSame)
      add(first, second, {from, to, std::nullopt, false}, relation);
    isOrdered = false;
  }
  visitDirection(first, second, around, isOrdered);
  if (first != second && !(from == to && !isCarried))
    visitDirection(second, first, around, isReverse);
  visitRepeated(first, second, around);
}

std::vector<Hazard> HazardFinder::find() {
  for (unsigned access = 0; access < accesses.size(); ++access)
    plain.push_back(isPlain(access));
  findKinds();
  if (isOpenOnly)
    implied.addBarriers();
  if (choosesBarriers())
    findLeading();
  // Of a kernel with so many that nothing covers, it is enough to tell some. Of
  // those that are only possible none is enough: a certain one may follow.
  constexpr size_t kMaxOpen = 1 << 10;
  auto isOpen = [&](const Hazard &hazard) {
    return hazard.conflict.kind == Conflict::Certain &&
           !counts.isCovered(hazard.order);
  };
  auto isTold = [&] {
    return use == HazardUse::Verification && hazards.size() > kMaxOpen &&
           size_t(llvm::count_if(hazards, isOpen)) > kMaxOpen;
  };
  auto next = leading.begin();
  for (unsigned second = 0; second < accesses.size() && !isTold(); ++second)
    for (unsigned first = 0; first <= second; ++first) {
      bool isLeading = false;
      for (; next != leading.end() && next->first == std::pair(second, first);
           ++next)
        isLeading = true;
      if (use == HazardUse::Waits && !accesses[first].isAsync &&
          !accesses[second].isAsync)
        continue;
      if (isLeading ||
          (!isSettled(first, second) && tree.contains(accesses[first]) &&
           tree.contains(accesses[second])))
        visit(first, second);
    }
  for (auto &[_, other] : leading)
    if (!other.isAdded)
      hazards.push_back(std::move(other.hazard));
  return std::move(hazards);
}

std::vector<Hazard> findHazards(
    const ThreadAccesses &accesses, const SyncTree &tree,
    ThreadConflicts &conflicts, PairRelation::Threads threads, HazardUse use,
    llvm::function_ref<bool(unsigned, unsigned)> isElsewhere, bool isComplete) {
  return HazardFinder(accesses, tree, conflicts, threads, use, isElsewhere,
                      isComplete)
      .find();
}

} // namespace mlir::workgroup
