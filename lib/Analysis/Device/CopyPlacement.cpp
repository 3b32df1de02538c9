//===- CopyPlacement.cpp - The fewest copies between two memories ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prices of parts are computed from the inside out, as tables by the state
// before and the state behind; then copies are placed from the outside in.
//
//===----------------------------------------------------------------------===//

#include "CopyPlacement.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

CopyCost CopyCost::ofCopy(unsigned level) {
  CopyCost cost;
  cost.counts.resize(level + 1);
  cost.counts.back() = 1;
  return cost;
}

CopyCost &CopyCost::operator+=(const CopyCost &other) {
  if (counts.size() < other.counts.size())
    counts.resize(other.counts.size());
  for (auto [count, more] : llvm::zip(counts, other.counts))
    count += more;
  return *this;
}

bool CopyCost::operator<(const CopyCost &other) const {
  auto get = [](const CopyCost &cost, size_t level) {
    return level < cost.counts.size() ? cost.counts[level] : 0;
  };
  for (size_t level = std::max(counts.size(), other.counts.size());
       level-- > 0;)
    if (get(*this, level) != get(other, level))
      return get(*this, level) < get(other, level);
  return false;
}

using CopyPrice = std::optional<CopyCost>;

/// All that a buffer may be in for sure.
constexpr std::array<Sides, 4> kStates = {kNoSide, kHostSide, kDeviceSide,
                                          kBothSides};

static CopyPrice add(const CopyPrice &lhs, const CopyPrice &rhs) {
  if (!lhs || !rhs)
    return std::nullopt;
  CopyCost sum = *lhs;
  sum += *rhs;
  return sum;
}

static bool isCheaper(const CopyPrice &lhs, const CopyPrice &rhs) {
  return lhs && (!rhs || *lhs < *rhs);
}

/// The price of getting from one state to another between two nodes. What is in
/// neither memory cannot be copied.
static CopyPrice getMovePrice(Sides from, Sides to, unsigned level) {
  if ((to & ~from) == 0)
    return CopyCost();
  return from ? CopyPrice(CopyCost::ofCopy(level)) : std::nullopt;
}

/// The states in the order in which they are tried behind `from`: as few copies
/// as possible, and no more forgotten than has to be.
static std::array<Sides, 4> getMoves(Sides from) {
  switch (from) {
  case kNoSide:
    return {kNoSide, kHostSide, kDeviceSide, kBothSides};
  case kBothSides:
    return {kBothSides, kHostSide, kDeviceSide, kNoSide};
  default:
    return {from, kNoSide, kBothSides, kBothSides & ~from};
  }
}

/// The states there may be behind a node that is entered in `before`.
static std::array<Sides, 4> getBehind(Sides before) { return getMoves(before); }

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

CopyPlacement::Rest CopyPlacement::evaluateRest(const CopySequence &sequence,
                                                Sides to, unsigned level) {
  Rest rest(sequence.size() + 1);
  for (Sides state : kStates)
    rest.back()[state] = getMovePrice(state, to, level);
  for (size_t i = sequence.size(); i-- > 0;) {
    const Prices &prices = getPrices(sequence[i], level);
    std::array<CopyPrice, 4> entered;
    for (Sides before : kStates)
      for (Sides behind : getBehind(before))
        if (CopyPrice price = add(prices[before][behind], rest[i + 1][behind]);
            isCheaper(price, entered[before]))
          entered[before] = price;
    for (Sides state : kStates)
      for (Sides before : getMoves(state))
        if (CopyPrice price =
                add(getMovePrice(state, before, level), entered[before]);
            isCheaper(price, rest[i][state]))
          rest[i][state] = price;
  }
  return rest;
}

CopyPlacement::Prices CopyPlacement::evaluate(const CopySequence &sequence,
                                              unsigned level) {
  Prices prices;
  for (Sides to : kStates) {
    std::array<CopyPrice, 4> first = evaluateRest(sequence, to, level).front();
    for (Sides from : kStates)
      prices[from][to] = first[from];
  }
  return prices;
}

CopyPlacement::Prices CopyPlacement::evaluate(const CopyNode &node,
                                              unsigned level) {
  Prices prices;
  if (node.kind == CopyNode::Kind::Step) {
    for (Sides before : kStates)
      if ((node.needs & ~before) == 0)
        prices[before][node.leaves.value_or(before)] = CopyCost();
    return prices;
  }
  bool isBranch = node.kind == CopyNode::Kind::Branch;
  llvm::SmallVector<Prices, 2> parts;
  for (const CopySequence &region : node.regions)
    parts.push_back(evaluate(region, isBranch ? level : level + 1));
  for (Sides before : kStates)
    for (Sides behind : kStates) {
      CopyPrice &price = prices[before][behind];
      if (node.kind == CopyNode::Kind::While) {
        price = add(parts[0][before][behind], parts[1][behind][before]);
      } else if (isBranch || before == behind) {
        price = CopyCost();
        for (const Prices &part : parts)
          price = add(price, part[before][behind]);
      }
    }
  return prices;
}

const CopyPlacement::Prices &CopyPlacement::getPrices(const CopyNode &node,
                                                      unsigned level) {
  auto it = known.find(&node);
  if (it == known.end()) {
    Prices prices = evaluate(node, level);
    it = known.try_emplace(&node, std::move(prices)).first;
  }
  return it->second;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void CopyPlacement::placeMove(const CopySequence &sequence, unsigned position,
                              Sides from, Sides to) {
  if (Sides missing = to & ~from)
    copies.push_back({&sequence, position, missing});
}

void CopyPlacement::place(const CopySequence &sequence, Sides from, Sides to,
                          unsigned level) {
  Rest rest = evaluateRest(sequence, to, level);
  Sides state = from;
  for (unsigned i = 0, e = sequence.size(); i != e; ++i) {
    // Copied, because placing what is in a node looks up others.
    Prices prices = getPrices(sequence[i], level);
    CopyPrice best;
    Sides chosenBefore = state, chosenBehind = state;
    for (Sides before : getMoves(state))
      for (Sides behind : getBehind(before)) {
        CopyPrice price =
            add(add(getMovePrice(state, before, level), prices[before][behind]),
                rest[i + 1][behind]);
        if (!isCheaper(price, best))
          continue;
        best = price;
        chosenBefore = before;
        chosenBehind = behind;
      }
    assert(best && "some state can always be got to");
    placeMove(sequence, i, state, chosenBefore);
    place(sequence[i], chosenBefore, chosenBehind, level);
    state = chosenBehind;
  }
  placeMove(sequence, sequence.size(), state, to);
}

void CopyPlacement::place(const CopyNode &node, Sides from, Sides to,
                          unsigned level) {
  switch (node.kind) {
  case CopyNode::Kind::Step:
    return;
  case CopyNode::Kind::Branch:
  case CopyNode::Kind::Loop: {
    bool isLoop = node.kind == CopyNode::Kind::Loop;
    for (const CopySequence &region : node.regions)
      place(region, from, to, isLoop ? level + 1 : level);
    return;
  }
  case CopyNode::Kind::While:
    place(node.regions[0], from, to, level + 1);
    place(node.regions[1], to, from, level + 1);
    return;
  }
}

CopyPlacement::CopyPlacement(const CopySequence &program, Sides entry,
                             Sides exit) {
  // What is not needed need not be there: the cheapest of the states that do.
  CopyPrice best;
  Sides end = exit;
  for (Sides to : kStates) {
    if (exit & ~to)
      continue;
    if (CopyPrice price = evaluateRest(program, to, 0).front()[entry];
        isCheaper(price, best)) {
      best = price;
      end = to;
    }
  }
  assert(best && "some state can always be got to");
  cost = *best;
  place(program, entry, end, 0);
}

} // namespace mlir::workgroup
