//===- HazardCollector.cpp - Keeps what is a hazard -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where branches and loops lie between two accesses, it is asked which of them
// all paths have in common (`narrow`); that costs most, so the number of times
// is limited.
//
//===----------------------------------------------------------------------===//

#include "HazardCollector.h"
#include "Analysis/Placement/HazardPaths.h"
#include "Analysis/Refinement/HazardCoverage.h"
#include "Analysis/Refinement/PathRefinement.h"
#include "ValueOrder.h"

namespace mlir::workgroup {

HazardCollector::HazardCollector(HazardContext &context)
    : implied(context.program), context(context), accesses(context.accesses),
      tree(context.tree), program(context.program),
      conflicts(context.conflicts), counts(program), decisions(conflicts) {
  findSyncNodes();
}

void HazardCollector::findSyncNodes() {
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

bool HazardCollector::isStraight(const SyncHazard &order) const {
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

SyncHazard HazardCollector::narrowAroundSync(const Hazard &hazard) {
  auto isOfUse = [&](unsigned node) { return syncNodes.contains(node); };
  return narrow(hazard, tree, conflicts, decisions, isOfUse);
}

/// True if barriers order the accesses. Those that are tried have to cover
/// them: others may be found that do.
bool HazardCollector::isOrderedByBarriers(Hazard &hazard) const {
  return context.use == HazardUse::Trial ? isCovered(hazard.order)
                                         : isOrdered(hazard, tree, conflicts);
}

/// The order of the accesses with what all paths have in common.
SyncHazard HazardCollector::narrowPaths(const Hazard &hazard) {
  constexpr unsigned kMaxNarrowed = 1 << 10;
  bool isNarrowing = !isStraight(hazard.order) && ++numNarrowed <= kMaxNarrowed;
  if (!isNarrowing)
    return hazard.order;
  return context.use == HazardUse::Verification
             ? narrowAroundSync(hazard)
             : narrow(hazard, tree, conflicts, decisions);
}

/// Adds a hazard whose paths are narrowed, but for what barriers order. True if
/// what has no fewer places needs no asking: whatever comes to cover this one
/// covers that, too. That may be so only if it `isSettled` otherwise.
bool HazardCollector::addNarrowed(Hazard hazard, bool isSettled) {
  isSettled &=
      hazard.order.wholeIterations.empty() && hazard.order.taken.empty();
  if (context.isOpenOnly && context.hasBarriers && isOrderedByBarriers(hazard))
    return false;
  isSettled &= hazard.conflict.kind == Conflict::Certain;
  hazards.push_back(std::move(hazard));
  return isSettled;
}

/// True if no two lanes of a warp meet by the accesses, or those that did the
/// first are done with it when any does the second: no barrier is needed.
bool HazardCollector::needsNoBarrier(unsigned first, unsigned second,
                                     const PairRelation &relation) const {
  const ThreadAccess &lhs = accesses[first], &rhs = accesses[second];
  return context.threads == PairRelation::OfOneWarp && !lhs.isAsync &&
         !rhs.isAsync &&
         (areOfSameFragment(lhs.op, rhs.op, relation) ||
          (!lhs.isWrite() && isMadeOfRead(lhs.op, rhs.op)));
}

/// False if threads do not meet by the accesses in whatever iterations. Where
/// one thread does not by both either, nothing more is asked about them.
bool HazardCollector::mayMeetAnyTime(unsigned first, unsigned second,
                                     const PairRelation &anyTime) {
  if (conflicts.mayFind(first, second, anyTime))
    return true;
  if (anyTime.mayBeSame)
    conflicts.keepApart(first, second, anyTime.threads);
  return false;
}

/// Whether threads meet; for certain only where that is of use.
Conflict HazardCollector::find(unsigned first, unsigned second,
                               const PairRelation &relation) {
  if (context.asksForBarriers())
    return conflicts.find(first, second, relation);
  Conflict conflict;
  if (conflicts.canMeet(first, second, relation))
    conflict.kind = Conflict::Possible;
  return conflict;
}

Conflict::Kind HazardCollector::add(unsigned first, unsigned second,
                                    SyncHazard order,
                                    const PairRelation &relation) {
  if (conflicts.areKeptApart(first, second, context.threads) ||
      context.isOrdered(first, second))
    return Conflict::None;
  if (Leading *known = getLeading(first, second, order)) {
    known->isAdded = true;
    hazards.push_back(known->hazard);
    return known->kind;
  }
  // Then what contains no fewer places is covered, too.
  if (context.isOpenOnly && context.hasBarriers && counts.isCovered(order))
    return Conflict::Certain;
  bool isImplied = implied.isImplied(order);
  if (context.isLeadingOnly && isImplied)
    return Conflict::Certain;
  if (needsNoBarrier(first, second, relation))
    return Conflict::None;
  // The tiles that they are in may be in different slots at the time.
  if (conflicts.areTilesApart(first, second, relation))
    return Conflict::None;
  PairRelation anyTime = context.getAnyTime(first, second);
  if (!mayMeetAnyTime(first, second, anyTime))
    return Conflict::None;
  Hazard hazard{first, second, order, relation, {}};
  hazard.isImplied = isImplied;
  // Of what barriers order it need not be known whether it is certain.
  bool mayBeOrdered =
      context.isOpenOnly && context.hasBarriers && context.asksForBarriers();
  if (mayBeOrdered) {
    if (!conflicts.canMeet(first, second, relation))
      return Conflict::None;
    hazard.conflict.kind = Conflict::Possible;
    hazard.order = narrowPaths(hazard);
    if (Hazard tried = hazard; isOrderedByBarriers(tried))
      return Conflict::Possible;
  }
  hazard.conflict = find(first, second, relation);
  // Without iterations there is less to be in doubt about.
  if (hazard.conflict.kind == Conflict::Possible &&
      !conflicts.canMeet(first, second, anyTime))
    return Conflict::None;
  if (!hazard.conflict)
    return Conflict::None;
  bool isSettled = hazard.conflict.kind == Conflict::Certain &&
                   (context.isOpenOnly || counts.isCovered(order));
  if (!mayBeOrdered)
    hazard.order = narrowPaths(hazard);
  return addNarrowed(std::move(hazard), isSettled) ? Conflict::Certain
                                                   : Conflict::Possible;
}

void HazardCollector::addUnordered(unsigned first, unsigned second,
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

Conflict::Kind HazardCollector::addOrdered(unsigned first, unsigned second,
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

bool HazardCollector::addUncoverable(unsigned first, unsigned second,
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

//===----------------------------------------------------------------------===//
// Leading hazards
//===----------------------------------------------------------------------===//

/// The hazard that was found to lead before; null if there is none.
HazardCollector::Leading *HazardCollector::getLeading(unsigned first,
                                                      unsigned second,
                                                      const SyncHazard &order) {
  auto [begin, end] =
      leading.equal_range({std::max(first, second), std::min(first, second)});
  for (auto it = begin; it != end; ++it) {
    const Hazard &hazard = it->second.hazard;
    bool isSame = hazard.first == first && hazard.second == second &&
                  hazard.order.from == order.from &&
                  hazard.order.to == order.to &&
                  hazard.order.loop == order.loop && !order.isFar;
    if (isSame && !it->second.isAdded)
      return &it->second;
  }
  return nullptr;
}

bool HazardCollector::addLeading(unsigned first, unsigned second,
                                 const SyncHazard &order,
                                 const PairRelation &relation) {
  size_t size = hazards.size();
  unsigned narrowed = numNarrowed;
  Conflict::Kind kind = add(first, second, order, relation);
  bool isLeading = hazards.size() == size + 1 &&
                   hazards.back().order.wholeIterations.empty() &&
                   hazards.back().order.taken.empty();
  if (isLeading) {
    leading.insert({{std::max(first, second), std::min(first, second)},
                    {std::move(hazards.back()), kind}});
    implied.add(order);
  } else {
    numNarrowed = narrowed;
  }
  hazards.resize(size);
  return isLeading;
}

std::vector<std::pair<unsigned, unsigned>>
HazardCollector::getLeadingPairs() const {
  std::vector<std::pair<unsigned, unsigned>> pairs;
  for (const auto &[pair, _] : leading)
    if (pairs.empty() || pairs.back() != pair)
      pairs.push_back(pair);
  return pairs;
}

std::vector<Hazard> HazardCollector::take() {
  for (auto &[_, other] : leading)
    if (!other.isAdded)
      hazards.push_back(std::move(other.hazard));
  return std::move(hazards);
}

} // namespace mlir::workgroup
