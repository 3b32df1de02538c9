//===- HittingSet.cpp - The cheapest choices that satisfy all -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HittingSet.h"
#include "HittingSetState.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

using namespace llvm;

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

Price &Price::operator+=(const Price &other) {
  for (auto [digit, more] : zip_equal(digits, other.digits))
    digit += more;
  return *this;
}

Price &Price::operator-=(const Price &other) {
  for (auto [digit, less] : zip_equal(digits, other.digits))
    digit -= less;
  return *this;
}

Price Price::getInfinite(unsigned size) {
  Price price(size);
  price.digits.front() = 1 << 30;
  return price;
}

//===----------------------------------------------------------------------===//
// Arcs
//===----------------------------------------------------------------------===//

namespace {

/// The demands of a state as intervals of its choices, which are numbered anew:
/// in their order, or in that order rotated.
class Intervals {
public:
  /// Nothing if some demand is no arc, or if arcs reach around the circle.
  static std::optional<Intervals> get(const HittingSetMatrix &matrix,
                                      const HittingSetState &state);
  /// The cheapest choices; among equally good ones the preferred first choice,
  /// and so on.
  SmallVector<unsigned, 0> solve() const;

private:
  explicit Intervals(const HittingSetMatrix &matrix) : matrix(matrix) {}
  bool addArc(const BitVector &demand, const SmallVectorImpl<int> &places);
  std::optional<unsigned> findSeam() const;

  const HittingSetMatrix &matrix;
  SmallVector<unsigned, 0> choices;
  /// First and last place; the last one is smaller if it is past the seam.
  SmallVector<std::pair<unsigned, unsigned>, 0> arcs;
};

} // namespace

/// The demand's choices are one run, or one at each end of the choices.
bool Intervals::addArc(const BitVector &demand,
                       const SmallVectorImpl<int> &places) {
  SmallVector<std::pair<unsigned, unsigned>, 3> runs;
  for (unsigned choice : demand.set_bits()) {
    unsigned place = places[choice];
    if (!runs.empty() && runs.back().second + 1 == place)
      runs.back().second = place;
    else if (runs.size() == 2)
      return false;
    else
      runs.push_back({place, place});
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

/// A place that no arc goes on from.
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
  for (unsigned place = 0; place != size; ++place) {
    covering += change[place];
    if (covering == 0)
      seam = place;
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
  SmallVector<int, 0> places(matrix.getNumChoices(), -1);
  for (unsigned choice : used.set_bits()) {
    places[choice] = result.choices.size();
    result.choices.push_back(choice);
  }
  if (!all_of(demands,
              [&](const BitVector &d) { return result.addArc(d, places); }))
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
  // The first end of the intervals that start at a place or behind it.
  SmallVector<unsigned, 0> ends(size + 1, size);
  for (auto [first, last] : arcs)
    ends[first] = std::min(ends[first], last);
  for (unsigned place = size; place-- > 0;)
    ends[place] = std::min(ends[place], ends[place + 1]);
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
    for (unsigned place = best; best != size && place-- > start;)
      if (isBetter(place, best))
        best = place;
    return best;
  };
  for (unsigned place = size; place-- > 0;) {
    next[place] = findNext(place + 1);
    prices[place] = matrix.getPrice(choices[place]);
    if (next[place] != size)
      prices[place] += prices[next[place]];
  }
  SmallVector<unsigned, 0> chosen;
  for (unsigned place = findNext(0); place != size; place = next[place])
    chosen.push_back(choices[place]);
  return chosen;
}

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
  bool isExhausted() const { return work > kBudget; }
  Price getLowerBound(const HittingSetState &state);

private:
  std::optional<Solution> branch(HittingSetState state, Price bound);
  std::optional<Solution> solveParts(ArrayRef<HittingSetState> parts,
                                     Price bound);
  SmallVector<HittingSetState, 0> split(const HittingSetState &state) const;
  SmallVector<unsigned, 0> getAlternatives(const HittingSetState &state) const;
  Solution makeSolution(ArrayRef<unsigned> chosen) const;

  /// Comparisons of demands with demands, or choices with choices: some tenths
  /// of a second.
  static constexpr uint64_t kBudget = uint64_t(1) << 25;

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

std::optional<Solver::Solution> Solver::solve(HittingSetState state,
                                              Price bound) {
  if (!state.settle(matrix))
    return std::nullopt;
  // What follows looks at all choices of all open demands several times.
  work += state.open.count() * (4 + matrix.getNumChoices() / 16);
  if (!isExhausted() && !(getLowerBound(state) < bound))
    return std::nullopt;
  if (state.open.none())
    return makeSolution({});
  if (std::optional<Intervals> intervals = Intervals::get(matrix, state))
    return makeSolution(intervals->solve());
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
/// ones that meet most demands. What asks for more comes last.
SmallVector<unsigned, 0>
Solver::getAlternatives(const HittingSetState &state) const {
  std::optional<BitVector> smallest;
  for (unsigned demand : state.open.set_bits()) {
    BitVector choices = state.getChoices(matrix, demand);
    if (!smallest || choices.count() < smallest->count())
      smallest = std::move(choices);
  }
  SmallVector<unsigned, 0> order(smallest->set_bits());
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
  if (auto solution =
          solver.solve(state, Price::getInfinite(problem.priceSize))) {
    set.chosen = std::move(solution->chosen);
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
