//===- Hazards.cpp - Accesses that a barrier has to separate --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/Hazards.h"

namespace mlir::workgroup {

namespace {

/// Collects the hazards of a kernel.
class HazardFinder {
public:
  HazardFinder(const ThreadAccesses &accesses, const SyncTree &tree,
               ThreadConflicts &conflicts, PairRelation::Threads threads)
      : accesses(accesses.getAccesses()), tree(tree),
        program(tree.getProgram()), conflicts(conflicts), threads(threads) {}

  std::vector<Hazard> find();

private:
  bool canRace(unsigned first, unsigned second) const;
  void visit(unsigned first, unsigned second);
  void visitDirection(unsigned first, unsigned second,
                      ArrayRef<unsigned> around, bool isOrdered);
  Conflict::Kind add(unsigned first, unsigned second, SyncHazard order,
                     const PairRelation &relation);
  const SmallVector<unsigned, 3> &getLoopsAround(unsigned step);
  bool isBefore(unsigned first, unsigned second) const;
  void addUnordered(unsigned first, unsigned second, PairRelation relation);
  bool visitUnknown(unsigned first, unsigned second);

  ArrayRef<ThreadAccess> accesses;
  const SyncTree &tree;
  const SyncProgram &program;
  ThreadConflicts &conflicts;
  PairRelation::Threads threads;
  DenseMap<unsigned, SmallVector<unsigned, 3>> loopsAround;
  std::vector<Hazard> hazards;
  /// Asynchronous accesses that were reported for lack of a wait.
  DenseSet<unsigned> unknown;
};

} // namespace

const SmallVector<unsigned, 3> &HazardFinder::getLoopsAround(unsigned step) {
  auto [it, isNew] = loopsAround.try_emplace(step);
  if (isNew)
    it->second = tree.getLoopsAround(step);
  return it->second;
}

/// True if threads that do the one and the other at the same time are wrong.
bool HazardFinder::canRace(unsigned first, unsigned second) const {
  const ThreadAccess &lhs = accesses[first], &rhs = accesses[second];
  if (!lhs.isWrite() && !rhs.isWrite())
    return false;
  if (lhs.kind == AccessKind::Atomic && rhs.kind == AccessKind::Atomic)
    return false;
  // What the block does together is spread over its threads in whatever way;
  // that warps meet is no help.
  bool isBlock =
      lhs.agent == AccessAgent::Block || rhs.agent == AccessAgent::Block;
  return !(isBlock && threads == PairRelation::OfOneWarp);
}

/// True if, within one turn of the loops around both, `first` comes before
/// `second`: steps have numbers in the order of the program, but those in
/// different arms of a branch exclude each other.
bool HazardFinder::isBefore(unsigned first, unsigned second) const {
  // The ways up to the sequence that both are in.
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
      return false; // arms of one branch
    if (left.second != right.second)
      return left.second < right.second;
  }
  return false;
}

Conflict::Kind HazardFinder::add(unsigned first, unsigned second,
                                 SyncHazard order,
                                 const PairRelation &relation) {
  Conflict conflict = conflicts.find(first, second, relation);
  if (conflict)
    hazards.push_back({first, second, order, relation, conflict});
  return conflict.kind;
}

/// Adds what no barrier separates, because the first access may happen at any
/// time: by the same thread, too.
void HazardFinder::addUnordered(unsigned first, unsigned second,
                                PairRelation relation) {
  unsigned step = tree.getStep(second);
  relation.mayBeSame = true;
  add(first, second, {step, step, std::nullopt, false}, relation);
}

/// Asks for all turns in which `second` comes after `first`. A hazard within a
/// turn contains no more places than one into the next turn, and this no more
/// than one into a later turn or a turn of a loop around: those need no asking.
void HazardFinder::visitDirection(unsigned first, unsigned second,
                                  ArrayRef<unsigned> around, bool isOrdered) {
  unsigned issue = tree.getStep(first), to = tree.getStep(second);
  std::optional<unsigned> completion = tree.getCompletion(first);
  unsigned from = completion.value_or(issue);
  PairRelation relation;
  relation.threads = threads;
  for (unsigned loop : around)
    relation.sameTurn.push_back(tree.getLoop(loop));
  // Between the start of a copy and the wait for it, nothing is in order.
  bool isUnderWay = isOrdered && completion && !isBefore(from, to);
  if (isUnderWay)
    addUnordered(first, second, relation);
  else if (isOrdered && add(first, second, {from, to, std::nullopt, false},
                            relation) == Conflict::Certain)
    return;
  for (unsigned loop : llvm::reverse(around)) {
    relation.carrier = relation.sameTurn.pop_back_val();
    relation.isFar = false;
    if (!llvm::is_contained(getLoopsAround(from), loop)) {
      addUnordered(first, second, relation);
      continue;
    }
    if (add(first, second, {from, to, loop, false}, relation) ==
        Conflict::Certain)
      return;
    relation.isFar = true;
    add(first, second, {from, to, loop, true}, relation);
  }
}

/// True if it is not known when one of the accesses is done, so that nothing is
/// known of their order; says so once for each.
bool HazardFinder::visitUnknown(unsigned first, unsigned second) {
  auto isUnknown = [&](unsigned access) {
    return accesses[access].isAsync && !tree.getCompletion(access);
  };
  bool isFirst = isUnknown(first);
  if (!isFirst && !isUnknown(second))
    return false;
  if (unknown.insert(isFirst ? first : second).second) {
    unsigned step = tree.getStep(second);
    Conflict conflict;
    conflict.kind = Conflict::Possible;
    conflict.reason = "it is not known when the asynchronous operation is done";
    hazards.push_back(
        {first, second, {step, step, std::nullopt, false}, {}, conflict});
  }
  return true;
}

void HazardFinder::visit(unsigned first, unsigned second) {
  if (conflicts.areApart(first, second) || !canRace(first, second))
    return;
  PairRelation anyTime;
  anyTime.threads = threads;
  anyTime.mayBeSame = accesses[first].isAsync || accesses[second].isAsync;
  if (!conflicts.find(first, second, anyTime))
    return;
  unsigned from = tree.getStep(first), to = tree.getStep(second);
  // In one step nothing is in an order, unless it is the same operation that
  // threads do together.
  bool isSame = accesses[first].op == accesses[second].op;
  bool isTogether = isSame && (accesses[first].agent == AccessAgent::Block ||
                               (accesses[first].agent == AccessAgent::Warp &&
                                threads == PairRelation::OfOneWarp));
  SmallVector<unsigned, 3> around;
  for (auto [lhs, rhs] : llvm::zip(getLoopsAround(from), getLoopsAround(to))) {
    if (lhs != rhs)
      break;
    around.push_back(lhs);
  }
  // Started again in a later turn, an operation meets itself.
  if ((!isSame || !around.empty()) && visitUnknown(first, second))
    return;
  bool isOrdered = from == to ? !isTogether : isBefore(from, to);
  // One operation by two threads at the same time, and in one turn after the
  // other.
  if (isSame && isOrdered) {
    PairRelation relation;
    relation.threads = threads;
    for (unsigned loop : around)
      relation.sameTurn.push_back(tree.getLoop(loop));
    add(first, second, {from, to, std::nullopt, false}, relation);
    isOrdered = false;
  }
  visitDirection(first, second, around, isOrdered);
  if (first != second && !(from == to && around.empty()))
    visitDirection(second, first, around, from != to && isBefore(to, from));
}

std::vector<Hazard> HazardFinder::find() {
  for (unsigned second = 0; second < accesses.size(); ++second)
    for (unsigned first = 0; first <= second; ++first)
      visit(first, second);
  return std::move(hazards);
}

std::vector<Hazard> findHazards(const ThreadAccesses &accesses,
                                const SyncTree &tree,
                                ThreadConflicts &conflicts,
                                PairRelation::Threads threads) {
  return HazardFinder(accesses, tree, conflicts, threads).find();
}

/// The loops around `step` that `hazard` says nothing of, although each of
/// their turns meets a barrier from `step` to `step`.
static SmallVector<unsigned> findMeeting(const SyncTree &tree, unsigned step,
                                         unsigned other,
                                         const SyncHazard &hazard,
                                         ArrayRef<SyncGap> gaps) {
  SmallVector<unsigned> meeting;
  auto around = tree.getLoopsAround(step), others = tree.getLoopsAround(other);
  for (auto [depth, loop] : llvm::enumerate(around)) {
    bool isCommon = depth < others.size() && others[depth] == loop;
    bool isInCarrier =
        hazard.loop &&
        llvm::is_contained(ArrayRef(around).take_front(depth), *hazard.loop);
    bool isOpen = hazard.loop ? isInCarrier : !isCommon;
    if (isOpen && isCut(tree.getProgram(), {step, step, loop, false}, gaps))
      meeting.push_back(loop);
  }
  return meeting;
}

/// True if `step` stands in the body of `loop` itself, so that each turn that
/// begins gets to it: then no turn is without the barriers on the way from it
/// to itself.
static bool isInEachTurn(const SyncTree &tree, unsigned step, unsigned loop) {
  const SyncProgram &program = tree.getProgram();
  return program.sequences[program.nodes[step].sequence].parent == loop;
}

void removeOrdered(std::vector<Hazard> &hazards, const SyncTree &tree,
                   ThreadConflicts &conflicts, ArrayRef<SyncGap> gaps) {
  llvm::erase_if(hazards, [&](Hazard &hazard) {
    const SyncHazard &order = hazard.order;
    if (isCut(tree.getProgram(), order, gaps))
      return false;
    PairRelation relation = hazard.relation;
    for (unsigned loop : findMeeting(tree, order.from, order.to, order, gaps))
      if (isInEachTurn(tree, order.from, loop))
        relation.lastTurn.emplace_back(tree.getLoop(loop),
                                       tree.isBeforeTest(order.from, loop));
    for (unsigned loop : findMeeting(tree, order.to, order.from, order, gaps))
      if (isInEachTurn(tree, order.to, loop))
        relation.firstTurn.push_back(tree.getLoop(loop));
    if (relation.lastTurn.empty() && relation.firstTurn.empty())
      return false;
    hazard.conflict = conflicts.find(hazard.first, hazard.second, relation);
    return !hazard.conflict;
  });
}

SmallVector<SyncHazard> getOrdered(ArrayRef<Hazard> hazards,
                                   const SyncTree &tree) {
  SmallVector<SyncHazard> ordered;
  for (const Hazard &hazard : hazards) {
    const SyncHazard &order = hazard.order;
    if (isCut(tree.getProgram(), order, {})) {
      ordered.push_back(order);
      continue;
    }
    for (unsigned loop : findMeeting(tree, order.from, order.to, order, {}))
      ordered.push_back({order.from, order.from, loop, false});
    for (unsigned loop : findMeeting(tree, order.to, order.from, order, {}))
      ordered.push_back({order.to, order.to, loop, false});
  }
  return ordered;
}

} // namespace mlir::workgroup
