//===- ThreadTables.cpp - What all threads of a block do ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadTables.h"
#include "Analysis/Integers/IntegerArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Condition = SymbolicCondition;

ThreadTables::ThreadTables(std::array<int64_t, 3> shape)
    : shape(shape), numThreads(shape[0] * shape[1] * shape[2]) {}

const ThreadTables::Values *ThreadTables::getValues(const SymbolicAtom *atom) {
  if (!atom->isOfThread)
    return nullptr;
  if (auto it = tables.find(atom); it != tables.end())
    return it->second.get();
  std::unique_ptr<Values> values;
  if (std::optional<Table> table = compute(atom)) {
    values = std::make_unique<Values>();
    for (int64_t number : *table)
      values->most = std::max(values->most, llvm::AbsoluteValue(number));
    values->table = std::move(*table);
  }
  return tables.try_emplace(atom, std::move(values)).first->second.get();
}

const ThreadTables::Table *ThreadTables::get(const SymbolicAtom *atom) {
  const Values *values = getValues(atom);
  return values ? &values->table : nullptr;
}

bool ThreadTables::addMultiples(const SymbolicAtom *atom, int64_t factor,
                                Table &sums) {
  constexpr uint64_t kLimit = uint64_t(1) << 48;
  const Values &values = *getValues(atom);
  uint64_t by = llvm::AbsoluteValue(factor);
  if (by != 0 && values.most > kLimit / by)
    return false;
  for (unsigned thread = 0; thread < numThreads; ++thread)
    sums[thread] += factor * values.table[thread];
  return true;
}

std::optional<ThreadTables::Table> ThreadTables::get(const SymbolicForm &form) {
  Table table(numThreads, form.constant);
  for (auto [atom, factor] : form.terms) {
    const Table *part = get(atom);
    if (!part)
      return std::nullopt;
    for (unsigned thread = 0; thread < numThreads; ++thread)
      table[thread] += factor * (*part)[thread];
  }
  return table;
}

/// One number of two, or nothing if that is not defined.
static Number combine(const SymbolicAtom &atom, int64_t lhs, int64_t rhs) {
  switch (atom.kind) {
  case Atom::Quotient:
    return rhs > 0 ? Number(llvm::divideFloorSigned(lhs, rhs)) : std::nullopt;
  case Atom::Product:
    return int64_t(uint64_t(lhs) * uint64_t(rhs));
  case Atom::Minimum:
    return std::min(lhs, rhs);
  case Atom::Maximum:
    return std::max(lhs, rhs);
  case Atom::Function: {
    unsigned width = getWidth(atom.op->getResult(0).getType());
    Number number = getBinaryFn(atom.op)(lhs, rhs, width);
    return number ? Number(wrap(*number, width)) : std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

std::optional<ThreadTables::Table>
ThreadTables::compute(const SymbolicAtom *atom) {
  Table table(numThreads);
  if (atom->kind == Atom::ThreadId) {
    for (unsigned thread = 0; thread < numThreads; ++thread)
      table[thread] = getIds(thread)[atom->dim];
    return table;
  }
  if (atom->operands.size() != 2)
    return std::nullopt;
  std::optional<Table> lhs = get(atom->operands[0]);
  std::optional<Table> rhs = get(atom->operands[1]);
  if (!lhs || !rhs)
    return std::nullopt;
  std::vector<Truth> isFirst;
  if (atom->kind == Atom::Select)
    isFirst = evaluate(atom->condition);
  for (unsigned thread = 0; thread < numThreads; ++thread) {
    Number number;
    if (isFirst.empty())
      number = combine(*atom, (*lhs)[thread], (*rhs)[thread]);
    else if (isFirst[thread] != Truth::Maybe)
      number = isFirst[thread] == Truth::Yes ? (*lhs)[thread] : (*rhs)[thread];
    if (!number)
      return std::nullopt;
    table[thread] = *number;
  }
  return table;
}

std::vector<ThreadTables::Truth>
ThreadTables::evaluate(const SymbolicCondition &condition) {
  std::vector<Truth> result(numThreads, Truth::Maybe);
  switch (condition.kind) {
  case Condition::True:
  case Condition::False:
    result.assign(numThreads,
                  condition.kind == Condition::True ? Truth::Yes : Truth::No);
    return result;
  case Condition::NonNegative:
  case Condition::Zero: {
    // What does not follow from the thread may be anything in its range.
    SymbolicForm own, rest;
    own.constant = condition.form.constant;
    for (auto term : condition.form.terms)
      (term.first->isOfThread ? own : rest).terms.push_back(term);
    std::optional<Table> table = get(own);
    Interval range = getRange(rest);
    if (!table)
      return result;
    bool isZero = condition.kind == Condition::Zero;
    for (unsigned thread = 0; thread < numThreads; ++thread) {
      int64_t number = (*table)[thread];
      bool isBelow = range.max && number + *range.max < 0;
      bool isAbove = range.min && number + *range.min > 0;
      bool isAtLeast = range.min && number + *range.min >= 0;
      if (isBelow || (isZero && isAbove))
        result[thread] = Truth::No;
      else if (isZero ? rest.isConstant() && number == 0 : isAtLeast)
        result[thread] = Truth::Yes;
    }
    return result;
  }
  case Condition::All:
  case Condition::Any: {
    bool isAll = condition.kind == Condition::All;
    result.assign(numThreads, isAll ? Truth::Yes : Truth::No);
    for (const Condition &part : condition.parts) {
      std::vector<Truth> other = evaluate(part);
      for (unsigned thread = 0; thread < numThreads; ++thread)
        result[thread] = isAll ? std::min(result[thread], other[thread])
                               : std::max(result[thread], other[thread]);
    }
    return result;
  }
  }
  llvm_unreachable("unknown condition");
}

std::vector<bool>
ThreadTables::getPossible(const SymbolicCondition &condition) {
  std::vector<bool> possible(numThreads, true);
  if (condition.kind == Condition::True)
    return possible;
  for (auto [thread, truth] : llvm::enumerate(evaluate(condition)))
    possible[thread] = truth != Truth::No;
  return possible;
}

bool isOfThread(const SymbolicCondition &condition) {
  return llvm::all_of(condition.form.terms,
                      [](auto term) { return term.first->isOfThread; }) &&
         llvm::all_of(condition.parts, isOfThread);
}

bool ThreadTables::isAlways(const SymbolicCondition &condition) {
  return llvm::all_of(evaluate(condition),
                      [](Truth truth) { return truth == Truth::Yes; });
}

/// The keys of the threads as one number each, if their parts are small enough:
/// of both, the numbers are equal where the keys are.
static bool number(const ThreadCoordinates &first,
                   const ThreadCoordinates &second,
                   ThreadTables::Table &ofFirst,
                   ThreadTables::Table &ofSecond) {
  ofFirst.assign(first.starts.size(), 0);
  ofSecond.assign(second.starts.size(), 0);
  constexpr int64_t kLimit = int64_t(1) << 62;
  int64_t size = 1;
  for (auto [lhs, rhs] : llvm::zip_equal(first.keys, second.keys)) {
    int64_t least = std::min(*llvm::min_element(lhs), *llvm::min_element(rhs));
    int64_t most = std::max(*llvm::max_element(lhs), *llvm::max_element(rhs));
    int64_t length, next;
    if (llvm::SubOverflow(most, least, length) ||
        llvm::AddOverflow(length, int64_t(1), length) ||
        llvm::MulOverflow(size, length, next) || next > kLimit)
      return false;
    for (auto [number, part] : llvm::zip_equal(ofFirst, lhs))
      number += size * (part - least);
    for (auto [number, part] : llvm::zip_equal(ofSecond, rhs))
      number += size * (part - least);
    size = next;
  }
  return true;
}

/// The same for parts of any size: by the order in which they are found.
static void numberByOrder(const ThreadCoordinates &places,
                          std::map<std::vector<int64_t>, int64_t> &order,
                          ThreadTables::Table &numbers) {
  for (unsigned thread = 0; thread < places.starts.size(); ++thread) {
    std::vector<int64_t> key;
    for (const ThreadTables::Table &part : places.keys)
      key.push_back(part[thread]);
    numbers[thread] = order.try_emplace(key, order.size()).first->second;
  }
}

namespace {
struct ThreadPlace {
  int64_t key, start;
  unsigned thread;

  bool operator<(const ThreadPlace &other) const {
    return key != other.key       ? key < other.key
           : start != other.start ? start < other.start
                                  : thread < other.thread;
  }
};
} // namespace

/// The first of `places`, which are in their order, that is of a larger key, or
/// behind `start` of `key`; `guess` is where it may be, or shortly before.
static size_t findBehind(ArrayRef<ThreadPlace> places, int64_t key,
                         int64_t start, size_t guess) {
  auto isBefore = [&](const ThreadPlace &place) {
    return place.key < key || (place.key == key && place.start <= start);
  };
  constexpr size_t kNear = 4;
  size_t begin = 0, end = places.size();
  if (guess > 0 && !isBefore(places[guess - 1])) {
    end = guess - 1;
  } else {
    begin = guess;
    for (size_t near = std::min(begin + kNear, end); begin < near; ++begin)
      if (!isBefore(places[begin]))
        return begin;
  }
  return std::partition_point(places.begin() + begin, places.begin() + end,
                              isBefore) -
         places.begin();
}

std::vector<std::pair<unsigned, unsigned>>
findMeetings(const ThreadCoordinates &first, const ThreadCoordinates &second,
             llvm::function_ref<bool(unsigned, unsigned)> isPair,
             size_t limit) {
  ThreadTables::Table ofFirst, ofSecond;
  if (!number(first, second, ofFirst, ofSecond)) {
    std::map<std::vector<int64_t>, int64_t> order;
    numberByOrder(first, order, ofFirst);
    numberByOrder(second, order, ofSecond);
  }
  // By key, the starts of `second` in ascending order.
  std::vector<ThreadPlace> places;
  places.reserve(second.starts.size());
  for (unsigned thread = 0; thread < second.starts.size(); ++thread)
    if (second.isPossible[thread])
      places.push_back({ofSecond[thread], second.starts[thread], thread});
  if (!llvm::is_sorted(places))
    llvm::sort(places);

  std::vector<std::pair<unsigned, unsigned>> meetings;
  size_t from = 0; // mostly close to that of the last thread
  for (unsigned thread = 0; thread < first.starts.size(); ++thread) {
    if (!first.isPossible[thread])
      continue;
    int64_t key = ofFirst[thread], start = first.starts[thread];
    from = findBehind(places, key, start - second.run, from);
    for (size_t i = from; i < places.size() && places[i].key == key &&
                          places[i].start < start + first.run;
         ++i) {
      unsigned other = places[i].thread;
      if (!isPair(thread, other))
        continue;
      meetings.emplace_back(thread, other);
      if (meetings.size() == limit)
        return meetings;
      break; // another thread, that the pairs be different
    }
  }
  return meetings;
}

} // namespace mlir::workgroup
