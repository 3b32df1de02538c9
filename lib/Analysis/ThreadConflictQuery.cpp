//===- ThreadConflictQuery.cpp - Two footprints, two threads --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadConflictQuery.h"
#include "PairEquations.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

using Form = SymbolicForm;
using Footprint = ThreadConflicts::Footprint;
using System = ThreadPairSystem;

/// True if both threads hold the same `atom`, whoever they are.
static bool isSame(const SymbolicAtom &atom, const PairRelation &relation) {
  bool isDivergent = relation.threads == PairRelation::OfOneWarp
                         ? atom.isDivergentInWarp
                         : atom.isDivergent;
  if (isDivergent || atom.isUnsteady ||
      relation.threads == PairRelation::OfTwoBlocks)
    return false;
  return llvm::all_of(atom.loops, [&](const KernelLoop *loop) {
    return llvm::is_contained(relation.sameTurn, loop);
  });
}

ThreadConflictQuery::ThreadConflictQuery(ThreadConflicts &conflicts,
                                         const Footprint &first,
                                         const Footprint &second,
                                         const PairRelation &relation)
    : conflicts(conflicts), index(conflicts.index), first(first),
      second(second), relation(relation) {
  auto isOf = [&](AccessAgent agent) {
    return first.agent == agent || second.agent == agent;
  };
  mayBeSame = isOf(AccessAgent::Warp);
  isAnybody = isOf(AccessAgent::Block) || relation.mayBeSame ||
              (mayBeSame && !index.getShape().getNumThreads());
  for (auto [lhs, rhs] : llvm::zip_equal(first.place, second.place)) {
    Form left = lhs.constant, right = rhs.constant;
    for (auto [atom, factor] : lhs.terms)
      if (!isSame(*atom, relation) || rhs.getFactor(atom) != factor)
        left.terms.emplace_back(atom, factor);
    for (auto [atom, factor] : rhs.terms)
      if (!isSame(*atom, relation) || lhs.getFactor(atom) != factor)
        right.terms.emplace_back(atom, factor);
    firstOwn.push_back(std::move(left));
    secondOwn.push_back(std::move(right));
  }
}

/// True if no place of a footprint is below its first along a coordinate.
static bool startsAtFirst(const Footprint &footprint, unsigned coordinate) {
  return llvm::all_of(footprint.box, [&](const Footprint::Extent &extent) {
    return extent.coordinate != coordinate || extent.stride >= 0;
  });
}

/// How far the places of a footprint reach along a coordinate beyond the first;
/// nothing if that is not known, or if there are some below the first.
static std::optional<int64_t> getReach(const Footprint &footprint,
                                       unsigned coordinate) {
  int64_t reach =
      coordinate + 1 == footprint.place.size() ? footprint.run - 1 : 0;
  for (const Footprint::Extent &extent : footprint.box) {
    if (extent.coordinate != coordinate)
      continue;
    std::optional<int64_t> most = extent.getMost();
    if (!most || extent.stride < 0)
      return std::nullopt;
    reach += extent.stride * std::max<int64_t>(0, *most - 1);
  }
  return reach;
}

/// True if ranges alone keep them apart.
bool ThreadConflictQuery::isSeparate() {
  for (unsigned i = 0; i < firstOwn.size(); ++i) {
    SymbolicRange lhs = index.getRange(firstOwn[i]);
    SymbolicRange rhs = index.getRange(secondOwn[i]);
    std::optional<int64_t> leftReach = getReach(first, i);
    std::optional<int64_t> rightReach = getReach(second, i);
    if (leftReach && lhs.max && rhs.min && startsAtFirst(second, i) &&
        *lhs.max + *leftReach < *rhs.min)
      return true;
    if (rightReach && rhs.max && lhs.min && startsAtFirst(first, i) &&
        *rhs.max + *rightReach < *lhs.min)
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static bool areOfThread(ArrayRef<Form> forms) {
  return llvm::all_of(forms, [](const Form &form) {
    return llvm::all_of(form.terms,
                        [](auto term) { return term.first->isOfThread; });
  });
}

/// The places of all threads, as far as they follow from the thread: in the
/// coordinates in which both footprints do.
std::optional<ThreadPlaces>
ThreadConflictQuery::getPlaces(const Footprint &footprint, ArrayRef<Form> own) {
  ThreadTables &tables = *conflicts.tables;
  ThreadPlaces places;
  unsigned last = own.size() - 1;
  places.starts.assign(tables.getNumThreads(), 0);
  for (unsigned i = 0; i <= last; ++i) {
    bool isUsable = areOfThread(firstOwn[i]) && areOfThread(secondOwn[i]) &&
                    getReach(first, i) && getReach(second, i);
    if (i != last) // several places of it are more than a key can say
      isUsable &= getReach(first, i) == 0 && getReach(second, i) == 0;
    if (!isUsable)
      continue;
    auto table = tables.get(own[i]);
    if (!table)
      return std::nullopt;
    if (i == last) {
      places.starts = std::move(*table);
      places.run = *getReach(footprint, i) + 1;
      continue;
    }
    places.keys.push_back(std::move(*table));
  }
  if (relation.threads == PairRelation::OfOneWarp) {
    places.keys.emplace_back(tables.getNumThreads());
    for (auto [thread, warp] : llvm::enumerate(places.keys.back()))
      warp = thread / kWarpSize;
  }
  places.isPossible = tables.getPossible(footprint.condition);
  return places;
}

bool ThreadConflictQuery::isPair(unsigned first, unsigned second) const {
  if (isAnybody)
    return true;
  bool isOneWarp = first / kWarpSize == second / kWarpSize;
  if (relation.threads == PairRelation::OfOneWarp)
    return isOneWarp && (mayBeSame || first != second);
  return !isOneWarp;
}

/// True if no two threads meet. Else finds some that may.
bool ThreadConflictQuery::cannotMeet() {
  if (!conflicts.tables || isOfTwoBlocks())
    return false;
  std::optional<ThreadPlaces> lhs = getPlaces(first, firstOwn);
  std::optional<ThreadPlaces> rhs = getPlaces(second, secondOwn);
  if (!lhs || !rhs)
    return false;
  constexpr size_t kMaxMeetings = 8;
  meetings = findMeetings(
      *lhs, *rhs, [&](unsigned lhs, unsigned rhs) { return isPair(lhs, rhs); },
      kMaxMeetings);
  return meetings.empty();
}

/// The places of `footprint` along `coordinate`.
static PairEquations::Place getPlace(const Footprint &footprint,
                                     unsigned coordinate) {
  PairEquations::Place place{footprint.place[coordinate], {}};
  if (coordinate + 1 == footprint.place.size())
    place.steps.push_back(
        {SymbolicForm(footprint.run), /*stride=*/1, footprint.run});
  for (const Footprint::Extent &extent : footprint.box)
    if (extent.coordinate == coordinate)
      place.steps.push_back({extent.count, extent.stride, *extent.getMost()});
  return place;
}

/// True if the digits of the coordinates cannot all be the same.
bool ThreadConflictQuery::cannotBeEqual() {
  // Then tables tell as much.
  if (conflicts.tables && !isOfTwoBlocks() && areOfThread(firstOwn) &&
      areOfThread(secondOwn))
    return false;
  bool maySameThread = relation.threads == PairRelation::OfOneWarp && mayBeSame;
  auto isPair = [&](unsigned lhs, unsigned rhs) {
    return isOfTwoBlocks() || this->isPair(lhs, rhs);
  };
  PairEquations equations(index, conflicts.tables.get(), relation, isPair,
                          !isOfTwoBlocks() && !isAnybody && !maySameThread);
  equations.addConditions(first.condition, second.condition);
  for (unsigned i = 0; i < firstOwn.size(); ++i)
    if (getReach(first, i) && getReach(second, i))
      equations.add(getPlace(first, i), getPlace(second, i));
  return equations.isContradiction();
}

//===----------------------------------------------------------------------===//
// Integer linear programming
//===----------------------------------------------------------------------===//

/// `place` with a step of the box added.
System::Row ThreadConflictQuery::addBox(System &system,
                                        const Footprint &footprint,
                                        unsigned coordinate, System::Row place,
                                        System::Side side) {
  for (const Footprint::Extent &extent : footprint.box) {
    if (extent.coordinate != coordinate)
      continue;
    std::optional<int64_t> last;
    if (extent.limit != 0)
      last = extent.limit - 1;
    System::Row step = system.makeVariable({0, last});
    System::Row left = system.get(extent.count, side);
    left.add(step, -1);
    left.constant -= 1;
    system.addNonNegative(left);
    place.add(step, extent.stride);
  }
  return place;
}

Conflict::Witness
ThreadConflictQuery::makeWitness(System &system, ArrayRef<System::Row> place) {
  Conflict::Witness witness;
  for (System::Side side : {System::First, System::Second})
    for (unsigned dim = 0; dim < 3; ++dim) {
      auto evaluate = [&](const SymbolicForm &form) {
        return system.evaluate(system.get(form, side));
      };
      witness.threads[side][dim] = evaluate(index.getThreadId(dim));
      if (isOfTwoBlocks())
        witness.blocks[side][dim] = evaluate(index.getBlockId(dim));
    }
  for (const System::Row &coordinate : place)
    witness.place.push_back(system.evaluate(coordinate));
  return witness;
}

/// Solves the system, for the given threads only if there are any. What has a
/// solution in rationals is possible.
Conflict
ThreadConflictQuery::solve(std::optional<std::pair<unsigned, unsigned>> threads,
                           bool isRational) {
  Conflict conflict;
  conflict.kind = Conflict::Possible;
  if (conflicts.isExhausted()) {
    conflict.reason = "the kernel has too many accesses to look at all of them";
    return conflict;
  }
  System system(index, relation);
  if (threads) {
    system.fix(System::First, conflicts.tables->getIds(threads->first),
               *conflicts.tables);
    system.fix(System::Second, conflicts.tables->getIds(threads->second),
               *conflicts.tables);
  }
  unsigned last = firstOwn.size() - 1;
  SmallVector<System::Row, 2> place;
  for (unsigned i = 0; i <= last; ++i) {
    System::Row lhs =
        addBox(system, first, i, system.get(firstOwn[i], System::First),
               System::First);
    System::Row rhs =
        addBox(system, second, i, system.get(secondOwn[i], System::Second),
               System::Second);
    System::Row distance = lhs;
    distance.add(rhs, -1);
    if (i != last) {
      system.addZero(distance);
      continue;
    }
    System::Row behind = distance, before;
    behind.constant += first.run - 1;
    before.add(distance, -1);
    before.constant += second.run - 1;
    system.addNonNegative(behind);
    system.addNonNegative(before);
  }
  system.add(first.condition, System::First);
  system.add(second.condition, System::Second);
  system.addTurns();
  system.addThreads(mayBeSame, isAnybody);
  bool isExact = system.isExact();
  std::string inexactness = system.getInexactness();
  conflict.reason = inexactness;
  if (threads && !isExact) // asked for what is certain only
    return conflict;
  // Looked at in a witness, so there have to be variables for them.
  for (System::Side side : {System::First, System::Second}) {
    for (unsigned dim = 0; dim < 3; ++dim)
      system.get(index.getThreadId(dim), side);
    for (unsigned dim = 0; dim < 3 && isOfTwoBlocks(); ++dim)
      system.get(index.getBlockId(dim), side);
    for (unsigned i = 0; i <= last && side == System::First; ++i)
      place.push_back(system.get(first.place[i], side));
  }
  System::Answer answer = system.solve(isRational);
  conflicts.effort += system.getEffort();
  if (answer == System::Answer::Empty)
    return Conflict();
  if (answer == System::Answer::Unknown) {
    conflict.reason = "its index arithmetic is too long";
  } else if (isExact && !isRational && !system.settleInputs()) {
    conflict.reason = "a number that the kernel is given has to be below zero";
  } else if (isExact && !isRational) {
    conflict.kind = Conflict::Certain;
    conflict.witness = makeWitness(system, place);
  }
  return conflict;
}

/// What is known of a coordinate that threads and turns both add to: the parts
/// that follow from the thread, and the rest.
struct ThreadConflictQuery::Mixture {
  ThreadTables::Table first, second;
  std::vector<bool> mayFirst, maySecond;
  Form firstRest, secondRest;
  /// The range of the differences of the rests, and what they are multiples of,
  /// beyond a constant.
  SymbolicRange range;
  int64_t constant = 0, step = 0;
  int64_t firstReach = 0, secondReach = 0;

  /// True if the rests can make up for a difference between threads.
  bool canMeet(int64_t difference) const {
    int64_t low = -firstReach - difference, high = secondReach - difference;
    if (range.min)
      low = std::max(low, *range.min);
    if (range.max)
      high = std::min(high, *range.max);
    if (step == 0)
      return low <= constant && constant <= high;
    return llvm::divideCeilSigned(low - constant, step) <=
           llvm::divideFloorSigned(high - constant, step);
  }
};

std::optional<ThreadConflictQuery::Mixture> ThreadConflictQuery::getMixture() {
  if (firstOwn.size() != 1 || !conflicts.tables || isOfTwoBlocks() ||
      !getReach(first, 0) || !getReach(second, 0))
    return std::nullopt;
  auto split = [](const Form &form, Form &rest) {
    Form ofThread;
    rest.constant = form.constant;
    for (auto term : form.terms)
      (term.first->isOfThread ? ofThread : rest).terms.push_back(term);
    return ofThread;
  };
  Mixture mixture;
  auto lhs = conflicts.tables->get(split(firstOwn[0], mixture.firstRest));
  auto rhs = conflicts.tables->get(split(secondOwn[0], mixture.secondRest));
  if (!lhs || !rhs)
    return std::nullopt;
  mixture.first = std::move(*lhs);
  mixture.second = std::move(*rhs);
  mixture.mayFirst = conflicts.tables->getPossible(first.condition);
  mixture.maySecond = conflicts.tables->getPossible(second.condition);
  SymbolicRange left = index.getRange(mixture.firstRest);
  SymbolicRange right = index.getRange(mixture.secondRest);
  if (left.min && right.max)
    mixture.range.min = *left.min - *right.max;
  if (left.max && right.min)
    mixture.range.max = *left.max - *right.min;
  mixture.constant = mixture.firstRest.constant - mixture.secondRest.constant;
  for (const Form *rest : {&mixture.firstRest, &mixture.secondRest})
    for (auto [atom, factor] : rest->terms)
      mixture.step = std::gcd(mixture.step, factor);
  mixture.firstReach = *getReach(first, 0);
  mixture.secondReach = *getReach(second, 0);
  return mixture;
}

/// The threads that `may` be there, by what they have in `table`.
static std::map<int64_t, std::vector<unsigned>>
groupThreads(const ThreadTables::Table &table, const std::vector<bool> &may) {
  std::map<int64_t, std::vector<unsigned>> groups;
  for (unsigned thread = 0; thread < table.size(); ++thread)
    if (may[thread])
      groups[table[thread]].push_back(thread);
  return groups;
}

/// Two threads of these that are a pair, the first ones if there are several.
std::optional<std::pair<unsigned, unsigned>>
ThreadConflictQuery::findPair(ArrayRef<unsigned> lhs, ArrayRef<unsigned> rhs) {
  constexpr unsigned kPairsOfAStep = 16; // this many cost as much as one
  unsigned numPairs = 0;
  for (unsigned i : lhs)
    for (unsigned j : rhs) {
      conflicts.effort += ++numPairs % kPairsOfAStep == 0;
      if (isPair(i, j))
        return std::pair(i, j);
    }
  return std::nullopt;
}

/// Goes through all pairs of threads of a mixture: true if they are separate
/// for what is known of the differences between them, their range and how close
/// they get to zero. Finds pairs that may meet, of different differences.
bool ThreadConflictQuery::isSeparateByDifferences(const Mixture &mixture) {
  constexpr size_t kMaxMeetings = 16;
  if (conflicts.isExhausted())
    return false;
  std::optional<int64_t> least, most, closest;
  std::map<std::pair<int64_t, int64_t>, std::pair<unsigned, unsigned>> found;
  auto lhs = groupThreads(mixture.first, mixture.mayFirst);
  auto rhs = groupThreads(mixture.second, mixture.maySecond);
  for (auto &[left, firstThreads] : lhs) {
    for (auto &[right, secondThreads] : rhs) {
      auto pair = findPair(firstThreads, secondThreads);
      if (!pair)
        continue;
      int64_t difference = left - right;
      least = std::min(least.value_or(difference), difference);
      most = std::max(most.value_or(difference), difference);
      closest = std::min(closest.value_or(std::abs(difference)),
                         std::abs(difference));
      if (mixture.canMeet(difference))
        found.try_emplace({std::abs(difference), difference}, *pair);
    }
  }
  if (found.empty())
    return true;
  meetings.clear();
  for (auto &[_, meeting] : found)
    if (meetings.size() < kMaxMeetings)
      meetings.push_back(meeting);
  System system(index, relation);
  System::Row difference = system.makeVariable({least, most});
  System::Row negated;
  negated.add(difference, -1);
  if (*closest > 0) {
    System::Row above = difference, below = negated;
    above.constant -= *closest;
    below.constant -= *closest;
    system.addCases({{above}, {below}});
  }
  System::Row behind = difference;
  behind.add(system.get(mixture.firstRest, System::First), 1);
  behind.add(system.get(mixture.secondRest, System::Second), -1);
  System::Row before;
  before.add(behind, -1);
  behind.constant += mixture.firstReach;
  before.constant += mixture.secondReach;
  system.addNonNegative(behind);
  system.addNonNegative(before);
  system.add(first.condition, System::First);
  system.add(second.condition, System::Second);
  system.addTurns();
  bool isEmpty = system.solve() == System::Answer::Empty;
  conflicts.effort += system.getEffort();
  return isEmpty;
}

/// True if the threads alone tell where both accesses are, and when, but for
/// what contradicts itself: those found in tables meet.
bool ThreadConflictQuery::isToldByThreads() const {
  bool isAnyTime = !relation.carrier && relation.sameTurn.empty();
  bool isWhen = isOfThread(first.condition) && isOfThread(second.condition);
  return areOfThread(firstOwn) && areOfThread(secondOwn) &&
         (isAnyTime || isWhen) && relation.ends.empty() &&
         relation.turns.empty() && relation.avoided.empty();
}

bool ThreadConflictQuery::isPossible() {
  if (isApart())
    return false;
  if (!meetings.empty() && isToldByThreads())
    return true;
  return !cannotBeEqual() && bool(solve(std::nullopt, /*isRational=*/true));
}

Conflict ThreadConflictQuery::decide() {
  Conflict conflict;
  if (isApart() || cannotBeEqual())
    return conflict;
  // Numbers in the place of ids make small systems: some threads are tried
  // before it is asked for any.
  constexpr size_t kFirst = 2;
  for (auto meeting : ArrayRef(meetings).take_front(kFirst))
    if (Conflict found = solve(meeting); found.kind == Conflict::Certain)
      return found;
  conflict = solve(std::nullopt);
  if (conflict.kind != Conflict::Possible)
    return conflict;
  std::optional<Mixture> mixture = getMixture();
  if (mixture && isSeparateByDifferences(*mixture))
    return Conflict();
  // Arithmetic that is not linear becomes numbers for given threads.
  for (auto meeting : meetings)
    if (Conflict found = solve(meeting); found.kind == Conflict::Certain)
      return found;
  return conflict;
}

} // namespace mlir::workgroup
