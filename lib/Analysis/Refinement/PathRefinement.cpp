//===- PathRefinement.cpp - What lies between for certain -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shortest path from one access to another leaves a loop in the iteration
// of the first one, and reaches the second one in the first iteration. Where
// threads do not meet by that, a whole iteration lies between. Likewise the
// branch region of a branch, if no two of them that do without it meet.
//
//===----------------------------------------------------------------------===//

#include "PathRefinement.h"
#include "Analysis/Placement/HazardPaths.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Iterations and branch regions
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

std::optional<LoopEnd> getLastIteration(const SyncTree &tree,
                                        const Hazard &hazard, unsigned loop) {
  unsigned from = hazard.order.from, first = tree.getStep(hazard.first);
  int64_t iterations = 0;
  const AsyncCompletion *done = tree.getCompletion(hazard.first);
  if (done && done->inLoop && done->inLoop->step == from) {
    if (!done->inLoop->isAround || done->inLoop->loop != loop)
      return std::nullopt; // of other iterations than the access
    iterations = done->inLoop->iterations;
  }
  LoopEnd end;
  end.loop = tree.getLoop(loop);
  end.isBeforeTest = tree.isBeforeTest(first, loop);
  end.most = iterations + !tree.isBeforeTest(from, loop) + end.isBeforeTest;
  return end;
}

LoopEnd getNoIteration(const KernelLoop *loop) {
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

bool dependsOnly(ThreadConflicts &conflicts, Operation *branch, unsigned region,
                 ArrayRef<const KernelLoop *> loops) {
  auto condition =
      conflicts.getIndex().getConditions().getDecision(branch, region);
  return condition && dependsOnly(*condition, loops);
}

//===----------------------------------------------------------------------===//
// What paths have in common
//===----------------------------------------------------------------------===//

namespace {

/// Finds what all paths pass that are gone.
class NarrowedPaths {
public:
  NarrowedPaths(const Hazard &hazard, const SyncTree &tree,
                ThreadConflicts &conflicts, BranchRelevance &decisions,
                llvm::function_ref<bool(unsigned)> isOfUse)
      : hazard(hazard), tree(tree), program(tree.getProgram()),
        conflicts(conflicts), decisions(decisions),
        question(decisions.getQuestion(hazard)), isOfUse(isOfUse),
        order(hazard.order) {}

  SyncHazard find();

private:
  bool isExcluded(llvm::function_ref<void(PairRelation &)> restrict) const;
  bool isNeverLast(unsigned loop, unsigned number) const;
  bool isNeverFirst(unsigned loop, unsigned number) const;
  bool isNeverLastAndFirst(unsigned loop) const;
  void addIterations();
  unsigned
  countIterations(unsigned loop,
                  llvm::function_ref<bool(unsigned number)> isMore) const;
  void addIterationsBetween();
  bool addPassed();
  bool hasIterationBetween(unsigned loop);
  bool addLoop(unsigned loop);
  bool addBranch(unsigned branch, const SyncIteration &iteration);
  bool isVisited(unsigned node, const SyncIteration &iteration);

  const Hazard &hazard;
  const SyncTree &tree;
  const SyncProgram &program;
  ThreadConflicts &conflicts;
  BranchRelevance &decisions;
  BranchRelevance::Question question;
  llvm::function_ref<bool(unsigned)> isOfUse;
  SyncHazard order;
  /// Questions that have been asked: for loops, by the condition under which
  /// they have no iteration.
  DenseMap<unsigned, SmallVector<SyncIteration, 2>> visited;
  SmallVector<std::pair<SymbolicCondition, bool>, 2> skipped;
};

} // namespace

/// True if the threads do not meet in what is left of their relation.
bool NarrowedPaths::isExcluded(
    llvm::function_ref<void(PairRelation &)> restrict) const {
  PairRelation relation = hazard.relation;
  restrict(relation);
  return !conflicts.canMeet(hazard.first, hazard.second, relation);
}

/// True if the threads do not meet where the first access is in the last
/// iteration of `loop`, or in one of the `number` iterations before that.
bool NarrowedPaths::isNeverLast(unsigned loop, unsigned number) const {
  LoopEnd end = *getLastIteration(tree, hazard, loop);
  end.most += number;
  return isExcluded(
      [&](PairRelation &relation) { relation.ends.push_back(end); });
}

/// True if the threads do not meet where the second access is in the first
/// iteration of `loop`, or in one of the `number` iterations behind that.
bool NarrowedPaths::isNeverFirst(unsigned loop, unsigned number) const {
  return isExcluded([&](PairRelation &relation) {
    relation.iterations.push_back({tree.getLoop(loop), 0, number});
  });
}

/// True if the threads do not meet where both is so.
bool NarrowedPaths::isNeverLastAndFirst(unsigned loop) const {
  return isExcluded([&](PairRelation &relation) {
    relation.ends.push_back(*getLastIteration(tree, hazard, loop));
    relation.iterations.push_back({tree.getLoop(loop), 0, 0});
  });
}

/// The first access need not be in the last iteration of its loops, nor the
/// second one in the first iteration: but if threads do not meet when it is, a
/// whole iteration of that loop lies between. So it does, on one side or the
/// other, if they do not meet when both accesses are there.
void NarrowedPaths::addIterations() {
  auto left = getLoopsApart(tree, order.from, order.to, order);
  auto entered = getLoopsApart(tree, order.to, order.from, order);
  if (isOfUse && llvm::none_of(left, isOfUse) &&
      llvm::none_of(entered, isOfUse))
    return;
  auto add = [&](unsigned loop, SyncHazard::WholeIteration which,
                 llvm::function_ref<bool(unsigned)> isMore) {
    bool isBetween = isMore(0);
    if (isBetween)
      order.wholeIterations.append(countIterations(loop, isMore),
                                   {loop, which});
    return isBetween;
  };
  DenseSet<unsigned> settled;
  for (unsigned loop : left)
    if (add(loop, SyncHazard::AfterFirst,
            [&](unsigned number) { return isNeverLast(loop, number); }))
      settled.insert(loop);
  for (unsigned loop : entered)
    if (add(loop, SyncHazard::BeforeSecond,
            [&](unsigned number) { return isNeverFirst(loop, number); }))
      settled.insert(loop);
  for (unsigned loop : left)
    if (llvm::is_contained(entered, loop) && !settled.contains(loop) &&
        isNeverLastAndFirst(loop))
      order.wholeIterations.push_back({loop, SyncHazard::OnEitherSide});
}

/// The number of whole iterations of `loop` that lie between, of which the
/// first does: those for which `isMore`, given the number of those before. If a
/// branch is taken in every second iteration, one of several takes it; without
/// a branch, all iterations are alike.
unsigned NarrowedPaths::countIterations(
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

/// Adds whole iterations between two accesses that are far apart: so many that
/// no threads meet which are fewer iterations apart.
void NarrowedPaths::addIterationsBetween() {
  if (order.isFar)
    order.numWhole = countIterations(*order.loop, [&](unsigned number) {
      return isExcluded(
          [&](PairRelation &relation) { relation.most = number + 1; });
    });
}

/// True if the threads do not meet where `loop` has no iteration. Loops of one
/// length are asked for once.
bool NarrowedPaths::hasIterationBetween(unsigned loop) {
  SymbolicIndex &index = conflicts.getIndex();
  LoopEnd none = getNoIteration(tree.getLoop(loop));
  std::optional<SymbolicCondition> condition =
      index.getLoopForms().getCondition(none);
  if (!condition || !index.getLoopForms().isSteady(none.loop))
    return false;
  auto *it = llvm::find_if(
      skipped, [&](const auto &known) { return known.first == *condition; });
  if (it != skipped.end())
    return it->second;
  bool hasIteration = isExcluded(
      [&](PairRelation &relation) { relation.ends.push_back(none); });
  skipped.emplace_back(std::move(*condition), hasIteration);
  return hasIteration;
}

bool NarrowedPaths::addLoop(unsigned loop) {
  if (!hasIterationBetween(loop))
    return false;
  order.wholeIterations.push_back({loop, SyncHazard::Passed});
  return true;
}

/// Adds a region of `branch` that is always taken where that is passed in
/// `iteration`.
bool NarrowedPaths::addBranch(unsigned branch, const SyncIteration &iteration) {
  unsigned step = iteration.isSecond ? order.to : order.from;
  PairRelation::BranchRegion region;
  region.branch = tree.getBranch(branch);
  region.isOfSecond = iteration.isSecond;
  // The loops of which it is known in which iteration that is.
  SmallVector<const KernelLoop *> loops;
  for (auto [loop, around] :
       llvm::zip(tree.getLoopsAround(branch), tree.getLoopsAround(step))) {
    const KernelLoop *turning = tree.getLoop(loop);
    if (loop != around ||
        (iteration.isOther &&
         !llvm::is_contained(hazard.relation.sameIteration, turning)))
      break;
    loops.push_back(turning);
    if (iteration.whole != loop)
      continue;
    region.loop = turning;
    region.later = 1 + int64_t(iteration.number);
    if (iteration.isSecond)
      region.later = -region.later;
    break;
  }
  for (auto [number, part] : llvm::enumerate(program.nodes[branch].parts)) {
    region.number = number;
    if (decisions.isIndependent(question, region) ||
        !dependsOnly(conflicts, region.branch, number, loops) ||
        !isExcluded([&](PairRelation &relation) {
          relation.avoided.push_back(region);
        }))
      continue;
    order.taken.push_back({part, iteration});
    return true;
  }
  return false;
}

bool NarrowedPaths::isVisited(unsigned node, const SyncIteration &iteration) {
  SmallVector<SyncIteration, 2> &iterations = visited[node];
  if (llvm::is_contained(iterations, iteration))
    return true;
  iterations.push_back(iteration);
  return false;
}

/// Asks for what is passed; true if more may be passed for that.
bool NarrowedPaths::addPassed() {
  SmallVector<std::pair<unsigned, SyncIteration>> passed;
  auto ignore = [](SyncPoint) {};
  auto add = [&](unsigned node, const SyncIteration &iteration) {
    bool isBarrier = program.nodes[node].kind == SyncNode::Barrier;
    if (!isBarrier && (!isOfUse || isOfUse(node)) &&
        !isVisited(node, iteration))
      passed.push_back({node, iteration});
  };
  HazardPaths(program, {ignore, add, add}).walk(order);
  bool isChanged = false;
  for (const auto &[node, iteration] : passed)
    isChanged |= program.nodes[node].kind == SyncNode::Loop
                     ? addLoop(node)
                     : addBranch(node, iteration);
  return isChanged;
}

SyncHazard NarrowedPaths::find() {
  addIterations();
  addIterationsBetween();
  while (addPassed())
    continue;
  return order;
}

/// True if what is known of paths is asked for: between a copy and what it is
/// done at there are iterations of other kinds.
static bool hasPaths(const Hazard &hazard, const SyncTree &tree) {
  const SyncHazard &order = hazard.order;
  return !tree.getCompletion(hazard.first) &&
         (order.loop || order.from != order.to);
}

SyncHazard narrow(const Hazard &hazard, const SyncTree &tree,
                  ThreadConflicts &conflicts, BranchRelevance &decisions,
                  llvm::function_ref<bool(unsigned)> isOfUse) {
  if (!hasPaths(hazard, tree))
    return hazard.order;
  return NarrowedPaths(hazard, tree, conflicts, decisions, isOfUse).find();
}

} // namespace mlir::workgroup
