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

/// The candidates of the block. A point that is of use to warps alone is one of
/// them, too: a barrier there may do for both.
static PlacementCandidates getCandidates(const PlacementProblem::Orders &block,
                                         const PlacementCandidates &ofWarps,
                                         const WarpOrders &warps,
                                         Existing existing) {
  auto isUseful = [&](SyncPoint point) {
    std::optional<SyncPoint> same = warps.getPoint(point);
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
  for (auto [choice, point] : enumerate(points))
    if (std::optional<SyncPoint> same = warps.getPoint(point))
      warp->choicesAt[{same->sequence, same->index}].push_back(choice);
  addChoices(*warp);
  addDemands(block);
  addDemands(*warp);
}

unsigned PlacementProblem::getDeepest(const Layer &layer) {
  unsigned deepest = 0;
  for (SyncPoint point : layer.candidates.getPoints())
    deepest =
        std::max(deepest, getSyncLevel(layer.orders.program, point.sequence));
  return deepest;
}

/// The deepest level comes first, at each level barriers of the block before
/// those of warps. Last of all, barriers count that are new.
void PlacementProblem::addChoices(Layer &layer) {
  for (SyncPoint point : layer.candidates.getPoints()) {
    layer.choicesAt[{point.sequence, point.index}].push_back(points.size());
    points.push_back(point);
    numOfBlock += &layer == &block;
    unsigned level =
        deepest - getSyncLevel(layer.orders.program, point.sequence);
    HittingSetProblem::Choice &choice = problem.choices.emplace_back();
    choice.price = Price(problem.priceSize);
    choice.price[warp ? 2 * level + (&layer != &block) : level] = 1;
    choice.rank = layer.candidates.getRank(point);
    if (replaceExisting)
      choice.price[problem.priceSize - 1] = !layer.candidates.isExisting(point);
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

unsigned PlacementProblem::addDemand(Layer &layer, const Cover &cover) {
  SmallVector<unsigned, 0> &demand =
      problem.demands.emplace_back(cover.choices);
  for (unsigned branch : cover.branches)
    demand.push_back(getRegions(layer, branch).choice);
  sort(demand);
  demand.erase(llvm::unique(demand), demand.end());
  return problem.demands.size() - 1;
}

/// Adds the demand of a hazard. One that no barrier of warps can cover is left
/// out.
void PlacementProblem::addHazard(Layer &layer, unsigned number) {
  bool isOfBlock = &layer == &block;
  const SyncHazard &hazard = layer.orders.hazards[number];
  Cover cover =
      getCover(layer, [&](const HazardPaths &paths) { paths.walk(hazard); });
  if (cover.isCertain)
    return;
  if (!cover.isPossible()) {
    if (isOfBlock)
      uncovered.push_back(number);
    return;
  }
  unsigned demand = addDemand(layer, cover);
  problem.required.push_back(demand);
  if (isOfBlock)
    demandsOfBlock.push_back({demand, number});
}

/// Asking a branch region may bring in further branches, inside of it.
void PlacementProblem::addBranches(Layer &layer) {
  for (unsigned next = 0; next != layer.branches.size(); ++next) {
    const Regions &regions = getRegions(layer, layer.branches[next]);
    for (const Cover &cover : regions.open) {
      unsigned demand = addDemand(layer, cover);
      problem.choices[regions.choice].demands.push_back(demand);
    }
  }
}

PlacementProblem::Cover
PlacementProblem::getCover(Layer &layer,
                           function_ref<void(const HazardPaths &)> walk) {
  Cover cover;
  walk(HazardPaths(layer.orders.program,
                   {[&](SyncPoint point) {
                      append_range(cover.choices,
                                   layer.choicesAt.lookup(
                                       {point.sequence, point.index}));
                    },
                    [&](unsigned node, const SyncIteration &) {
                      addNode(layer, cover, node);
                    }}));
  return cover;
}

void PlacementProblem::addNode(Layer &layer, Cover &cover, unsigned number) {
  const SyncNode &node = layer.orders.program.nodes[number];
  if (node.kind == SyncNode::Barrier) {
    cover.isCertain |= !replaceExisting || !isReplaceable(node);
    return;
  }
  const Regions &regions = getRegions(layer, number);
  cover.isCertain |= regions.kind == Regions::Always;
  if (regions.kind == Regions::Demands)
    cover.branches.push_back(number);
}

const PlacementProblem::Regions &PlacementProblem::getRegions(Layer &layer,
                                                              unsigned branch) {
  if (auto it = layer.regionsOf.find(branch); it != layer.regionsOf.end())
    return *it->second;
  auto regions = std::make_unique<Regions>();
  const SyncNode &node = layer.orders.program.nodes[branch];
  bool isPossible = !node.parts.empty();
  for (unsigned region : node.parts) {
    if (layer.orders.program.sequences[region].isNeverTaken)
      continue;
    Cover cover = getCover(
        layer, [&](const HazardPaths &paths) { paths.walkRegion(region); });
    isPossible &= cover.isPossible();
    if (!cover.isCertain)
      regions->open.push_back(std::move(cover));
  }
  if (isPossible)
    regions->kind = regions->open.empty() ? Regions::Always : Regions::Demands;
  if (regions->kind == Regions::Demands) {
    regions->choice = problem.choices.size();
    problem.choices.emplace_back().price = Price(problem.priceSize);
    layer.branches.push_back(branch);
  }
  return *(layer.regionsOf[branch] = std::move(regions));
}

//===----------------------------------------------------------------------===//
// Certificates
//===----------------------------------------------------------------------===//

/// The points that can contribute to meeting a demand.
BitVector PlacementProblem::getSupport(unsigned demand) const {
  BitVector support(points.size());
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

/// Takes hazards that share no point with those taken before, in three orders:
/// by their last point, which is best where hazards are intervals, by their
/// first one, and by how many they have. Returns most that one of these finds.
SmallVector<unsigned> PlacementProblem::getCertificate() const {
  SmallVector<BitVector, 0> supports;
  for (auto [demand, _] : demandsOfBlock)
    supports.push_back(getSupport(demand));
  auto keys = {+[](const BitVector &points) { return points.find_last(); },
               +[](const BitVector &points) { return -points.find_first(); },
               +[](const BitVector &points) {
                 return static_cast<int>(points.count());
               }};
  SmallVector<unsigned> best;
  for (auto *key : keys) {
    SmallVector<std::pair<int, unsigned>, 0> order;
    for (auto [number, support] : enumerate(supports))
      order.push_back({key(support), number});
    sort(order);
    BitVector taken(points.size());
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
  placement.uncovered = uncovered;
  placement.certificate = getCertificate();
  for (unsigned choice : set.chosen)
    (choice < numOfBlock ? placement.points : placement.ofWarps)
        .push_back(points[choice]);
  sort(placement.points);
  sort(placement.ofWarps);
  return placement;
}

} // namespace mlir::workgroup
