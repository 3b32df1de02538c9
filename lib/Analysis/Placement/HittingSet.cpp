//===- HittingSet.cpp - The cheapest choices that satisfy all -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HittingSet.h"
#include "HittingSetIntervals.h"
#include "HittingSetState.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

using namespace llvm;

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Branch and bound
//===----------------------------------------------------------------------===//

namespace {

class Solver {
public:
  explicit Solver(const HittingSetMatrix &matrix) : matrix(matrix) {}

  struct Solution {
    Price price;
    SmallVector<unsigned, 0> chosen;
  };

  /// The cheapest solution below `bound`, if there is one; any, if the budget
  /// is used up.
  std::optional<Solution> solve(HittingSetState state, Price bound);
  /// The cheapest solution; if the budget is used up, the best that was found.
  std::optional<Solution> search(const HittingSetState &state);
  /// Takes what is forced, and makes demands fewer that are so many that to
  /// look at them takes the budget.
  SmallVector<unsigned, 0> prepare(HittingSetState &state) const;
  bool isExhausted() const { return work > kHittingSetBudget; }
  Price getLowerBound(const HittingSetState &state);

private:
  std::optional<Solution> branch(HittingSetState state, Price bound);
  Solution dive(HittingSetState state) const;
  std::optional<Solution> solveParts(ArrayRef<HittingSetState> parts,
                                     Price bound);
  SmallVector<HittingSetState, 0> split(const HittingSetState &state) const;
  SmallVector<unsigned, 0> getAlternatives(const HittingSetState &state) const;
  SmallVector<unsigned, 0> getAlternatives(const HittingSetState &state,
                                           const BitVector &choices) const;
  Solution makeSolution(ArrayRef<unsigned> chosen) const;
  /// The work to look at all choices of all open demands several times.
  uint64_t getVisits(const HittingSetState &state) const {
    return uint64_t(state.open.count()) * (4 + matrix.getNumChoices() / 16);
  }

  const HittingSetMatrix &matrix;
  uint64_t work = 0;
};

} // namespace

Solver::Solution Solver::makeSolution(ArrayRef<unsigned> chosen) const {
  Solution solution{Price(matrix.getPriceSize()), {}};
  append_range(solution.chosen, chosen);
  for (unsigned choice : chosen)
    solution.price += matrix.getPrice(choice);
  return solution;
}

SmallVector<unsigned, 0> Solver::prepare(HittingSetState &state) const {
  SmallVector<unsigned, 0> taken;
  uint64_t comparisons = 0; // mostly few, as much follows from the same demands
  if (state.settle(matrix))
    state.takeForced(matrix, taken);
  if (getVisits(state) > kHittingSetBudget / 4 && state.settle(matrix))
    state.dropImplied(matrix, comparisons);
  return taken;
}

std::optional<Solver::Solution> Solver::solve(HittingSetState state,
                                              Price bound) {
  if (!state.settle(matrix))
    return std::nullopt;
  work += getVisits(state);
  if (!isExhausted() && !(getLowerBound(state) < bound))
    return std::nullopt;
  if (state.open.none())
    return makeSolution({});
  if (std::optional<Intervals> intervals = Intervals::get(matrix, state))
    return makeSolution(intervals->solve());
  if (isExhausted() && !state.available.anyCommon(matrix.getConditions()))
    return dive(std::move(state));
  if (isExhausted())
    return branch(std::move(state), std::move(bound));
  SmallVector<HittingSetState, 0> parts = split(state);
  if (parts.size() > 1)
    return solveParts(parts, std::move(bound));
  SmallVector<unsigned, 0> taken;
  if (!state.reduce(matrix, taken, work))
    return std::nullopt;
  Solution solution = makeSolution(taken);
  bound -= solution.price;
  // What is left may fall into parts, or have become intervals.
  auto rest = taken.empty() ? branch(std::move(state), std::move(bound))
                            : solve(std::move(state), std::move(bound));
  if (!rest)
    return std::nullopt;
  solution.price += rest->price;
  append_range(solution.chosen, rest->chosen);
  return solution;
}

std::optional<Solver::Solution> Solver::search(const HittingSetState &state) {
  auto best = solve(state, Price::getInfinite(matrix.getPriceSize()));
  if (!best || !isExhausted() ||
      state.available.anyCommon(matrix.getConditions()))
    return best;
  Solution other = dive(state);
  return other.price < best->price ? other : best;
}

/// Every solution has one of the choices of the smallest demand. The later ones
/// are tried without the earlier ones.
std::optional<Solver::Solution> Solver::branch(HittingSetState state,
                                               Price bound) {
  std::optional<Solution> best;
  for (unsigned choice : getAlternatives(state)) {
    if (best && isExhausted())
      break;
    HittingSetState child = state;
    child.choose(matrix, choice);
    Price childBound = bound;
    childBound -= matrix.getPrice(choice);
    if (auto solution = solve(std::move(child), std::move(childBound))) {
      solution->price += matrix.getPrice(choice);
      solution->chosen.push_back(choice);
      if (solution->price < bound || !best) {
        best = std::move(solution);
        bound = std::min(bound, best->price);
      }
    }
    state.available.reset(choice);
    if (!isExhausted() && best && !(getLowerBound(state) < bound))
      break;
  }
  return best;
}

/// The best alternative for each demand, the smallest first, as branching would
/// find it first, until intervals are left.
Solver::Solution Solver::dive(HittingSetState state) const {
  SmallVector<std::pair<unsigned, unsigned>, 0> order;
  for (unsigned demand : state.open.set_bits())
    order.push_back({state.getChoices(matrix, demand).count(), demand});
  sort(order);
  SmallVector<unsigned, 0> chosen;
  unsigned least = order.size();
  for (auto [_, demand] : order) {
    if (!state.open.test(demand))
      continue;
    if (unsigned left = state.open.count(); left <= least / 2) {
      least = left;
      if (auto intervals = Intervals::get(matrix, state)) {
        append_range(chosen, intervals->solve());
        break;
      }
    }
    chosen.push_back(
        getAlternatives(state, state.getChoices(matrix, demand)).front());
    state.choose(matrix, chosen.back());
  }
  return makeSolution(chosen);
}

std::optional<Solver::Solution>
Solver::solveParts(ArrayRef<HittingSetState> parts, Price bound) {
  SmallVector<Price, 0> least;
  for (const HittingSetState &part : parts) {
    least.push_back(getLowerBound(part));
    bound -= least.back();
  }
  Solution solution = makeSolution({});
  for (auto [part, low] : zip_equal(parts, least)) {
    bound += low;
    auto partial = solve(part, bound);
    if (!partial)
      return std::nullopt;
    bound -= partial->price;
    solution.price += partial->price;
    append_range(solution.chosen, partial->chosen);
  }
  return solution;
}

/// Demands that share no choices, nor choices of what they may ask for, are
/// independent.
SmallVector<HittingSetState, 0>
Solver::split(const HittingSetState &state) const {
  EquivalenceClasses<unsigned> classes;
  SmallVector<int, 0> owner(matrix.getNumChoices(), -1);
  BitVector relevant = state.getRelevant(matrix);
  for (unsigned demand : relevant.set_bits()) {
    classes.insert(demand);
    BitVector choices = state.getChoices(matrix, demand);
    for (unsigned choice : choices.set_bits()) {
      if (owner[choice] != -1)
        classes.unionSets(owner[choice], demand);
      owner[choice] = demand;
    }
    choices &= matrix.getConditions();
    for (unsigned choice : choices.set_bits())
      for (unsigned further : matrix.getDemands(choice))
        if (relevant.test(further))
          classes.unionSets(demand, further);
  }
  SmallVector<HittingSetState, 0> parts;
  DenseMap<unsigned, unsigned> numbers;
  for (unsigned demand : state.open.set_bits()) {
    auto [it, isNew] =
        numbers.try_emplace(classes.getLeaderValue(demand), parts.size());
    if (isNew) {
      HittingSetState &part = parts.emplace_back(state);
      part.open.reset();
      part.available.reset();
    }
    parts[it->second].open.set(demand);
  }
  for (unsigned demand : relevant.set_bits()) {
    auto it = numbers.find(classes.getLeaderValue(demand));
    if (it != numbers.end())
      parts[it->second].available |= state.getChoices(matrix, demand);
  }
  return parts;
}

/// Demands without common choices cost at least the cheapest choice of each.
Price Solver::getLowerBound(const HittingSetState &state) {
  SmallVector<std::tuple<Price, unsigned, unsigned>, 0> order;
  for (unsigned demand : state.open.set_bits()) {
    BitVector support = matrix.getSupport(demand);
    support &= state.available;
    if (support.none())
      continue;
    order.push_back({matrix.getLeastPrice(support), support.count(), demand});
  }
  stable_sort(order, [](const auto &lhs, const auto &rhs) {
    if (std::get<0>(lhs) < std::get<0>(rhs) ||
        std::get<0>(rhs) < std::get<0>(lhs))
      return std::get<0>(rhs) < std::get<0>(lhs);
    return std::get<1>(lhs) < std::get<1>(rhs);
  });
  work += order.size() * (1 + matrix.getNumChoices() / 64);
  Price sum(matrix.getPriceSize());
  BitVector taken(matrix.getNumChoices());
  for (const auto &[least, _, demand] : order) {
    BitVector support = matrix.getSupport(demand);
    support &= state.available;
    if (taken.anyCommon(support))
      continue;
    taken |= support;
    sum += least;
  }
  return sum;
}

/// The choices of the smallest demand: the cheapest first, and among those the
/// ones that meet most demands. Choices that ask for more come last.
SmallVector<unsigned, 0>
Solver::getAlternatives(const HittingSetState &state) const {
  std::optional<BitVector> smallest;
  for (unsigned demand : state.open.set_bits()) {
    BitVector choices = state.getChoices(matrix, demand);
    if (!smallest || choices.count() < smallest->count())
      smallest = std::move(choices);
  }
  return getAlternatives(state, *smallest);
}

SmallVector<unsigned, 0>
Solver::getAlternatives(const HittingSetState &state,
                        const BitVector &choices) const {
  SmallVector<unsigned, 0> order(choices.set_bits());
  DenseMap<unsigned, unsigned> uses;
  for (unsigned choice : order) {
    BitVector met = matrix.getUses(choice);
    met &= state.open;
    uses[choice] = met.count();
  }
  stable_sort(order, [&](unsigned lhs, unsigned rhs) {
    bool isFree = matrix.getConditions().test(lhs);
    if (isFree != matrix.getConditions().test(rhs))
      return !isFree;
    if (matrix.getPrice(lhs) < matrix.getPrice(rhs) ||
        matrix.getPrice(rhs) < matrix.getPrice(lhs))
      return matrix.getPrice(lhs) < matrix.getPrice(rhs);
    if (uses[lhs] != uses[rhs])
      return uses[lhs] > uses[rhs];
    return matrix.isPreferred(lhs, rhs);
  });
  return order;
}

//===----------------------------------------------------------------------===//
// The solution
//===----------------------------------------------------------------------===//

/// Leaves out what is not needed, the dearest first.
static void minimize(const HittingSetMatrix &matrix, HittingSet &set) {
  SmallVector<unsigned, 0> order(set.chosen);
  stable_sort(order, [&](unsigned lhs, unsigned rhs) {
    return matrix.getPrice(rhs) < matrix.getPrice(lhs);
  });
  for (unsigned choice : order) {
    SmallVector<unsigned, 0> others;
    copy_if(set.chosen, std::back_inserter(others),
            [&](unsigned other) { return other != choice; });
    if (matrix.isSolvedBy(others))
      set.chosen = std::move(others);
  }
}

HittingSet solve(const HittingSetProblem &problem) {
  HittingSetMatrix matrix(problem);
  Solver solver(matrix);
  HittingSetState state(matrix);
  HittingSet set;
  set.chosen = solver.prepare(state);
  if (auto solution = solver.search(state)) {
    append_range(set.chosen, solution->chosen);
    set.isOptimal = !solver.isExhausted() ||
                    !(solver.getLowerBound(state) < solution->price);
  }
  llvm::erase_if(set.chosen, [&](unsigned choice) {
    return matrix.getConditions().test(choice);
  });
  sort(set.chosen);
  if (!set.isOptimal)
    minimize(matrix, set);
  return set;
}

} // namespace mlir::workgroup
