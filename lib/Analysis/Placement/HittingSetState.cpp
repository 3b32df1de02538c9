//===- HittingSetState.cpp - What is left to choose -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HittingSetState.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

HittingSetMatrix::HittingSetMatrix(const HittingSetProblem &problem)
    : problem(problem), conditions(problem.choices.size()),
      required(problem.demands.size()) {
  unsigned numChoices = problem.choices.size();
  unsigned numDemands = problem.demands.size();
  choicesOf.assign(numDemands, BitVector(numChoices));
  usesOf.assign(numChoices, BitVector(numDemands));
  for (auto [number, demand] : enumerate(problem.demands)) {
    for (unsigned choice : demand) {
      choicesOf[number].set(choice);
      usesOf[choice].set(number);
    }
  }
  for (unsigned demand : problem.required)
    required.set(demand);
  for (auto [number, choice] : enumerate(problem.choices)) {
    if (!choice.demands.empty()) {
      conditions.set(number);
      continue;
    }
    auto *layer = find_if(layers, [&](const auto &layer) {
      return !(layer.first < choice.price) && !(choice.price < layer.first);
    });
    if (layer == layers.end()) {
      layers.push_back({choice.price, BitVector(numChoices)});
      layer = &layers.back();
    }
    layer->second.set(number);
  }
  sort(layers,
       [](const auto &lhs, const auto &rhs) { return lhs.first < rhs.first; });
  for (unsigned demand = 0; demand != numDemands; ++demand)
    addSupport(demand);
}

void HittingSetMatrix::addSupport(unsigned demand) {
  BitVector &support = supports.emplace_back(choicesOf[demand]);
  while (support.anyCommon(conditions)) {
    BitVector asking = support;
    asking &= conditions;
    support.reset(asking);
    for (unsigned choice : asking.set_bits())
      for (unsigned further : problem.choices[choice].demands)
        support |= choicesOf[further];
  }
}

const Price &HittingSetMatrix::getLeastPrice(const BitVector &choices) const {
  return find_if(
             layers,
             [&](const auto &layer) { return layer.second.anyCommon(choices); })
      ->first;
}

bool HittingSetMatrix::isSolvedBy(ArrayRef<unsigned> chosen) const {
  BitVector met(getNumDemands());
  for (unsigned choice : chosen)
    met |= usesOf[choice];
  BitVector untaken = conditions;
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (unsigned choice : untaken.set_bits()) {
      if (!all_of(getDemands(choice), [&](unsigned d) { return met.test(d); }))
        continue;
      met |= usesOf[choice];
      untaken.reset(choice);
      isChanged = true;
    }
  }
  return required.subsetOf(met);
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

HittingSetState::HittingSetState(const HittingSetMatrix &matrix)
    : open(matrix.getRequired()), done(matrix.getNumDemands()),
      available(matrix.getNumChoices(), true) {}

BitVector HittingSetState::getChoices(const HittingSetMatrix &matrix,
                                      unsigned demand) const {
  BitVector choices = matrix.getChoices(demand);
  choices &= available;
  return choices;
}

BitVector HittingSetState::getRelevant(const HittingSetMatrix &matrix) const {
  BitVector relevant = open;
  BitVector asking = matrix.getConditions();
  asking &= available;
  for (unsigned choice : asking.set_bits())
    for (unsigned demand : matrix.getDemands(choice))
      relevant.set(demand);
  return relevant.reset(done);
}

void HittingSetState::choose(const HittingSetMatrix &matrix, unsigned choice) {
  available.reset(choice);
  for (unsigned demand : matrix.getDemands(choice))
    open.set(demand);
  done |= matrix.getUses(choice);
  open.reset(done);
}

bool HittingSetState::settle(const HittingSetMatrix &matrix, unsigned choice,
                             const BitVector &relevant) {
  bool isMet = true, isPossible = true;
  for (unsigned demand : matrix.getDemands(choice)) {
    if (done.test(demand))
      continue;
    isMet = false;
    isPossible &= matrix.getChoices(demand).anyCommon(available);
  }
  if (isMet)
    choose(matrix, choice);
  else if (!isPossible || !matrix.getUses(choice).anyCommon(relevant))
    available.reset(choice);
  else
    return false;
  return true;
}

bool HittingSetState::settle(const HittingSetMatrix &matrix) {
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    BitVector asking = matrix.getConditions();
    asking &= available;
    if (asking.none())
      break;
    BitVector relevant = getRelevant(matrix);
    for (unsigned choice : asking.set_bits())
      isChanged |= settle(matrix, choice, relevant);
  }
  return all_of(open.set_bits(), [&](unsigned demand) {
    return matrix.getChoices(demand).anyCommon(available);
  });
}

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

bool HittingSetState::reduce(const HittingSetMatrix &matrix,
                             SmallVectorImpl<unsigned> &taken, uint64_t &work) {
  do {
    bool isChanged = dropImplied(matrix, work);
    isChanged |= takeForced(matrix, taken);
    isChanged |= dropReplaceable(matrix, work);
    if (!settle(matrix))
      return false;
    if (!isChanged)
      return true;
  } while (taken.empty());
  return true;
}

/// A demand follows from an open one whose choices are all among its own. One
/// that is not open yet may follow, but nothing follows from it.
bool HittingSetState::dropImplied(const HittingSetMatrix &matrix,
                                  uint64_t &work) {
  struct Row {
    unsigned size, demand, first, last;
    BitVector choices;
  };
  SmallVector<Row, 0> rows;
  BitVector relevant = getRelevant(matrix);
  for (unsigned demand : relevant.set_bits()) {
    BitVector choices = getChoices(matrix, demand);
    if (choices.any())
      rows.push_back(
          {choices.count(), demand, static_cast<unsigned>(choices.find_first()),
           static_cast<unsigned>(choices.find_last()), std::move(choices)});
  }
  // Of equal ones, an open one comes first.
  sort(rows, [&](const Row &lhs, const Row &rhs) {
    return std::tuple(lhs.size, !open.test(lhs.demand), lhs.demand) <
           std::tuple(rhs.size, !open.test(rhs.demand), rhs.demand);
  });
  // By their first choices, which those that they imply have among theirs.
  SmallVector<SmallVector<const Row *, 1>, 0> kept(matrix.getNumChoices());
  auto isImpliedBy = [&](const Row &row, const Row *other) {
    ++work;
    return row.choices.test(other->last) &&
           other->choices.subsetOf(row.choices);
  };
  bool isChanged = false;
  for (const Row &row : rows) {
    if (work > kHittingSetBudget)
      break;
    ++work;
    bool isImplied = any_of(row.choices.set_bits(), [&](unsigned first) {
      return any_of(kept[first],
                    [&](const Row *other) { return isImpliedBy(row, other); });
    });
    if (isImplied) {
      isChanged = true;
      done.set(row.demand);
      open.reset(row.demand);
    } else if (open.test(row.demand)) {
      kept[row.first].push_back(&row);
    }
  }
  return isChanged;
}

bool HittingSetState::takeForced(const HittingSetMatrix &matrix,
                                 SmallVectorImpl<unsigned> &taken) {
  bool isChanged = false;
  for (unsigned demand : SmallVector<unsigned, 0>(open.set_bits())) {
    if (!open.test(demand))
      continue;
    BitVector choices = getChoices(matrix, demand);
    if (choices.count() != 1)
      continue;
    unsigned choice = choices.find_first();
    choose(matrix, choice);
    if (!matrix.getConditions().test(choice))
      taken.push_back(choice);
    isChanged = true;
  }
  return isChanged;
}

bool HittingSetState::isReplaceable(const HittingSetMatrix &matrix,
                                    unsigned choice, const BitVector &uses,
                                    uint64_t &work) const {
  unsigned first = uses.find_first(), last = uses.find_last();
  BitVector others = getChoices(matrix, first);
  others.reset(matrix.getConditions());
  others.reset(choice);
  return any_of(others.set_bits(), [&](unsigned other) {
    ++work;
    const BitVector &otherUses = matrix.getUses(other);
    return otherUses.test(last) &&
           !(matrix.getPrice(choice) < matrix.getPrice(other)) &&
           uses.subsetOf(otherUses);
  });
}

/// A choice is replaced by one that is not dearer and meets the same demands.
bool HittingSetState::dropReplaceable(const HittingSetMatrix &matrix,
                                      uint64_t &work) {
  BitVector priced = available;
  priced.reset(matrix.getConditions());
  SmallVector<unsigned, 0> order(priced.set_bits());
  // Of two that do the same, the preferred one stays.
  sort(order, [&](unsigned lhs, unsigned rhs) {
    return matrix.isPreferred(rhs, lhs);
  });
  BitVector relevant = getRelevant(matrix);
  bool isChanged = false;
  for (unsigned choice : order) {
    BitVector uses = matrix.getUses(choice);
    uses &= relevant;
    if (uses.none()) {
      available.reset(choice);
    } else if (isReplaceable(matrix, choice, uses, work)) {
      available.reset(choice);
      isChanged = true;
    }
  }
  return isChanged;
}

} // namespace mlir::workgroup
