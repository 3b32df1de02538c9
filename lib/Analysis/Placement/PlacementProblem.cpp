//===- PlacementProblem.cpp - The fewest barriers as hitting set ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlacementProblem.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

PlacementProblem::PlacementProblem(Orders orders, Existing existing)
    : replaceExisting(existing != Existing::Keep),
      block(orders, {orders.program, orders.hazards, existing}) {
  deepest = getDeepest(block);
  problem.priceSize = deepest + 1 + replaceExisting;
  addChoices(block);
  addDemands(block);
}

/// What is of use to warps alone is worth a barrier of the block, too: it may
/// do for both.
static PlacementCandidates getCandidates(const PlacementProblem::Orders &block,
                                         const PlacementCandidates &ofWarps,
                                         const WarpOrders &warps,
                                         Existing existing) {
  auto isUseful = [&](SyncGap gap) {
    std::optional<SyncGap> same = warps.getGap(gap);
    return existing != Existing::Choose && same && ofWarps.contains(*same);
  };
  return {block.program, block.hazards, existing, isUseful};
}

PlacementProblem::PlacementProblem(Orders orders, const WarpOrders &warps,
                                   Existing existing)
    : replaceExisting(existing != Existing::Keep),
      warp(std::in_place, Orders{warps.program, warps.hazards},
           PlacementCandidates(warps.program, warps.hazards, existing)),
      block(orders, getCandidates(orders, warp->candidates, warps, existing)) {
  deepest = std::max(getDeepest(block), getDeepest(*warp));
  problem.priceSize = 2 * (deepest + 1) + replaceExisting;
  addChoices(block);
  for (auto [choice, gap] : enumerate(gaps))
    if (std::optional<SyncGap> same = warps.getGap(gap))
      warp->choicesAt[{same->sequence, same->index}].push_back(choice);
  addChoices(*warp);
  addDemands(block);
  addDemands(*warp);
}

unsigned PlacementProblem::getDeepest(const Layer &layer) {
  unsigned deepest = 0;
  for (SyncGap gap : layer.candidates.getGaps())
    deepest =
        std::max(deepest, getSyncLevel(layer.orders.program, gap.sequence));
  return deepest;
}

/// The deepest level comes first, at each level barriers of the block before
/// those of warps. Last of all, barriers count that are new.
void PlacementProblem::addChoices(Layer &layer) {
  for (SyncGap gap : layer.candidates.getGaps()) {
    layer.choicesAt[{gap.sequence, gap.index}].push_back(gaps.size());
    gaps.push_back(gap);
    numOfBlock += &layer == &block;
    unsigned level = deepest - getSyncLevel(layer.orders.program, gap.sequence);
    HittingSetProblem::Choice &choice = problem.choices.emplace_back();
    choice.price = Price(problem.priceSize);
    choice.price[warp ? 2 * level + (&layer != &block) : level] = 1;
    choice.rank = layer.candidates.getRank(gap);
    if (replaceExisting)
      choice.price[problem.priceSize - 1] = !layer.candidates.isExisting(gap);
  }
}

//===----------------------------------------------------------------------===//
// Demands
//===----------------------------------------------------------------------===//

void PlacementProblem::addDemands(Layer &layer) {
  for (unsigned number = 0; number != layer.orders.hazards.size(); ++number)
    addHazard(layer, number);
  addBranches(layer);
}

unsigned PlacementProblem::addDemand(Layer &layer, const Cut &cut) {
  SmallVector<unsigned, 0> &demand = problem.demands.emplace_back(cut.choices);
  for (unsigned branch : cut.branches)
    demand.push_back(getArms(layer, branch).choice);
  sort(demand);
  demand.erase(llvm::unique(demand), demand.end());
  return problem.demands.size() - 1;
}

/// What no barrier of warps can cut is not this problem's.
void PlacementProblem::addHazard(Layer &layer, unsigned number) {
  bool isOfBlock = &layer == &block;
  const SyncHazard &hazard = layer.orders.hazards[number];
  Cut cut = getCut(layer, [&](const SyncWays &ways) { ways.walk(hazard); });
  if (cut.isCertain)
    return;
  if (!cut.isPossible()) {
    if (isOfBlock)
      uncut.push_back(number);
    return;
  }
  unsigned demand = addDemand(layer, cut);
  problem.required.push_back(demand);
  if (isOfBlock)
    demandsOfBlock.push_back({demand, number});
}

/// Asking an arm may bring in further branches, inside of it.
void PlacementProblem::addBranches(Layer &layer) {
  for (unsigned next = 0; next != layer.branches.size(); ++next) {
    const Arms &arms = getArms(layer, layer.branches[next]);
    for (const Cut &cut : arms.open) {
      unsigned demand = addDemand(layer, cut);
      problem.choices[arms.choice].demands.push_back(demand);
    }
  }
}

PlacementProblem::Cut
PlacementProblem::getCut(Layer &layer,
                         function_ref<void(const SyncWays &)> walk) {
  Cut cut;
  walk(SyncWays(layer.orders.program,
                {[&](SyncGap gap) {
                   append_range(cut.choices, layer.choicesAt.lookup(
                                                 {gap.sequence, gap.index}));
                 },
                 [&](unsigned node, const SyncIteration &) {
                   addNode(layer, cut, node);
                 }}));
  return cut;
}

void PlacementProblem::addNode(Layer &layer, Cut &cut, unsigned number) {
  const SyncNode &node = layer.orders.program.nodes[number];
  if (node.kind == SyncNode::Barrier) {
    cut.isCertain |= !replaceExisting || !isReplaceable(node);
    return;
  }
  const Arms &arms = getArms(layer, number);
  cut.isCertain |= arms.kind == Arms::Always;
  if (arms.kind == Arms::Demands)
    cut.branches.push_back(number);
}

const PlacementProblem::Arms &PlacementProblem::getArms(Layer &layer,
                                                        unsigned branch) {
  if (auto it = layer.armsOf.find(branch); it != layer.armsOf.end())
    return *it->second;
  auto arms = std::make_unique<Arms>();
  const SyncNode &node = layer.orders.program.nodes[branch];
  bool isPossible = !node.parts.empty();
  for (unsigned arm : node.parts) {
    if (layer.orders.program.sequences[arm].isNeverTaken)
      continue;
    Cut cut = getCut(layer, [&](const SyncWays &ways) { ways.walkArm(arm); });
    isPossible &= cut.isPossible();
    if (!cut.isCertain)
      arms->open.push_back(std::move(cut));
  }
  if (isPossible)
    arms->kind = arms->open.empty() ? Arms::Always : Arms::Demands;
  if (arms->kind == Arms::Demands) {
    arms->choice = problem.choices.size();
    problem.choices.emplace_back().price = Price(problem.priceSize);
    layer.branches.push_back(branch);
  }
  return *(layer.armsOf[branch] = std::move(arms));
}

//===----------------------------------------------------------------------===//
// Certificates
//===----------------------------------------------------------------------===//

/// The gaps that can contribute to meeting a demand.
BitVector PlacementProblem::getSupport(unsigned demand) const {
  BitVector support(gaps.size());
  SmallVector<unsigned> worklist{demand};
  while (!worklist.empty()) {
    for (unsigned choice : problem.demands[worklist.pop_back_val()]) {
      if (choice < support.size())
        support.set(choice);
      else
        append_range(worklist, problem.choices[choice].demands);
    }
  }
  return support;
}

/// Takes hazards that share no gap with those taken before, in three orders: by
/// their last gap, which is best where hazards are intervals, by their first
/// one, and by how many they have. Returns most that one of these finds.
SmallVector<unsigned> PlacementProblem::getCertificate() const {
  SmallVector<BitVector, 0> supports;
  for (auto [demand, _] : demandsOfBlock)
    supports.push_back(getSupport(demand));
  auto keys = {
      +[](const BitVector &gaps) { return gaps.find_last(); },
      +[](const BitVector &gaps) { return -gaps.find_first(); },
      +[](const BitVector &gaps) { return static_cast<int>(gaps.count()); }};
  SmallVector<unsigned> best;
  for (auto *key : keys) {
    SmallVector<std::pair<int, unsigned>, 0> order;
    for (auto [number, support] : enumerate(supports))
      order.push_back({key(support), number});
    sort(order);
    BitVector taken(gaps.size());
    SmallVector<unsigned> certificate;
    for (auto [_, number] : order) {
      if (taken.anyCommon(supports[number]))
        continue;
      taken |= supports[number];
      certificate.push_back(demandsOfBlock[number].second);
    }
    if (certificate.size() > best.size())
      best = std::move(certificate);
  }
  sort(best);
  return best;
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

SyncPlacement PlacementProblem::place() {
  HittingSet set = solve(problem);
  SyncPlacement placement;
  placement.isOptimal = set.isOptimal;
  placement.uncut = uncut;
  placement.certificate = getCertificate();
  for (unsigned choice : set.chosen)
    (choice < numOfBlock ? placement.gaps : placement.ofWarps)
        .push_back(gaps[choice]);
  sort(placement.gaps);
  sort(placement.ofWarps);
  return placement;
}

} // namespace mlir::workgroup
