//===- ThreadConflictQuery.cpp - Two footprints, two threads --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadConflictQuery.h"
#include "PairEquations.h"

namespace mlir::workgroup {

using Form = SymbolicForm;
using Footprint = SymbolicFootprint;
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
    return llvm::is_contained(relation.sameIteration, loop);
  });
}

ThreadConflictQuery::ThreadConflictQuery(const ConflictMeans &means,
                                         const Footprint &first,
                                         const Footprint &second,
                                         const PairRelation &relation)
    : index(means.index), tables(means.tables), bounds(means.bounds),
      effort(means.effort), first(first), second(second), relation(relation) {
  auto isOf = [&](AccessScope scope) {
    return first.accessScope == scope || second.accessScope == scope;
  };
  mayBeSame = isOf(AccessScope::Warp);
  isAnybody = isOf(AccessScope::Block) || relation.mayBeSame ||
              (mayBeSame && !index.getShape().getNumThreads());
  for (auto [lhs, rhs] :
       llvm::zip_equal(first.coordinates, second.coordinates)) {
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

std::optional<int64_t> ThreadConflictQuery::getReach(const Footprint &footprint,
                                                     unsigned coordinate) {
  int64_t reach =
      coordinate + 1 == footprint.coordinates.size() ? footprint.run - 1 : 0;
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
    Interval lhs = index.getRange(firstOwn[i]);
    Interval rhs = index.getRange(secondOwn[i]);
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
std::optional<ThreadCoordinates>
ThreadConflictQuery::getCoordinates(const Footprint &footprint,
                                    ArrayRef<Form> own) {
  ThreadCoordinates values;
  unsigned last = own.size() - 1;
  values.starts.assign(tables->getNumThreads(), 0);
  for (unsigned i = 0; i <= last; ++i) {
    bool isUsable = areOfThread(firstOwn[i]) && areOfThread(secondOwn[i]) &&
                    getReach(first, i) && getReach(second, i);
    if (i != last) // several places of it are more than a key can say
      isUsable &= getReach(first, i) == 0 && getReach(second, i) == 0;
    if (!isUsable)
      continue;
    auto table = tables->get(own[i]);
    if (!table)
      return std::nullopt;
    if (i == last) {
      values.starts = std::move(*table);
      values.run = *getReach(footprint, i) + 1;
      continue;
    }
    values.keys.push_back(std::move(*table));
  }
  if (relation.threads == PairRelation::OfOneWarp) {
    values.keys.emplace_back(tables->getNumThreads());
    for (auto [thread, warp] : llvm::enumerate(values.keys.back()))
      warp = thread / kWarpSize;
  }
  values.isPossible = tables->getPossible(footprint.condition);
  return values;
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
  if (!tables || isOfTwoBlocks())
    return false;
  std::optional<ThreadCoordinates> lhs = getCoordinates(first, firstOwn);
  std::optional<ThreadCoordinates> rhs = getCoordinates(second, secondOwn);
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
  PairEquations::Place place{footprint.coordinates[coordinate], {}};
  if (coordinate + 1 == footprint.coordinates.size())
    place.steps.push_back(
        {SymbolicForm(footprint.run), /*stride=*/1, footprint.run});
  for (const Footprint::Extent &extent : footprint.box)
    if (extent.coordinate == coordinate)
      place.steps.push_back({extent.count, extent.stride, *extent.getMost()});
  return place;
}

/// True if the components of the coordinates cannot all be the same.
bool ThreadConflictQuery::cannotBeEqual() {
  // Then tables tell as much.
  if (tables && !isOfTwoBlocks() && areOfThread(firstOwn) &&
      areOfThread(secondOwn))
    return false;
  bool maySameThread = relation.threads == PairRelation::OfOneWarp && mayBeSame;
  PairEquations equations({index, tables, bounds, effort}, relation,
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
    witness.coordinates.push_back(system.evaluate(coordinate));
  return witness;
}

/// Says that some byte of the two footprints is the same.
void ThreadConflictQuery::addMeeting(System &system) {
  unsigned last = firstOwn.size() - 1;
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
}

/// Says all that is asked for.
void ThreadConflictQuery::addAll(System &system) {
  addMeeting(system);
  system.add(first.condition, System::First);
  system.add(second.condition, System::Second);
  system.addIterations();
  system.addThreads(mayBeSame, isAnybody);
}

/// The conflict as far as it is known when it is not asked for any more.
static Conflict giveUp() {
  Conflict conflict;
  conflict.kind = Conflict::Possible;
  conflict.reason = "the kernel has too many accesses to look at all of them";
  return conflict;
}

/// Solves the system, for the given threads only if there are any. What has a
/// solution in rationals is possible.
Conflict
ThreadConflictQuery::solve(std::optional<std::pair<unsigned, unsigned>> threads,
                           bool isRational) {
  if (effort.isExhausted())
    return giveUp();
  System system(index, relation);
  if (threads) {
    system.fix(System::First, tables->getIds(threads->first), *tables);
    system.fix(System::Second, tables->getIds(threads->second), *tables);
  }
  addAll(system);
  return solve(system, threads.has_value(), isRational);
}

Conflict ThreadConflictQuery::solve(System &system, bool areGiven,
                                    bool isRational) {
  Conflict conflict;
  conflict.kind = Conflict::Possible;
  bool isExact = system.isExact();
  conflict.reason = system.getInexactness();
  if (system.isTooLarge())
    effort.spent += uint64_t(System::kMaxVariables) * System::kMaxVariables;
  // Asked for what is certain only, or too much.
  if ((areGiven && !isExact) || system.isTooLarge())
    return conflict;
  SmallVector<System::Row, 2> place;
  // Looked at in a witness, so there have to be variables for them.
  for (System::Side side : {System::First, System::Second}) {
    for (unsigned dim = 0; dim < 3; ++dim)
      system.get(index.getThreadId(dim), side);
    for (unsigned dim = 0; dim < 3 && isOfTwoBlocks(); ++dim)
      system.get(index.getBlockId(dim), side);
    for (unsigned i = 0; i < first.coordinates.size() && side == System::First;
         ++i)
      place.push_back(system.get(first.coordinates[i], side));
  }
  System::Answer answer = system.solve(isRational);
  effort.spent += system.getEffort();
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

/// True if the threads alone tell where both accesses are, and when, but for
/// what contradicts itself: those found in tables meet.
bool ThreadConflictQuery::isToldByThreads() const {
  bool isAnyTime = !relation.carrier && relation.sameIteration.empty();
  bool isWhen = isOfThread(first.condition) && isOfThread(second.condition);
  return areOfThread(firstOwn) && areOfThread(secondOwn) &&
         (isAnyTime || isWhen) && relation.ends.empty() &&
         relation.iterations.empty() && relation.avoided.empty();
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
  if (isApart())
    return conflict;
  // Numbers in the place of ids make small systems: some threads are tried
  // before it is asked for any.
  constexpr size_t kFirst = 2;
  for (auto meeting : ArrayRef(meetings).take_front(kFirst))
    if (Conflict found = solve(meeting); found.kind == Conflict::Certain)
      return found;
  if (cannotBeEqual())
    return conflict;
  return effort.isExhausted() ? giveUp() : decideForAll();
}

} // namespace mlir::workgroup
