//===- FenceHazards.cpp - What TMA sees of threads ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TMA accesses memory by the asynchronous proxy, threads by the generic one.
// What a thread has done before TMA reads or writes the same bytes needs a
// proxy fence between, and then a barrier unless one thread does both (PTX ISA,
// memory consistency model, proxies). The first fence is found on every path
// between the two; a barrier has to cover the order from there to the copy.
//
//===----------------------------------------------------------------------===//

#include "FenceHazards.h"
#include "Analysis/Placement/HazardPaths.h"

namespace mlir::workgroup {

FenceHazards::FenceHazards(HazardContext &context, HazardCollector &found)
    : context(context), accesses(context.accesses), tree(context.tree),
      program(context.program), conflicts(context.conflicts), found(found) {
  for (const ThreadAccess &access : accesses)
    ofProxy.push_back(isOfAsyncProxy(access));
}

const SyncProgram &FenceHazards::getFenced(MemorySpace space) {
  auto [it, isNew] = fenced.try_emplace(space);
  if (isNew)
    it->second = tree.getFenced(space);
  return it->second;
}

/// Adds what a thread does by one of the accesses, and TMA by the other.
void FenceHazards::visit(unsigned first, unsigned second,
                         ArrayRef<unsigned> around, bool isOrdered,
                         bool isReverse) {
  bool isFirst = ofProxy[first], isSecond = ofProxy[second];
  if (isFirst == isSecond)
    return;
  if (accesses[first].op == accesses[second].op)
    return; // TMA signals an mbarrier by its own proxy
  // Where it is not known when TMA is done, that is told, and fences only of
  // what is known to be of the same memory.
  bool isUndone = context.isUnknown(first) || context.isUnknown(second);
  if (isUndone && !context.haveCommonRoot(first, second))
    return;
  if (isSecond)
    addUnfenced(first, second, around, isOrdered);
  else
    addUnfenced(second, first, around, isReverse);
}

namespace {

/// Finds the proxy fences between what a thread does and what TMA does.
class FencedPaths {
public:
  struct Fence {
    unsigned node;
    /// In which iteration it is passed.
    SyncIteration iteration;
  };

  FencedPaths(const SyncProgram &program, const SyncProgram &fenced,
              const SyncHazard &order)
      : program(program), fenced(fenced), order(order) {}

  /// On every path the first one; none if there is a path without.
  SmallVector<Fence, 1> findFirst() const {
    return find([](const Fence &) { return true; });
  }
  /// True if on every path comes one, and then a barrier: so the thread that
  /// starts the copy knows of what others have fenced.
  bool isMet() const {
    return !find([&](const Fence &fence) {
              return isCovered(program, getOrderBehind(fence), {});
            }).empty();
  }
  SyncHazard getOrderBehind(const Fence &fence) const;

private:
  using Condition = llvm::function_ref<bool(const Fence &)>;

  SmallVector<Fence, 1> find(Condition condition) const {
    auto walk = [&](const HazardPaths &paths) { paths.walk(order); };
    return find(std::nullopt, walk, condition);
  }
  SmallVector<Fence, 1> find(std::optional<SyncIteration> region,
                             llvm::function_ref<void(const HazardPaths &)> walk,
                             Condition condition) const;
  SmallVector<Fence, 1> findInRegions(unsigned branch,
                                      const SyncIteration &iteration,
                                      Condition condition) const;

  /// As barriers see the kernel, and as fences do.
  const SyncProgram &program, &fenced;
  const SyncHazard &order;
};

} // namespace

/// On every path that is walked the first fence for which the condition holds;
/// none if there is a path without. What is walked may be a branch region that
/// is passed in the iteration `region`.
SmallVector<FencedPaths::Fence, 1>
FencedPaths::find(std::optional<SyncIteration> region,
                  llvm::function_ref<void(const HazardPaths &)> walk,
                  Condition condition) const {
  SmallVector<Fence, 1> found;
  auto ignore = [](SyncPoint) {};
  auto visit = [&](unsigned node, const SyncIteration &passed) {
    if (!found.empty())
      return;
    Fence fence{node, region.value_or(passed)};
    if (fenced.nodes[node].kind != SyncNode::Barrier)
      found = findInRegions(node, fence.iteration, condition);
    else if (condition(fence))
      found.push_back(fence);
  };
  walk(HazardPaths(fenced, {ignore, visit}));
  return found;
}

SmallVector<FencedPaths::Fence, 1>
FencedPaths::findInRegions(unsigned branch, const SyncIteration &iteration,
                           Condition condition) const {
  SmallVector<Fence, 1> all;
  for (unsigned part : fenced.nodes[branch].parts) {
    if (fenced.sequences[part].isNeverTaken)
      continue;
    auto walk = [&](const HazardPaths &paths) { paths.walkRegion(part); };
    SmallVector<Fence, 1> found = find(iteration, walk, condition);
    if (found.empty())
      return found;
    llvm::append_range(all, found);
  }
  return all;
}

/// The order from a fence to what TMA does. What is known of branch regions is
/// known of those that are passed in the iteration of one of the accesses.
SyncHazard FencedPaths::getOrderBehind(const Fence &fence) const {
  SyncHazard behind{fence.node, order.to, order.loop, order.isFar};
  bool isSecond = fence.iteration.isSecond;
  if (isSecond) {
    behind.loop = std::nullopt;
    behind.isFar = false;
  }
  if (fence.iteration.isOther || fence.iteration.whole) {
    behind.isFar = false;
    return behind;
  }
  for (auto [region, passed] : order.taken) {
    if (isSecond && !passed.isSecond)
      continue; // of another iteration than both
    behind.taken.push_back({region, passed});
    passed.isSecond = false;
    if (isSecond && passed == SyncIteration())
      behind.taken.push_back({region, passed});
  }
  return behind;
}

/// Adds what a thread does by the first access, and TMA by the second, with no
/// proxy fence on some path between: also if one thread does both.
void FenceHazards::addUnfenced(unsigned first, unsigned second,
                               ArrayRef<unsigned> around, bool isOrdered) {
  PairRelation relation = context.getRelation(around);
  unsigned from = tree.getStep(first), to = tree.getStep(second);
  if (isOrdered)
    addUnfenced({first, second, {from, to, std::nullopt, false}, relation, {}});
  for (unsigned loop : llvm::reverse(around)) {
    relation.carrier = relation.sameIteration.pop_back_val();
    addUnfenced({first, second, {from, to, loop, false}, relation, {}});
    PairRelation later = relation;
    later.least = 2;
    later.most = std::nullopt;
    addUnfenced({first, second, {from, to, loop, true}, later, {}});
  }
}

/// True if a proxy fence comes between what a thread does and what it has TMA
/// do in the same step.
bool FenceHazards::isFencedInStep(unsigned first, unsigned second) const {
  Operation *issue = accesses[second].op;
  for (Operation *at = issue; at; at = at->getParentOp()) {
    Operation *before =
        at->getBlock()->findAncestorOpInBlock(*accesses[first].op);
    if (!before)
      continue;
    while (before != at && (before = before->getNextNode()))
      if (isProxyFence(before, accesses[second].space))
        return true;
    return false;
  }
  return false;
}

void FenceHazards::addUnfenced(Hazard hazard) {
  const SyncProgram &fenced = getFenced(accesses[hazard.second].space);
  SyncHazard order = hazard.order;
  bool isMet = FencedPaths(program, fenced, order).isMet();
  if (isMet && context.isOpenOnly)
    return;
  auto isConflict = [&](bool isFenced) {
    hazard.relation.mayBeSame = !isFenced;
    hazard.conflict =
        conflicts.find(hazard.first, hazard.second, hazard.relation);
    return bool(hazard.conflict);
  };
  bool isInStep = order.from == order.to && !order.loop;
  bool isFenced = isInStep ? isFencedInStep(hazard.first, hazard.second)
                           : isCovered(fenced, order, {});
  if (!isConflict(isFenced))
    return;
  if (!isMet && !isInStep) {
    order = found.narrowAroundSync(hazard);
    if (context.isOpenOnly && FencedPaths(program, fenced, order).isMet())
      return;
    bool isFencedOnAll = isCovered(fenced, order, {});
    if (isFencedOnAll && !isFenced && !isConflict(true))
      return;
    isFenced = isFencedOnAll;
  }
  if (isFenced && context.choosesBarriers()) {
    // A barrier has to come behind the fence.
    FencedPaths paths(program, fenced, order);
    for (const FencedPaths::Fence &fence : paths.findFirst()) {
      hazard.order = paths.getOrderBehind(fence);
      found.keep(hazard);
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
  hazard.isUnfenced = !isFenced;
  found.keep(std::move(hazard));
}

} // namespace mlir::workgroup
