//===- MemoryLayout.cpp - Places for buffers in one memory ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <tuple>

namespace mlir::workgroup {

using Order = SmallVector<unsigned>;

MemoryLayout makeLinearLayout(ArrayRef<LayoutItem> items) {
  MemoryLayout layout;
  for (const LayoutItem &item : items) {
    layout.offsets.push_back(llvm::alignTo(layout.bytes, item.alignment));
    layout.bytes = layout.offsets.back() + item.bytes;
  }
  return layout;
}

int64_t getLowerBound(ArrayRef<LayoutItem> items) {
  SmallVector<std::pair<uint64_t, int64_t>> changes; // what begins comes first
  for (const LayoutItem &item : items) {
    changes.push_back({uint64_t(item.first) * 2, item.bytes});
    changes.push_back({uint64_t(item.last) * 2 + 1, -item.bytes});
  }
  llvm::sort(changes, llvm::less_first());
  int64_t bytes = 0, most = 0;
  for (auto [position, change] : changes)
    most = std::max(most, bytes += change);
  return most;
}

namespace {

/// Puts items at the lowest place that is free for them, one after another.
class FirstFit {
public:
  FirstFit(ArrayRef<LayoutItem> items,
           llvm::function_ref<bool(unsigned, unsigned)> interfere)
      : items(items), interfere(interfere) {}

  MemoryLayout run(ArrayRef<unsigned> order);

private:
  int64_t findPlace(unsigned item, const MemoryLayout &layout) const;

  ArrayRef<LayoutItem> items;
  llvm::function_ref<bool(unsigned, unsigned)> interfere;
  /// The items that have a place, by their offsets.
  SmallVector<unsigned> placed;
};

} // namespace

int64_t FirstFit::findPlace(unsigned item, const MemoryLayout &layout) const {
  int64_t offset = 0;
  for (unsigned other : placed) {
    if (layout.offsets[other] >= offset + items[item].bytes)
      break; // it fits before this one, and all others are higher
    int64_t end = layout.offsets[other] + items[other].bytes;
    if (end > offset && interfere(item, other))
      offset = llvm::alignTo(end, items[item].alignment);
  }
  return offset;
}

MemoryLayout FirstFit::run(ArrayRef<unsigned> order) {
  MemoryLayout layout;
  layout.offsets.assign(items.size(), 0);
  placed.clear();
  for (unsigned item : order) {
    int64_t offset = findPlace(item, layout);
    layout.offsets[item] = offset;
    layout.bytes = std::max(layout.bytes, offset + items[item].bytes);
    auto byOffset = [&](int64_t value, unsigned other) {
      return value < layout.offsets[other];
    };
    placed.insert(llvm::upper_bound(placed, offset, byOffset), item);
  }
  return layout;
}

/// Orders that suit different mixes of sizes and lives; all of them put the
/// larger alignment first where nothing else decides.
static SmallVector<Order> makeOrders(ArrayRef<LayoutItem> items) {
  auto getLength = [&](unsigned i) {
    return double(items[i].last - items[i].first) + 1;
  };
  auto sorted = [&](auto key) {
    Order order(items.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(order,
                      [&](unsigned a, unsigned b) { return key(a) < key(b); });
    return order;
  };
  return {sorted([&](unsigned i) {
            return std::tuple(-items[i].bytes, -items[i].alignment,
                              -getLength(i));
          }),
          sorted([&](unsigned i) {
            return std::tuple(-double(items[i].bytes) * getLength(i),
                              -items[i].alignment);
          }),
          sorted([&](unsigned i) {
            return std::tuple(-getLength(i), -items[i].bytes);
          }),
          sorted([&](unsigned i) {
            return std::tuple(items[i].first, -items[i].bytes);
          }),
          sorted([&](unsigned i) {
            return std::tuple(-items[i].alignment, -items[i].bytes);
          })};
}

/// Moves the items of `order` that end at the top of `layout` some places to
/// the front.
static void promoteTop(Order &order, const MemoryLayout &layout,
                       ArrayRef<LayoutItem> items) {
  for (unsigned i = 1; i < order.size(); ++i) {
    unsigned item = order[i];
    if (layout.offsets[item] + items[item].bytes != layout.bytes)
      continue;
    unsigned to = i / 2;
    std::rotate(order.begin() + to, order.begin() + i, order.begin() + i + 1);
  }
}

MemoryLayout
findLayout(ArrayRef<LayoutItem> items,
           llvm::function_ref<bool(unsigned, unsigned)> interfere) {
  MemoryLayout best = makeLinearLayout(items);
  int64_t bound = getLowerBound(items);
  FirstFit firstFit(items, interfere);
  // Each run compares each item with those that have a place.
  constexpr int64_t kMaxComparisons = 1 << 24;
  int64_t cost = int64_t(items.size()) * items.size() / 2 + 1;
  int64_t runsLeft = std::min<int64_t>(kMaxComparisons / cost, 200);
  for (Order &order : makeOrders(items))
    for (int iteration = 0; iteration < 40 && best.bytes > bound; ++iteration) {
      if (iteration > 0 && runsLeft-- <= 0)
        break;
      MemoryLayout layout = firstFit.run(order);
      promoteTop(order, layout, items);
      if (layout.bytes < best.bytes)
        best = std::move(layout);
    }
  return best;
}

} // namespace mlir::workgroup
