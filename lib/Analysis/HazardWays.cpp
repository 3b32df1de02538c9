//===- HazardWays.cpp - What lies between for certain ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shortest way from one access to another leaves a loop in the turn of the
// first one, and reaches the second one in the first turn. Where threads do not
// meet by that, a whole turn lies between. Likewise the arm of a branch, if no
// two of them that do without it meet.
//
//===----------------------------------------------------------------------===//

#include "HazardWays.h"
#include "SyncWays.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Turns and arms
//===----------------------------------------------------------------------===//

SmallVector<unsigned, 3> getLoopsApart(const SyncTree &tree, unsigned step,
                                       unsigned other,
                                       const SyncHazard &order) {
  SmallVector<unsigned, 3> apart;
  auto around = tree.getLoopsAround(step), others = tree.getLoopsAround(other);
  for (auto [depth, loop] : llvm::enumerate(around)) {
    bool isCommon = depth < others.size() && others[depth] == loop;
    bool isInCarrier =
        order.loop &&
        llvm::is_contained(ArrayRef(around).take_front(depth), *order.loop);
    if (order.loop ? isInCarrier : !isCommon)
      apart.push_back(loop);
  }
  return apart;
}

std::optional<LoopEnd> getLastTurn(const SyncTree &tree, const Hazard &hazard,
                                   unsigned loop) {
  unsigned from = hazard.order.from, first = tree.getStep(hazard.first);
  int64_t turns = 0;
  const AsyncCompletion *done = tree.getCompletion(hazard.first);
  if (done && done->inLoop && done->inLoop->step == from) {
    if (!done->inLoop->isAround || done->inLoop->loop != loop)
      return std::nullopt; // of other turns than the access
    turns = done->inLoop->turns;
  }
  LoopEnd end;
  end.loop = tree.getLoop(loop);
  end.isBeforeTest = tree.isBeforeTest(first, loop);
  end.most = turns + !tree.isBeforeTest(from, loop) + end.isBeforeTest;
  return end;
}

LoopEnd getNoTurn(const KernelLoop *loop) {
  LoopEnd none;
  none.loop = loop;
  none.most = 0;
  none.isFromStart = true;
  return none;
}

static bool dependsOnly(const SymbolicCondition &condition,
                        ArrayRef<const KernelLoop *> loops) {
  auto isKnown = [&](auto term) {
    return !term.first->isUnsteady &&
           llvm::all_of(term.first->loops, [&](const KernelLoop *loop) {
             return llvm::is_contained(loops, loop);
           });
  };
  return llvm::all_of(condition.form.terms, isKnown) &&
         llvm::all_of(condition.parts, [&](const SymbolicCondition &part) {
           return dependsOnly(part, loops);
         });
}

bool dependsOnly(ThreadConflicts &conflicts, Operation *branch, unsigned arm,
                 ArrayRef<const KernelLoop *> loops) {
  auto condition = conflicts.getIndex().getDecision(branch, arm);
  return condition && dependsOnly(*condition, loops);
}

//===----------------------------------------------------------------------===//
// What ways have in common
//===----------------------------------------------------------------------===//

namespace {

/// Finds what all ways pass that are gone.
class NarrowedWays {
public:
  NarrowedWays(const Hazard &hazard, const SyncTree &tree,
               ThreadConflicts &conflicts, ArmDecisions &decisions,
               llvm::function_ref<bool(unsigned)> isOfUse)
      : hazard(hazard), tree(tree), program(tree.getProgram()),
        conflicts(conflicts), decisions(decisions),
        question(decisions.getQuestion(hazard)), isOfUse(isOfUse),
        order(hazard.order) {}

  SyncHazard find();

private:
  bool isExcluded(llvm::function_ref<void(PairRelation &)> restrict) const;
  void addTurns();
  unsigned countTurns(unsigned loop,
                      llvm::function_ref<bool(unsigned number)> isMore) const;
  void addTurnsBetween();
  bool addPassed();
  bool hasTurnBetween(unsigned loop);
  bool addLoop(unsigned loop);
  bool addBranch(unsigned branch, const SyncTurn &turn);
  bool isVisited(unsigned node, const SyncTurn &turn);

  const Hazard &hazard;
  const SyncTree &tree;
  const SyncProgram &program;
  ThreadConflicts &conflicts;
  ArmDecisions &decisions;
  ArmDecisions::Question question;
  llvm::function_ref<bool(unsigned)> isOfUse;
  SyncHazard order;
  /// What has been asked for: of loops, by what it takes for them to have no
  /// turn.
  DenseMap<unsigned, SmallVector<SyncTurn, 2>> visited;
  SmallVector<std::pair<SymbolicCondition, bool>, 2> skipped;
};

} // namespace

/// True if the threads do not meet in what is left of their relation.
bool NarrowedWays::isExcluded(
    llvm::function_ref<void(PairRelation &)> restrict) const {
  PairRelation relation = hazard.relation;
  restrict(relation);
  return !conflicts.find(hazard.first, hazard.second, relation);
}

/// True if a whole turn of any of `loops`, which are around each other, has one
/// of the innermost one in it.
static bool isNest(const SyncProgram &program, ArrayRef<unsigned> loops) {
  for (auto [outer, inner] : llvm::zip(loops, loops.drop_front())) {
    const SyncNode &node = program.nodes[inner];
    if (program.sequences[node.sequence].parent != outer || !node.hasTurn)
      return false;
  }
  return !loops.empty();
}

/// The first access need not be in the last turn of its loops, nor the second
/// one in the first turn: but if threads do not meet when both are, a whole
/// turn of the loop lies between, which both are in.
void NarrowedWays::addTurns() {
  auto left = getLoopsApart(tree, order.from, order.to, order);
  auto entered = getLoopsApart(tree, order.to, order.from, order);
  SmallVector<LoopEnd> ends;
  for (unsigned loop : left)
    if (std::optional<LoopEnd> end = getLastTurn(tree, hazard, loop))
      ends.push_back(*end);
  if (isOfUse && llvm::none_of(left, isOfUse) &&
      llvm::none_of(entered, isOfUse))
    return;
  auto isNever = [&](ArrayRef<LoopEnd> ends, ArrayRef<unsigned> loops) {
    return isExcluded([&](PairRelation &relation) {
      llvm::append_range(relation.ends, ends);
      for (unsigned loop : loops)
        relation.turns.push_back({tree.getLoop(loop), 0, 0});
    });
  };
  bool isLeft = isNest(program, left) && ends.size() == left.size();
  bool isEntered = isNest(program, entered);
  auto add = [&](unsigned loop, SyncHazard::WholeTurn which) {
    order.wholeTurns.push_back({loop, which});
  };
  auto addAll = [&](unsigned loop, SyncHazard::WholeTurn which,
                    llvm::function_ref<bool(unsigned)> isMore) {
    order.wholeTurns.append(countTurns(loop, isMore), {loop, which});
  };
  if (ends.size() == left.size())
    for (auto [loop, end] : llvm::zip_equal(left, ends))
      if (isNever(end, {}))
        addAll(loop, SyncHazard::AfterFirst, [&, end = end](unsigned number) {
          LoopEnd earlier = end;
          earlier.most += number;
          return isNever(earlier, {});
        });
  if (order.wholeTurns.empty() && isLeft && left.size() > 1 &&
      isNever(ends, {}))
    add(left.back(), SyncHazard::Either);
  size_t numAfter = order.wholeTurns.size();
  for (unsigned loop : entered)
    if (isNever({}, loop))
      addAll(loop, SyncHazard::BeforeSecond, [&](unsigned number) {
        return isExcluded([&](PairRelation &relation) {
          relation.turns.push_back({tree.getLoop(loop), 0, number});
        });
      });
  bool isBefore = order.wholeTurns.size() != numAfter;
  if (!isBefore && isEntered && entered.size() > 1 && isNever({}, entered))
    add(entered.back(), SyncHazard::Either);
  if (order.wholeTurns.empty() && isLeft && isEntered &&
      left.back() == entered.back() && isNever(ends, entered))
    add(left.back(), SyncHazard::Either);
}

/// How many whole turns of `loop` lie between, of which the first does: those
/// for which `isMore`, by how many lie before it. Where a branch is taken in
/// every second turn, one of several takes it; without one, all are alike.
unsigned NarrowedWays::countTurns(
    unsigned loop, llvm::function_ref<bool(unsigned number)> isMore) const {
  constexpr unsigned kMost = 4;
  auto isBranch = [&](unsigned item) {
    return program.nodes[item].kind == SyncNode::Branch &&
           (!isOfUse || isOfUse(item));
  };
  unsigned body = program.nodes[loop].parts.front(), count = 1;
  if (llvm::any_of(program.sequences[body].items, isBranch))
    while (count < kMost && isMore(count))
      ++count;
  return count;
}

/// What is far: turns lie between whole if no threads meet that are fewer turns
/// apart.
void NarrowedWays::addTurnsBetween() {
  if (order.isFar)
    order.numWhole = countTurns(*order.loop, [&](unsigned number) {
      return isExcluded(
          [&](PairRelation &relation) { relation.most = number + 1; });
    });
}

/// True if the threads do not meet where `loop` has no turn. Loops of one
/// length are asked for once.
bool NarrowedWays::hasTurnBetween(unsigned loop) {
  SymbolicIndex &index = conflicts.getIndex();
  LoopEnd none = getNoTurn(tree.getLoop(loop));
  std::optional<SymbolicCondition> condition = index.getCondition(none);
  if (!condition || !index.isSteady(none.loop))
    return false;
  auto *it = llvm::find_if(
      skipped, [&](const auto &known) { return known.first == *condition; });
  if (it != skipped.end())
    return it->second;
  bool hasTurn = isExcluded(
      [&](PairRelation &relation) { relation.ends.push_back(none); });
  skipped.emplace_back(std::move(*condition), hasTurn);
  return hasTurn;
}

bool NarrowedWays::addLoop(unsigned loop) {
  if (!hasTurnBetween(loop))
    return false;
  order.wholeTurns.push_back({loop, SyncHazard::Passed});
  return true;
}

/// Adds an arm of `branch` that is always taken where that is passed in `turn`.
bool NarrowedWays::addBranch(unsigned branch, const SyncTurn &turn) {
  unsigned step = turn.isSecond ? order.to : order.from;
  PairRelation::Arm arm;
  arm.branch = tree.getBranch(branch);
  arm.isOfSecond = turn.isSecond;
  // The loops of which it is known in which turn that is.
  SmallVector<const KernelLoop *> loops;
  for (auto [loop, around] :
       llvm::zip(tree.getLoopsAround(branch), tree.getLoopsAround(step))) {
    const KernelLoop *turning = tree.getLoop(loop);
    if (loop != around ||
        (turn.isOther &&
         !llvm::is_contained(hazard.relation.sameTurn, turning)))
      break;
    loops.push_back(turning);
    if (turn.whole != loop)
      continue;
    arm.loop = turning;
    arm.later = 1 + int64_t(turn.number);
    if (turn.isSecond)
      arm.later = -arm.later;
    break;
  }
  for (auto [number, part] : llvm::enumerate(program.nodes[branch].parts)) {
    arm.number = number;
    if (decisions.isIndependent(question, arm) ||
        !dependsOnly(conflicts, arm.branch, number, loops) ||
        !isExcluded(
            [&](PairRelation &relation) { relation.avoided.push_back(arm); }))
      continue;
    order.taken.push_back({part, turn});
    return true;
  }
  return false;
}

bool NarrowedWays::isVisited(unsigned node, const SyncTurn &turn) {
  SmallVector<SyncTurn, 2> &turns = visited[node];
  if (llvm::is_contained(turns, turn))
    return true;
  turns.push_back(turn);
  return false;
}

/// Asks for what is passed; true if more may be passed for that.
bool NarrowedWays::addPassed() {
  SmallVector<std::pair<unsigned, SyncTurn>> passed;
  auto ignore = [](SyncGap) {};
  auto add = [&](unsigned node, const SyncTurn &turn) {
    bool isBarrier = program.nodes[node].kind == SyncNode::Barrier;
    if (!isBarrier && (!isOfUse || isOfUse(node)) && !isVisited(node, turn))
      passed.push_back({node, turn});
  };
  SyncWays(program, {ignore, add, add}).walk(order);
  bool isChanged = false;
  for (const auto &[node, turn] : passed)
    isChanged |= program.nodes[node].kind == SyncNode::Loop
                     ? addLoop(node)
                     : addBranch(node, turn);
  return isChanged;
}

SyncHazard NarrowedWays::find() {
  addTurns();
  addTurnsBetween();
  while (addPassed())
    continue;
  return order;
}

/// True if what is known of ways is asked for: between a copy and what it is
/// done at there are turns of other kinds.
static bool hasWays(const Hazard &hazard, const SyncTree &tree) {
  const SyncHazard &order = hazard.order;
  return !tree.getCompletion(hazard.first) &&
         (order.loop || order.from != order.to);
}

std::vector<Hazard> split(const Hazard &hazard, const SyncTree &tree,
                          ThreadConflicts &conflicts) {
  const SyncHazard &order = hazard.order;
  if (!hasWays(hazard, tree))
    return {hazard};
  auto left = getLoopsApart(tree, order.from, order.to, order);
  auto entered = getLoopsApart(tree, order.to, order.from, order);
  const SyncProgram &program = tree.getProgram();
  if (!isNest(program, left) || !isNest(program, entered) ||
      left.back() == entered.back())
    return {hazard};
  // In the last turn of all loops; or, from the innermost on, not in that of
  // one.
  std::vector<PairRelation> relations;
  PairRelation last = hazard.relation;
  for (unsigned loop : llvm::reverse(left)) {
    LoopEnd end = *getLastTurn(tree, hazard, loop);
    PairRelation earlier = last;
    end.isNot = true;
    earlier.ends.push_back(end);
    relations.push_back(std::move(earlier));
    end.isNot = false;
    last.ends.push_back(end);
  }
  PairRelation both = last;
  for (unsigned loop : entered)
    both.turns.push_back({tree.getLoop(loop), 0, 0});
  if (conflicts.find(hazard.first, hazard.second, both))
    return {hazard};
  relations.push_back(std::move(last));
  std::vector<Hazard> parts;
  for (PairRelation &relation : relations) {
    Hazard part = hazard;
    part.conflict = conflicts.find(hazard.first, hazard.second, relation);
    part.relation = std::move(relation);
    if (part.conflict)
      parts.push_back(std::move(part));
  }
  return parts;
}

SyncHazard narrow(const Hazard &hazard, const SyncTree &tree,
                  ThreadConflicts &conflicts, ArmDecisions &decisions,
                  llvm::function_ref<bool(unsigned)> isOfUse) {
  if (!hasWays(hazard, tree))
    return hazard.order;
  return NarrowedWays(hazard, tree, conflicts, decisions, isOfUse).find();
}

} // namespace mlir::workgroup
