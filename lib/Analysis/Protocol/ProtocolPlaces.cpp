//===- ProtocolPlaces.cpp - What threads touch by an access ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The address of an access is a sum. What of it is known for each thread is
// added up; what is not is taken to be anything that its bounds allow.
//
//===----------------------------------------------------------------------===//

#include "ProtocolPlaces.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

namespace {
/// The sum of an access's address, by which of it is known.
class PlaceSum {
public:
  PlaceSum(const AccessFootprint &footprint, ProtocolPlace &place)
      : index(footprint.coordinates.front()), bounds(footprint.bounds),
        place(place) {}

  bool take(llvm::function_ref<const ThreadValues *(Value)> evaluate,
            const DenseMap<Value, std::pair<int64_t, int64_t>> &ranges);

private:
  std::pair<int64_t, int64_t> findRange(const LinearIndex &terms) const;
  bool takeBound(Value value, int64_t factor);
  bool widen(int64_t by, int64_t factor);
  bool shift(int64_t by, int64_t factor);

  LinearIndex index;
  ArrayRef<AccessFootprint::Bound> bounds;
  ProtocolPlace &place;
};
} // namespace

/// Lets the place reach `factor` times 0, 1, ..., `by` further.
bool PlaceSum::widen(int64_t by, int64_t factor) {
  int64_t reach;
  if (by < 0 || llvm::MulOverflow(by, factor, reach))
    return false;
  if (reach < 0)
    for (int64_t &start : place.starts)
      start += reach;
  place.width += std::abs(reach);
  place.isWhole &= reach == 0;
  return true;
}

bool PlaceSum::shift(int64_t by, int64_t factor) {
  int64_t distance;
  if (llvm::MulOverflow(by, factor, distance))
    return false;
  for (int64_t &start : place.starts)
    if (llvm::AddOverflow(start, distance, start))
      return false;
  return true;
}

/// Finds the least and the greatest number that `terms`, a sum without a
/// constant, is by all that is known of it to be in bounds.
std::pair<int64_t, int64_t>
PlaceSum::findRange(const LinearIndex &terms) const {
  constexpr int64_t kFar = int64_t(1) << 40;
  int64_t least = -kFar, most = kFar;
  for (const AccessFootprint::Bound &bound : bounds) {
    std::optional<int64_t> extent = getConstantIntValue(bound.extent);
    LinearIndex sum = bound.index;
    int64_t constant = std::exchange(sum.constant, 0);
    if (!extent || sum != terms || std::abs(constant) > kFar || *extent > kFar)
      continue;
    least = std::max(least, -constant);
    most = std::min(most, *extent - 1 - constant);
  }
  return {least, most};
}

/// Takes from the sum what an index that is in bounds, and that `value` is part
/// of, adds to it.
bool PlaceSum::takeBound(Value value, int64_t factor) {
  for (const AccessFootprint::Bound &bound : bounds) {
    std::optional<int64_t> extent = getConstantIntValue(bound.extent);
    const auto *term = llvm::find_if(
        bound.index.terms, [&](auto &term) { return term.first == value; });
    if (!extent || term == bound.index.terms.end() || term->second == 0 ||
        factor % term->second != 0)
      continue;
    int64_t times = factor / term->second;
    LinearIndex terms = bound.index;
    terms.constant = 0;
    index.add(terms, -times);
    bool isGone = llvm::none_of(
        index.terms, [&](auto &left) { return left.first == value; });
    auto [least, most] = findRange(terms);
    return isGone && shift(least, times) && widen(most - least, times);
  }
  return false;
}

bool PlaceSum::take(
    llvm::function_ref<const ThreadValues *(Value)> evaluate,
    const DenseMap<Value, std::pair<int64_t, int64_t>> &ranges) {
  constexpr unsigned kMaxTerms = 16;
  // What is not known goes first: it may take others with it.
  for (unsigned tries = 0; tries < kMaxTerms; ++tries) {
    auto *hidden = llvm::find_if(
        index.terms, [&](auto &term) { return !evaluate(term.first); });
    if (hidden == index.terms.end())
      break;
    auto [value, factor] = *hidden;
    if (auto range = ranges.find(value); range != ranges.end()) {
      auto [first, last] = range->second;
      index.terms.erase(hidden);
      if (!shift(first, factor) || !widen(last - first, factor))
        return false;
    } else if (!takeBound(value, factor)) {
      return false;
    }
  }
  if (!index.affineTerms.empty())
    return false;
  for (auto [value, factor] : index.terms) {
    const ThreadValues *values = evaluate(value);
    if (!values)
      return false;
    for (auto [start, number] : llvm::zip_equal(place.starts, *values)) {
      int64_t product;
      if (llvm::MulOverflow(number, factor, product) ||
          llvm::AddOverflow(start, product, start))
        return false;
    }
  }
  return shift(index.constant, 1);
}

ProtocolPlace
getProtocolPlace(const ThreadAccess &access, size_t numThreads,
                 llvm::function_ref<const ThreadValues *(Value)> evaluate,
                 const DenseMap<Value, std::pair<int64_t, int64_t>> &ranges) {
  ProtocolPlace place;
  place.root = access.roots.front();
  const std::optional<AccessFootprint> &footprint = access.footprint;
  if (!footprint || footprint->basis || footprint->coordinates.size() != 1)
    return place;
  place.starts.assign(numThreads, 0);
  place.width = footprint->run;
  place.isWhole = !footprint->isPartial && footprint->box.empty();
  bool isKnown = true;
  for (const AccessFootprint::Extent &extent : footprint->box) {
    std::optional<int64_t> count = getConstantIntValue(extent.count);
    if (!count && extent.limit != 0)
      count = extent.limit;
    int64_t reach = 0;
    isKnown &= count && *count > 0 &&
               !llvm::MulOverflow(*count - 1, extent.stride, reach);
    if (!isKnown)
      break;
    if (reach < 0)
      for (int64_t &start : place.starts)
        start += reach;
    place.width += std::abs(reach);
  }
  isKnown = isKnown && PlaceSum(*footprint, place).take(evaluate, ranges);
  if (!isKnown) {
    place.starts.clear();
    return place;
  }
  place.first = *llvm::min_element(place.starts);
  place.end = *llvm::max_element(place.starts) + place.width;
  return place;
}

} // namespace mlir::workgroup
