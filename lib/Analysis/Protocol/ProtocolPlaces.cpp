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
// Accesses that go on by themselves are done where their threads wait for them.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Program/OpEffects.h"
#include "ProtocolWalk.h"
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
    index.add(bound.index, -times);
    bool isGone = llvm::none_of(
        index.terms, [&](auto &left) { return left.first == value; });
    return isGone && widen(*extent - 1, times);
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

//===----------------------------------------------------------------------===//
// What goes on by itself
//===----------------------------------------------------------------------===//

/// Begins a new group, or ends what groups are waited for.
void ProtocolWalk::visitGroup(Operation &op) {
  std::optional<AsyncGroup> group = getAsyncGroup(&op);
  if (!group)
    return;
  if (group->engine == AsyncGroup::TileProducts)
    return group->isCommit ? visitProduct(&op, group->numPending)
                           : settleProducts(&op, group->numPending);
  auto &open = groups[group->engine];
  if (group->isCommit) {
    open.emplace_back();
    return;
  }
  add(ProtocolEvent::Settle, &op);
  int64_t numDone = int64_t(open.size()) - 1 - group->numPending;
  for (int64_t number = 0; number < numDone; ++number)
    for (size_t event : open[number])
      stream.events[event].done = stream.events.size() - 1;
  if (numDone > 0)
    open.erase(open.begin(), open.begin() + numDone);
}

/// The warp group begins to read, and waits for what it has begun before.
void ProtocolWalk::visitProduct(Operation *op, int64_t numPending) {
  ProtocolEvent like;
  like.product = stream.products.size();
  add(ProtocolEvent::WarpMeeting, op).product = like.product;
  stream.products.emplace_back().op = op;
  addAccesses(op, like);
  settleProducts(op, numPending);
}

void ProtocolWalk::settleProducts(Operation *op, int64_t numPending) {
  add(ProtocolEvent::Settle, op);
  size_t numLeft = std::min<size_t>(numPending, stream.products.size());
  for (ProtocolProduct &product :
       llvm::drop_begin(llvm::reverse(stream.products), numLeft)) {
    if (product.done)
      break; // and so are those before
    product.done = stream.events.size() - 1;
  }
}

} // namespace mlir::workgroup
