//===- VariableElimination.cpp - Fewer variables, the same solutions ------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VariableElimination.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

using Row = LinearRow;

/// Numbers beyond that are not computed with.
static constexpr int64_t kLimit = int64_t(1) << 31;

static bool isSmall(const Row &row) {
  return std::abs(row.constant) < kLimit &&
         llvm::all_of(
             row.terms,
             [](auto term) { return std::abs(term.second) < kLimit; });
}

VariableElimination::VariableElimination(ArrayRef<Constraint> rows,
                                         unsigned numVariables)
    : rows(rows.begin(), rows.end()), numVariables(numVariables) {
  do
    tighten();
  while (!empty && (splitAny() || replaceAny() || nameSum()));
  llvm::BitVector isGone(this->numVariables);
  for (auto &[variable, row] : replaced)
    isGone.set(variable);
  for (unsigned variable = 0; variable < this->numVariables; ++variable)
    if (!isGone[variable])
      left.push_back(variable);
}

//===----------------------------------------------------------------------===//
// Constraints on one sum
//===----------------------------------------------------------------------===//

/// What `constraint` says of a sum. Nothing if it always holds, or never.
std::optional<VariableElimination::Sum>
VariableElimination::normalize(const Constraint &constraint) {
  Sum sum{constraint.row, {}};
  int64_t constant = std::exchange(sum.row.constant, 0), divisor = 0;
  for (auto [variable, factor] : sum.row.terms)
    divisor = std::gcd(divisor, factor);
  if (divisor == 0) {
    empty |= constraint.isEquality ? constant != 0 : constant < 0;
    return std::nullopt;
  }
  if (constraint.isEquality && constant % divisor != 0) {
    empty = true;
    return std::nullopt;
  }
  bool isNegative = sum.row.terms.front().second < 0;
  for (auto &[variable, factor] : sum.row.terms)
    factor /= isNegative ? -divisor : divisor;
  // divisor * sum + constant >= 0, or divisor * -sum + constant >= 0.
  int64_t end = llvm::divideFloorSigned(constant, divisor);
  if (constraint.isEquality || !isNegative)
    sum.range.min = isNegative ? end : -end;
  if (constraint.isEquality || isNegative)
    sum.range.max = isNegative ? end : -end;
  return sum;
}

/// Leaves the tightest constraints of each sum.
void VariableElimination::tighten() {
  SmallVector<Sum, 0> all;
  for (const Constraint &constraint : rows)
    if (std::optional<Sum> sum = normalize(constraint))
      all.push_back(std::move(*sum));
  // Sums are large: numbers are moved instead.
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, all.size()));
  llvm::sort(order, [&](unsigned lhs, unsigned rhs) {
    return all[lhs].row.terms < all[rhs].row.terms;
  });
  sums.clear();
  sums.reserve(all.size());
  for (unsigned number : order) {
    Sum &sum = all[number];
    if (sums.empty() || sums.back().row.terms != sum.row.terms) {
      sums.push_back(std::move(sum));
      continue;
    }
    Interval &range = sums.back().range;
    if (sum.range.min && (!range.min || *range.min < *sum.range.min))
      range.min = sum.range.min;
    if (sum.range.max && (!range.max || *range.max > *sum.range.max))
      range.max = sum.range.max;
  }
  rows.clear();
  for (const auto &[row, range] : sums) {
    Row above = row, below;
    below.add(row, -1);
    above.constant = -range.min.value_or(0);
    below.constant = range.max.value_or(0);
    bool isEquality = range.min && range.max && *range.min >= *range.max;
    empty |= isEquality && *range.min > *range.max;
    if (range.min)
      rows.push_back({std::move(above), isEquality});
    if (range.max && !isEquality)
      rows.push_back({std::move(below), false});
  }
}

/// Splits sums; false if there is none to be split.
bool VariableElimination::splitAny() {
  SmallVector<Interval> ranges(numVariables);
  for (const Sum &sum : sums)
    if (sum.row.terms.size() == 1)
      ranges[sum.row.terms.front().first] = sum.range;
  bool hasSplit = false;
  for (const Sum &sum : sums)
    hasSplit |= split(sum, ranges);
  return hasSplit;
}

/// Replaces the constraints on `sum` by those on two parts of it, if one value
/// only is left for the part with the larger factors.
bool VariableElimination::split(const Sum &sum, ArrayRef<Interval> ranges) {
  constexpr size_t kMaxTerms = 16;
  if (sum.row.terms.size() < 2 || sum.row.terms.size() > kMaxTerms ||
      !sum.range.min || !sum.range.max || !isSmall(sum.row))
    return false;
  auto terms = sum.row.terms;
  llvm::stable_sort(terms, [](auto lhs, auto rhs) {
    return std::abs(lhs.second) < std::abs(rhs.second);
  });
  // What is left for the larger part, the smaller one growing term by term.
  int64_t least = *sum.range.min, most = *sum.range.max;
  auto isNear = [](int64_t number) { return std::abs(number) < kLimit; };
  for (size_t count = 1; count < terms.size(); ++count) {
    auto [variable, factor] = terms[count - 1];
    const Interval &range = ranges[variable];
    if (!range.min || !range.max || !isNear(*range.min) ||
        !isNear(*range.max) || !isNear(least) || !isNear(most))
      return false;
    most -= factor * (factor > 0 ? *range.min : *range.max);
    least -= factor * (factor > 0 ? *range.max : *range.min);
    int64_t step = 0;
    for (auto [other, larger] : ArrayRef(terms).drop_front(count))
      step = std::gcd(step, larger);
    int64_t first = llvm::divideCeilSigned(least, step);
    int64_t last = llvm::divideFloorSigned(most, step);
    if (first > last) {
      empty = true;
      return true;
    }
    if (first < last)
      continue;
    Row large, small, negated;
    negated.add(sum.row, -1);
    for (auto [number, term] : llvm::enumerate(terms)) {
      Row single;
      single.terms.push_back(term);
      (number < count ? small : large).add(single, 1);
    }
    llvm::erase_if(rows, [&](const Constraint &constraint) {
      return constraint.row.terms == sum.row.terms ||
             constraint.row.terms == negated.terms;
    });
    large.constant = -first * step;
    Row above = small, below;
    below.add(small, -1);
    above.constant = first * step - *sum.range.min;
    below.constant = *sum.range.max - first * step;
    rows.push_back({std::move(large), true});
    rows.push_back({std::move(above), false});
    rows.push_back({std::move(below), false});
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// Replaces variables; false if there is none left to be replaced.
bool VariableElimination::replaceAny() {
  bool hasReplaced = false;
  while (replaceOne())
    hasReplaced = true;
  return hasReplaced;
}

bool VariableElimination::replaceOne() {
  for (unsigned number = 0; number < rows.size(); ++number) {
    if (!rows[number].isEquality)
      continue;
    for (auto [variable, factor] : rows[number].row.terms)
      if ((factor == 1 || factor == -1) && replace(number, variable, factor))
        return true;
  }
  return false;
}

/// Replaces `variable` everywhere by what equation `number` says it is. False,
/// and nothing changes, if numbers get large by it.
bool VariableElimination::replace(unsigned number, unsigned variable,
                                  int64_t factor) {
  // factor * variable + others = 0
  Row others = rows[number].row, value;
  llvm::erase_if(others.terms,
                 [&](auto term) { return term.first == variable; });
  value.add(others, -factor);
  SmallVector<std::pair<unsigned, Row>> changed;
  if (!isSmall(value))
    return false;
  for (auto [other, constraint] : llvm::enumerate(rows)) {
    auto *term = llvm::find_if(constraint.row.terms, [&](auto term) {
      return term.first == variable;
    });
    if (other == number || term == constraint.row.terms.end())
      continue;
    if (!isSmall(constraint.row))
      return false;
    Row row = constraint.row;
    int64_t count = term->second;
    llvm::erase_if(row.terms,
                   [&](auto term) { return term.first == variable; });
    row.add(value, count);
    changed.emplace_back(other, std::move(row));
  }
  for (auto &[other, row] : changed)
    rows[other].row = std::move(row);
  rows.erase(rows.begin() + number);
  replaced.emplace_back(variable, std::move(value));
  return true;
}

/// Gives `sum` the place of `variable`, which it has `factor` times. False, and
/// nothing changes, if numbers get large by it.
bool VariableElimination::name(const Sum &sum, unsigned variable,
                               int64_t factor) {
  Row equation = sum.row;
  equation.constant = -*sum.range.min;
  equation.terms.emplace_back(numVariables, -1);
  rows.push_back({std::move(equation), true});
  if (!replace(rows.size() - 1, variable, factor)) {
    rows.pop_back();
    return false;
  }
  ++numVariables;
  return true;
}

/// Gives a sum the place of a variable that has a larger range, or none; false
/// if there is none left.
bool VariableElimination::nameSum() {
  auto getLength = [](const Interval &range) {
    return range.min && range.max ? *range.max - *range.min
                                  : std::numeric_limits<int64_t>::max();
  };
  SmallVector<int64_t> lengths(numVariables, getLength({}));
  for (const Sum &sum : sums)
    if (sum.row.terms.size() == 1)
      lengths[sum.row.terms.front().first] = getLength(sum.range);
  for (const Sum &sum : sums) {
    if (sum.row.terms.size() < 2)
      continue;
    for (auto [variable, factor] : sum.row.terms)
      if ((factor == 1 || factor == -1) &&
          getLength(sum.range) < lengths[variable] &&
          name(sum, variable, factor))
        return true;
  }
  return false;
}

std::optional<Row> VariableElimination::reduce(Row row) const {
  for (const auto &[variable, value] : replaced) {
    auto *term = llvm::find_if(row.terms, [&, variable = variable](auto term) {
      return term.first == variable;
    });
    if (term == row.terms.end())
      continue;
    int64_t factor = term->second;
    row.terms.erase(term);
    row.add(value, factor);
    if (!isSmall(row))
      return std::nullopt;
  }
  return row;
}

SmallVector<int64_t>
VariableElimination::expand(ArrayRef<int64_t> values) const {
  SmallVector<int64_t> all(values);
  // What was replaced first may be made of what was replaced later.
  for (const auto &[variable, row] : llvm::reverse(replaced)) {
    int64_t sum = row.constant;
    for (auto [other, factor] : row.terms)
      sum += factor * all[other];
    all[variable] = sum;
  }
  return all;
}

} // namespace mlir::workgroup
