//===- FootprintHulls.cpp - What all threads touch together ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A coordinate is what all threads of the block have the same of, and what they
// do not, of which the range is taken. Accesses by one value, a view of a slot
// say, that have the first part in common have one hull.
//
//===----------------------------------------------------------------------===//

#include "FootprintHulls.h"
#include "Analysis/Integers/CheckedArithmetic.h"
#include <map>

namespace mlir::workgroup {

using Condition = SymbolicCondition;
using Form = SymbolicForm;
using Footprint = SymbolicFootprint;

namespace {

/// A coordinate: what all threads of a block add to it, and the places from
/// `first` to `last` from there on.
struct Span {
  Form common;
  int64_t first = 0, last = 0;
};
using Spans = SmallVector<Span, 2>;

} // namespace

/// True if all threads of the block hold the same of `atom` in one iteration.
static bool isCommon(const SymbolicAtom &atom) {
  return !atom.isDivergent && !atom.isUnsteady;
}

static bool isCommon(const Condition &condition) {
  return llvm::all_of(condition.form.terms,
                      [](auto term) { return isCommon(*term.first); }) &&
         llvm::all_of(condition.parts,
                      [](const Condition &part) { return isCommon(part); });
}

/// What holds wherever `condition` does, the same for all threads.
static Condition getCommon(const Condition &condition) {
  if (isCommon(condition))
    return condition;
  std::vector<Condition> kept;
  if (condition.kind == Condition::All)
    llvm::copy_if(condition.parts, std::back_inserter(kept),
                  [](const Condition &part) { return isCommon(part); });
  return Condition::join(Condition::All, std::move(kept));
}

/// The range of `form`, of which threads of a block may have different ones.
static Interval getRange(const Form &form, SymbolicIndex &index,
                         ThreadTables *tables) {
  Interval range = index.getRange(form);
  Form ofThread, rest;
  for (auto term : form.terms)
    (term.first->isOfThread ? ofThread : rest).terms.push_back(term);
  rest.constant = form.constant;
  std::optional<ThreadTables::Table> table =
      tables && !ofThread.isConstant() ? tables->get(ofThread) : std::nullopt;
  if (!table)
    return range;
  Interval others = index.getRange(rest);
  auto [least, most] = std::minmax_element(table->begin(), table->end());
  Number low = others.min ? addScaled(*others.min, *least, 1) : Number();
  Number high = others.max ? addScaled(*others.max, *most, 1) : Number();
  if (low && (!range.min || *range.min < *low))
    range.min = low;
  if (high && (!range.max || *range.max > *high))
    range.max = high;
  return range;
}

/// The places of `footprint` along a coordinate; nothing if they have no ends,
/// or go down from the first one.
static std::optional<Span> getSpan(const Footprint &footprint,
                                   unsigned coordinate, SymbolicIndex &index,
                                   ThreadTables *tables) {
  Span span;
  Form own = footprint.coordinates[coordinate];
  llvm::erase_if(own.terms, [&](auto term) {
    if (isCommon(*term.first))
      span.common.terms.push_back(term);
    return isCommon(*term.first);
  });
  Interval range = getRange(own, index, tables);
  Number last = range.max;
  if (coordinate + 1 == footprint.coordinates.size() && last)
    last = addScaled(*last, footprint.run - 1, 1);
  for (const Footprint::Extent &extent : footprint.box) {
    if (extent.coordinate != coordinate)
      continue;
    std::optional<int64_t> most = extent.getMost();
    bool isKnown = most && extent.stride >= 0 && last;
    last = isKnown ? addScaled(*last, std::max<int64_t>(0, *most - 1),
                               extent.stride)
                   : Number();
  }
  constexpr int64_t kLimit = int64_t(1) << 40;
  if (!range.min || !last || *range.min < -kLimit || *last > kLimit)
    return std::nullopt;
  span.first = *range.min;
  span.last = *last;
  return span;
}

static std::optional<Spans> getSpans(const Footprint &footprint,
                                     SymbolicIndex &index,
                                     ThreadTables *tables) {
  Spans spans;
  for (unsigned i = 0; i < footprint.coordinates.size(); ++i) {
    std::optional<Span> span = getSpan(footprint, i, index, tables);
    if (!span)
      return std::nullopt;
    spans.push_back(std::move(*span));
  }
  return spans;
}

/// All places of `spans`.
static Footprint makeHull(const Spans &spans, AccessScope scope,
                          const Condition &condition) {
  Footprint hull;
  for (auto [number, span] : llvm::enumerate(spans)) {
    Form place = span.common;
    place.constant = span.first;
    hull.coordinates.push_back(std::move(place));
    int64_t count = span.last - span.first + 1;
    if (number + 1 == spans.size())
      hull.run = count;
    else if (count > 1)
      hull.box.push_back({Form(count), /*stride=*/1, unsigned(number)});
  }
  hull.condition = condition;
  hull.accessScope = scope;
  return hull;
}

FootprintHulls::FootprintHulls(
    ArrayRef<ThreadAccess> accesses,
    llvm::function_ref<const Footprint &(unsigned)> getFootprint,
    SymbolicIndex &index, ThreadTables *tables) {
  struct Group {
    AccessScope scope;
    Condition condition;
    Spans spans;
  };
  std::vector<Group> groups;
  std::multimap<const void *, unsigned> byValue;
  auto isOf = [](const Group &group, const Spans &spans) {
    return llvm::equal(group.spans, spans,
                       [](const Span &lhs, const Span &rhs) {
                         return lhs.common == rhs.common;
                       });
  };
  for (auto [number, access] : llvm::enumerate(accesses)) {
    std::optional<unsigned> &own = numbers.emplace_back();
    if (!access.footprint || !access.operand)
      continue;
    const Footprint &footprint = getFootprint(number);
    std::optional<Spans> spans = getSpans(footprint, index, tables);
    if (!spans)
      continue;
    Condition condition = getCommon(footprint.condition);
    const void *key = access.operand->get().getAsOpaquePointer();
    auto [begin, end] = byValue.equal_range(key);
    auto known = std::find_if(begin, end, [&](auto &entry) {
      const Group &group = groups[entry.second];
      return group.scope == footprint.accessScope &&
             group.condition == condition && isOf(group, *spans);
    });
    if (known != end) {
      own = known->second;
      for (auto [span, other] : llvm::zip_equal(groups[*own].spans, *spans)) {
        span.first = std::min(span.first, other.first);
        span.last = std::max(span.last, other.last);
      }
      continue;
    }
    own = groups.size();
    byValue.emplace(key, *own);
    groups.push_back(
        {footprint.accessScope, std::move(condition), std::move(*spans)});
  }
  sizes.assign(groups.size(), 0);
  for (std::optional<unsigned> number : numbers)
    if (number)
      ++sizes[*number];
  for (const Group &group : groups)
    hulls.push_back(makeHull(group.spans, group.scope, group.condition));
}

} // namespace mlir::workgroup
