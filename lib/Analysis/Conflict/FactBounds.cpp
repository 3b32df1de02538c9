//===- FactBounds.cpp - What numbers are at least, by conditions ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FactBounds.h"
#include "Analysis/Integers/CheckedArithmetic.h"

namespace mlir::workgroup {

using Form = SymbolicForm;

/// Up to so many conditions, and minima and maxima, are used for one number.
static constexpr unsigned kMaxDepth = 2;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Adds the terms to a key.
static void append(std::vector<int64_t> &key, const Form &form) {
  for (auto [atom, factor] : form.terms) {
    key.push_back(atom->number);
    key.push_back(factor);
  }
  key.push_back(-1); // no number of an atom
}

FactBounds::State FactBounds::getState(const GuardedRanges &known,
                                       const std::vector<bool> &may) {
  std::vector<int64_t> key;
  for (const Form &fact : known.getFacts()) {
    key.push_back(fact.constant);
    append(key, fact);
  }
  key.push_back(known.getFacts().size());
  for (const auto &[number, range] : known.getNarrowed()) {
    key.push_back(number);
    key.push_back(range.min.has_value() + 2 * range.max.has_value());
    key.push_back(range.min.value_or(0));
    key.push_back(range.max.value_or(0));
  }
  key.push_back(-1);
  constexpr size_t kBits = 64;
  for (size_t first = 0; first < may.size(); first += kBits) {
    uint64_t bits = 0;
    for (size_t i = first; i < std::min(may.size(), first + kBits); ++i)
      bits |= uint64_t(may[i]) << (i - first);
    key.push_back(int64_t(bits));
  }
  return states.try_emplace(std::move(key), states.size()).first->second;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

bool FactBounds::isOfTables(const SymbolicAtom &atom) const {
  return tables && atom.isOfThread && tables->get(&atom);
}

/// The least that `form` may be as tables tell of a part of it, and ranges of
/// the rest; nothing if tables tell nothing.
std::optional<int64_t>
FactBounds::getLeastOfTables(const Form &form, const Thread &thread) const {
  Form others(form.constant), told;
  for (auto term : form.terms)
    (isOfTables(*term.first) ? told : others).terms.push_back(term);
  if (told.isConstant())
    return std::nullopt;
  std::optional<int64_t> least = thread.known.get(others).min;
  if (!least)
    return std::nullopt;
  ThreadTables::Table sums(tables->getNumThreads());
  for (auto [atom, factor] : told.terms)
    if (!tables->addMultiples(atom, factor, sums))
      return std::nullopt;
  std::optional<int64_t> ofThread;
  for (auto [number, sum] : llvm::enumerate(sums))
    if (thread.may[number])
      ofThread = std::min(ofThread.value_or(sum), sum);
  return addScaled(*least, ofThread.value_or(0), 1);
}

/// The least that `form` may be, by ranges, tables, and conditions: up to
/// `depth` of them, and of minima and maxima in it.
std::optional<int64_t> FactBounds::getLeast(const Form &form,
                                            const Thread &thread,
                                            unsigned depth) const {
  std::optional<int64_t> least = thread.known.get(form).min;
  auto raise = [&](std::optional<int64_t> other) {
    if (other && (!least || *least < *other))
      least = other;
  };
  raise(getLeastOfTables(form, thread));
  if (depth == 0)
    return least;
  // A multiple of it leaves what is no more.
  for (const Form &fact : thread.known.getFacts())
    for (auto [part, factor] : fact.terms) {
      int64_t times = form.getFactor(part) / factor;
      if (times <= 0)
        continue; // no part of the form
      if (std::optional<Form> less = form.plus(fact, -times))
        raise(getLeast(*less, thread, depth - 1));
      break;
    }
  // The least of some is no more than each of them.
  for (auto [atom, factor] : form.terms) {
    bool isExtreme = (atom->kind == SymbolicAtom::Minimum && factor < 0) ||
                     (atom->kind == SymbolicAtom::Maximum && factor > 0);
    Form whole;
    whole.terms.emplace_back(atom, 1);
    std::optional<Form> rest =
        isExtreme ? form.plus(whole, -factor) : std::nullopt;
    if (!rest)
      continue;
    for (const Form &of : atom->operands)
      if (std::optional<Form> less = rest->plus(of, factor))
        raise(getLeast(*less, thread, depth - 1));
  }
  return least;
}

bool FactBounds::isNonNegative(const Form &form, State state,
                               const GuardedRanges &known,
                               const std::vector<bool> &may) {
  std::pair<State, std::vector<int64_t>> key{state, {}};
  append(key.second, form);
  auto [it, isNew] = bounds.try_emplace(std::move(key));
  Bounds &found = it->second;
  if (isNew) {
    Form terms = form;
    terms.constant = 0;
    found.range = known.get(terms);
    found.least = getLeast(terms, {known, may}, kMaxDepth);
  }
  auto isAtLeastZero = [&](std::optional<int64_t> number) {
    Number sum = number ? addScaled(*number, form.constant, 1) : Number();
    return sum && *sum >= 0;
  };
  if (isAtLeastZero(found.range.min))
    return true;
  Number most = found.range.max ? addScaled(*found.range.max, form.constant, 1)
                                : Number();
  return !(most && *most < 0) && isAtLeastZero(found.least);
}

} // namespace mlir::workgroup
