//===- ThreadDifferences.cpp - By how much threads differ -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where threads and iterations of loops both tell the place of an access, in
// sums of both, all pairs of threads are looked at for by how much they differ,
// and the iterations for whether they can make up for that.
//
//===----------------------------------------------------------------------===//

#include "ThreadConflictQuery.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

using Form = SymbolicForm;
using System = ThreadPairSystem;

/// A coordinate that threads and iterations both add to: the parts that follow
/// from the thread, and the rest.
struct ThreadConflictQuery::Mixture {
  ThreadTables::Table first, second;
  std::vector<bool> mayFirst, maySecond;
  Form firstRest, secondRest;
  /// The range of the differences of the rests, and what they are multiples of,
  /// beyond a constant.
  Interval range;
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

/// The differences between the parts that follow from threads, of all pairs of
/// them.
struct ThreadConflictQuery::Differences {
  /// The range, and the least distance from zero.
  std::optional<int64_t> least, most, closest;
  /// Two threads for each difference, by the distance from zero, that
  /// iterations can make up for.
  std::map<std::pair<int64_t, int64_t>, std::pair<unsigned, unsigned>> meetings;
};

std::optional<ThreadConflictQuery::Mixture> ThreadConflictQuery::getMixture() {
  if (firstOwn.size() != 1 || !tables || isOfTwoBlocks() ||
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
  auto lhs = tables->get(split(firstOwn[0], mixture.firstRest));
  auto rhs = tables->get(split(secondOwn[0], mixture.secondRest));
  bool isAsked =
      mixture.firstRest.isConstant() && mixture.secondRest.isConstant();
  if (!lhs || !rhs || isAsked)
    return std::nullopt;
  mixture.first = std::move(*lhs);
  mixture.second = std::move(*rhs);
  mixture.mayFirst = tables->getPossible(first.condition);
  mixture.maySecond = tables->getPossible(second.condition);
  Interval left = index.getRange(mixture.firstRest);
  Interval right = index.getRange(mixture.secondRest);
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

namespace {
/// Threads that have the same number.
struct ThreadGroup {
  int64_t number = 0;
  SmallVector<unsigned, 4> threads;
  /// A bit for each of their warps, of which a block has 32 at most.
  uint32_t warps = 0;
};
} // namespace

/// The threads that `may` be there, by what they have in `table`, in ascending
/// order.
static std::vector<ThreadGroup> groupThreads(const ThreadTables::Table &table,
                                             const std::vector<bool> &may) {
  std::vector<std::pair<int64_t, unsigned>> places;
  for (unsigned thread = 0; thread < table.size(); ++thread)
    if (may[thread])
      places.emplace_back(table[thread], thread);
  llvm::sort(places);
  std::vector<ThreadGroup> groups;
  for (auto [number, thread] : places) {
    if (groups.empty() || groups.back().number != number)
      groups.push_back({number, {}, 0});
    groups.back().threads.push_back(thread);
    groups.back().warps |= uint32_t(1) << (thread / kWarpSize);
  }
  return groups;
}

/// Two threads of these that are a pair, the first ones if there are several.
std::optional<std::pair<unsigned, unsigned>>
ThreadConflictQuery::findPair(ArrayRef<unsigned> lhs, ArrayRef<unsigned> rhs) {
  constexpr unsigned kPairsOfAStep = 16; // this many cost as much as one
  unsigned numPairs = 0;
  for (unsigned i : lhs)
    for (unsigned j : rhs) {
      effort.spent += ++numPairs % kPairsOfAStep == 0;
      if (isPair(i, j))
        return std::pair(i, j);
    }
  return std::nullopt;
}

/// What the differences between all pairs of threads of a mixture are.
ThreadConflictQuery::Differences
ThreadConflictQuery::findDifferences(const Mixture &mixture) {
  Differences found;
  auto lhs = groupThreads(mixture.first, mixture.mayFirst);
  auto rhs = groupThreads(mixture.second, mixture.maySecond);
  bool isOfOneWarp = relation.threads == PairRelation::OfOneWarp;
  for (const ThreadGroup &left : lhs) {
    for (const ThreadGroup &right : rhs) {
      int64_t difference = left.number - right.number;
      bool isApart = isOfOneWarp ? (left.warps & right.warps) == 0
                                 : left.warps == right.warps &&
                                       llvm::isPowerOf2_32(left.warps);
      if (isApart && !isAnybody)
        continue;
      // Of one warp, it may be the same thread.
      bool canMeet = mixture.canMeet(difference);
      bool isAsked = canMeet || isOfOneWarp;
      std::optional<std::pair<unsigned, unsigned>> pair;
      if (isAsked)
        pair = findPair(left.threads, right.threads);
      if (isAsked && !pair)
        continue;
      int64_t distance = std::abs(difference);
      found.least = std::min(found.least.value_or(difference), difference);
      found.most = std::max(found.most.value_or(difference), difference);
      found.closest = std::min(found.closest.value_or(distance), distance);
      if (canMeet)
        found.meetings.try_emplace({distance, difference}, *pair);
    }
  }
  return found;
}

/// True if iterations cannot make up for any of the differences that `known`
/// tells of.
bool ThreadConflictQuery::isSeparate(const Mixture &mixture,
                                     const Differences &known) {
  System system(index, relation);
  System::Row difference = system.makeVariable({known.least, known.most});
  System::Row negated;
  negated.add(difference, -1);
  if (*known.closest > 0) {
    System::Row above = difference, below = negated;
    above.constant -= *known.closest;
    below.constant -= *known.closest;
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
  system.addIterations();
  bool isEmpty = system.solve() == System::Answer::Empty;
  effort.spent += system.getEffort();
  return isEmpty;
}

/// Threads that are tried before all that are not alike.
static constexpr size_t kFirstThreads = 2;

/// Goes through all pairs of threads of a mixture. Finds some that may meet, of
/// different differences, and tries the first of these: arithmetic that is not
/// linear becomes numbers for given threads. Or finds that none meet, by what
/// is known of the differences: their range and how close they get to zero.
std::optional<Conflict>
ThreadConflictQuery::tryThreads(const Mixture &mixture) {
  constexpr size_t kMaxMeetings = 16;
  Differences differences = findDifferences(mixture);
  if (differences.meetings.empty())
    return Conflict();
  meetings.clear();
  for (auto &[_, meeting] : differences.meetings)
    if (meetings.size() < kMaxMeetings)
      meetings.push_back(meeting);
  for (auto meeting : ArrayRef(meetings).take_front(kFirstThreads))
    if (Conflict found = solve(meeting); found.kind == Conflict::Certain)
      return found;
  return isSeparate(mixture, differences) ? std::optional(Conflict())
                                          : std::nullopt;
}

/// `conflict`, which is possible, by looking at threads that were not tried.
Conflict
ThreadConflictQuery::decideByThreads(Conflict conflict,
                                     const std::optional<Mixture> &mixture) {
  if (mixture && isSeparateByThreads(*mixture))
    return Conflict();
  size_t numTried = mixture ? std::min(kFirstThreads, meetings.size()) : 0;
  for (auto meeting : ArrayRef(meetings).drop_front(numTried))
    if (Conflict found = solve(meeting); found.kind == Conflict::Certain)
      return found;
  return conflict;
}

/// Asks for all threads at once. A solution of what is not exact is none of
/// threads: some are tried before, which takes a fraction of the time.
Conflict ThreadConflictQuery::decideForAll() {
  System system(index, relation);
  addAll(system);
  std::optional<Mixture> mixture;
  auto findByThreads = [&]() -> std::optional<Conflict> {
    if (!effort.isExhausted())
      mixture = getMixture();
    return mixture ? tryThreads(*mixture) : std::nullopt;
  };
  bool isExact = system.isExact();
  if (!isExact)
    if (std::optional<Conflict> found = findByThreads())
      return *found;
  Conflict conflict = solve(system, /*areGiven=*/false, /*isRational=*/false);
  if (conflict.kind != Conflict::Possible)
    return conflict;
  if (isExact)
    if (std::optional<Conflict> found = findByThreads())
      return *found;
  return decideByThreads(std::move(conflict), mixture);
}

//===----------------------------------------------------------------------===//
// By threads
//===----------------------------------------------------------------------===//

static void collectForms(const SymbolicCondition &condition,
                         SmallVectorImpl<const Form *> &forms) {
  if (!condition.form.isConstant())
    forms.push_back(&condition.form);
  for (const SymbolicCondition &part : condition.parts)
    collectForms(part, forms);
}

/// Tables of what tells threads apart for `footprint` besides their places:
/// threads with the same numbers in all of them count as one.
std::vector<ThreadTables::Table>
ThreadConflictQuery::getTraits(const Footprint &footprint) {
  ThreadTables::Table ids(tables->getNumThreads());
  std::iota(ids.begin(), ids.end(), 0);
  SmallVector<const Form *> forms;
  collectForms(footprint.condition, forms);
  for (const Footprint::Extent &extent : footprint.box)
    forms.push_back(&extent.count);
  std::vector<ThreadTables::Table> traits;
  for (const Form *form : forms) {
    Form ofThread;
    for (auto term : form->terms) {
      const SymbolicAtom &atom = *term.first;
      if (atom.isOfThread)
        ofThread.terms.push_back(term);
      else if (!atom.isLeaf() && atom.isDivergent)
        return {ids}; // of threads and iterations
    }
    std::optional<ThreadTables::Table> table = tables->get(ofThread);
    if (!table)
      return {ids};
    traits.push_back(std::move(*table));
  }
  bool isOfIterations = !relation.ends.empty() ||
                        !relation.iterations.empty() ||
                        !relation.avoided.empty();
  if (isOfIterations)
    return {ids};
  return traits;
}

/// The threads that `may` be there, by what they have in `place` and `traits`.
static std::map<std::vector<int64_t>, std::vector<unsigned>>
groupThreads(const ThreadTables::Table &place,
             ArrayRef<ThreadTables::Table> traits,
             const std::vector<bool> &may) {
  std::map<std::vector<int64_t>, std::vector<unsigned>> groups;
  for (unsigned thread = 0; thread < place.size(); ++thread) {
    if (!may[thread])
      continue;
    std::vector<int64_t> key = {place[thread]};
    for (const ThreadTables::Table &trait : traits)
      key.push_back(trait[thread]);
    groups[std::move(key)].push_back(thread);
  }
  return groups;
}

/// True if no two threads that the iterations can bring together do meet, asked
/// one pair after the other of those that are not alike.
bool ThreadConflictQuery::isSeparateByThreads(const Mixture &mixture) {
  constexpr unsigned kMaxPairs = 256;
  auto lhs = groupThreads(mixture.first, getTraits(first), mixture.mayFirst);
  auto rhs = groupThreads(mixture.second, getTraits(second), mixture.maySecond);
  unsigned numPairs = 0;
  for (auto &[left, firstThreads] : lhs)
    for (auto &[right, secondThreads] : rhs) {
      if (!mixture.canMeet(left.front() - right.front()))
        continue;
      auto pair = findPair(firstThreads, secondThreads);
      if (!pair)
        continue;
      if (++numPairs > kMaxPairs || effort.isExhausted() ||
          solve(*pair).kind != Conflict::None)
        return false;
    }
  return true;
}

} // namespace mlir::workgroup
