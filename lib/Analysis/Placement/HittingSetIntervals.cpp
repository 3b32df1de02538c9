//===- HittingSetIntervals.cpp - Demands that are intervals ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HittingSetIntervals.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::workgroup {

/// The demand's choices are one run, or one at each end of the choices.
bool Intervals::addArc(const BitVector &demand,
                       const SmallVectorImpl<int> &positions) {
  SmallVector<std::pair<unsigned, unsigned>, 3> runs;
  for (unsigned choice : demand.set_bits()) {
    unsigned position = positions[choice];
    if (!runs.empty() && runs.back().second + 1 == position)
      runs.back().second = position;
    else if (runs.size() == 2)
      return false;
    else
      runs.push_back({position, position});
  }
  if (runs.size() < 2) {
    arcs.append(runs.begin(), runs.end());
    return !runs.empty();
  }
  if (runs.front().first != 0 || runs.back().second + 1 != choices.size())
    return false;
  arcs.push_back({runs.back().first, runs.front().second});
  return true;
}

/// A position that no arc goes on from.
std::optional<unsigned> Intervals::findSeam() const {
  unsigned size = choices.size();
  SmallVector<int, 0> change(size + 1, 0);
  for (auto [first, last] : arcs) {
    ++change[first];
    --change[last];
    change[0] += last < first;
  }
  int covering = 0;
  std::optional<unsigned> seam;
  for (unsigned position = 0; position != size; ++position) {
    covering += change[position];
    if (covering == 0)
      seam = position;
  }
  return seam;
}

std::optional<Intervals> Intervals::get(const HittingSetMatrix &matrix,
                                        const HittingSetState &state) {
  Intervals result(matrix);
  BitVector used(matrix.getNumChoices());
  SmallVector<BitVector, 0> demands;
  for (unsigned demand : state.open.set_bits()) {
    demands.push_back(state.getChoices(matrix, demand));
    used |= demands.back();
  }
  if (used.anyCommon(matrix.getConditions()))
    return std::nullopt;
  SmallVector<int, 0> positions(matrix.getNumChoices(), -1);
  for (unsigned choice : used.set_bits()) {
    positions[choice] = result.choices.size();
    result.choices.push_back(choice);
  }
  if (!all_of(demands,
              [&](const BitVector &d) { return result.addArc(d, positions); }))
    return std::nullopt;
  std::optional<unsigned> seam = result.findSeam();
  if (!seam)
    return std::nullopt;
  unsigned start = *seam + 1, size = result.choices.size();
  std::rotate(result.choices.begin(), result.choices.begin() + start,
              result.choices.end());
  for (auto &[first, last] : result.arcs) {
    first = (first + size - start) % size;
    last = (last + size - start) % size;
  }
  return result;
}

SmallVector<unsigned, 0> Intervals::solve() const {
  unsigned size = choices.size();
  // The first end of the intervals that start at a position or behind it.
  SmallVector<unsigned, 0> ends(size + 1, size);
  for (auto [first, last] : arcs)
    ends[first] = std::min(ends[first], last);
  for (unsigned position = size; position-- > 0;)
    ends[position] = std::min(ends[position], ends[position + 1]);
  // From the back: the price of a choice with all that it takes behind it.
  SmallVector<Price, 0> prices(size);
  SmallVector<unsigned, 0> next(size + 1, size);
  auto isBetter = [&](unsigned lhs, unsigned rhs) {
    if (prices[lhs] < prices[rhs] || prices[rhs] < prices[lhs])
      return prices[lhs] < prices[rhs];
    return matrix.isPreferred(choices[lhs], choices[rhs]);
  };
  auto findNext = [&](unsigned start) {
    unsigned best = ends[start];
    for (unsigned position = best; best != size && position-- > start;)
      if (isBetter(position, best))
        best = position;
    return best;
  };
  for (unsigned position = size; position-- > 0;) {
    next[position] = findNext(position + 1);
    prices[position] = matrix.getPrice(choices[position]);
    if (next[position] != size)
      prices[position] += prices[next[position]];
  }
  SmallVector<unsigned, 0> chosen;
  for (unsigned position = findNext(0); position != size;
       position = next[position])
    chosen.push_back(choices[position]);
  return chosen;
}

} // namespace mlir::workgroup
