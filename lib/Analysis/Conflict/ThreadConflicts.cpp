//===- ThreadConflicts.cpp - Whether two threads meet in memory -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadConflicts.h"
#include "IterationCases.h"
#include "ThreadConflictQuery.h"
#include "ThreadTables.h"
#include "ThreadUniformity.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Target/LaunchLimits.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::workgroup {

using Form = SymbolicForm;
using Footprint = SymbolicFootprint;

ThreadConflicts::ThreadConflicts(Operation *scope,
                                 const ThreadAccesses &accesses,
                                 const KernelLoops &loops,
                                 const UniformityAnalysis &block,
                                 const UniformityAnalysis &warp,
                                 const ArgumentAliases &arguments)
    : accesses(accesses), index(scope, loops, block, warp, arguments),
      keptApart(accesses.getAccesses().size()) {
  const BlockShape &shape = index.getShape();
  if (std::optional<int64_t> threads = shape.getNumThreads();
      threads && *threads <= kMaxBlockThreads)
    tables = std::make_unique<ThreadTables>(
        std::array{*shape.sizes[0], *shape.sizes[1], *shape.sizes[2]});
  bounds = std::make_unique<FactBounds>(tables.get());
  // As if all places of which nothing is known were one.
  AccessFootprint anywhere;
  anywhere.coordinates.push_back(LinearIndex());
  for (const ThreadAccess &access : accesses.getAccesses()) {
    const AccessFootprint &footprint = access.footprint.value_or(anywhere);
    footprintOf.push_back(makeFootprint(access, footprint));
    inBoundsOf.push_back(footprint.lastBounds.empty()
                             ? footprintOf.back()
                             : makeFootprint(access, footprint,
                                             /*isInBounds=*/true));
  }
  for (const ThreadAccess &access : accesses.getAccesses())
    whenOf.push_back(makeFootprint(access, anywhere));
  makeExtents();
  groupCopies();
  auto getOne = [&](unsigned access) -> const Footprint & {
    return getFootprint(access);
  };
  hulls.emplace(accesses.getAccesses(), getOne, index, tables.get());
}

ThreadConflicts::~ThreadConflicts() = default;

ConflictMeans ThreadConflicts::getMeans() {
  return {index, tables.get(), *bounds, effort};
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

/// The conflict of two footprints; if any is enough, it need not be certain
/// where threads do meet.
Conflict ThreadConflicts::decide(const Footprint &first,
                                 const Footprint &second,
                                 const PairRelation &relation,
                                 bool isAnyEnough) {
  Conflict conflict =
      ThreadConflictQuery(getMeans(), first, second, relation).decide();
  if (conflict.kind != Conflict::Possible)
    return conflict;
  // In an iteration that is given, places may follow from threads alone.
  Footprint lhs = first, rhs = second;
  PairRelation rest = relation;
  if (takeIterations(lhs, rhs, rest)) {
    Conflict there = ThreadConflictQuery(getMeans(), lhs, rhs, rest).decide();
    if (!there || (there.kind == Conflict::Certain && areThere(relation)))
      return there;
  }
  return decideByIterations(first, second, relation, conflict, isAnyEnough);
}

/// True if nothing but iterations is given in `relation`, and loops have these.
bool ThreadConflicts::areThere(const PairRelation &relation) {
  auto isThere = [&](const PairRelation::Iterations &iterations) {
    std::optional<int64_t> number =
        index.getLoopForms().getNumIterations(iterations.loop);
    return number && !iterations.first && iterations.least == iterations.most &&
           iterations.least && *iterations.least >= 0 &&
           *iterations.least < *number;
  };
  return relation.ends.empty() && relation.avoided.empty() &&
         llvm::all_of(relation.iterations, isThere);
}

/// The conflict of `first` and `second`, of given iterations. Those of many
/// iterations are as far apart as others were, of these or other footprints.
Conflict ThreadConflicts::decideCase(const Footprint &first,
                                     const Footprint &second,
                                     const PairRelation &relation) {
  unsigned lhs = intern(first), rhs = intern(second);
  auto [left, right] = getTwins(lhs, rhs);
  auto [it, isNew] = cases.try_emplace(getKey(left, right, relation));
  if (isNew)
    it->second = ThreadConflictQuery(getMeans(), footprints[left],
                                     footprints[right], relation)
                     .decide();
  return move(it->second, lhs, left);
}

/// The conflict of `first` and `second`, which is `conflict` as far as is known
/// for all iterations at once.
Conflict ThreadConflicts::decideByIterations(const Footprint &first,
                                             const Footprint &second,
                                             const PairRelation &relation,
                                             const Conflict &conflict,
                                             bool isAnyEnough) {
  auto decideOne = [&](const Footprint &lhs, const Footprint &rhs,
                       const PairRelation &rest) {
    return decideCase(lhs, rhs, rest);
  };
  std::optional<Conflict> found = IterationCases(index, decideOne, isAnyEnough)
                                      .decide(first, second, relation);
  // Ends of loops, and branches, are not looked at in given iterations.
  bool isAny = relation.ends.empty() && relation.iterations.empty() &&
               relation.avoided.empty();
  bool isDecided = found && (!*found || isAny);
  return isDecided ? *found : conflict;
}

/// Takes certainty from a conflict in a block of unknown size, which may not
/// have such threads.
static void doubtThreads(Conflict &conflict) {
  std::array<int64_t, 3> sizes = {1, 1, 1};
  for (const std::array<int64_t, 3> &ids : conflict.witness->threads)
    for (unsigned dim = 0; dim < 3; ++dim)
      sizes[dim] = std::max(sizes[dim], ids[dim] + 1);
  llvm::raw_string_ostream os(conflict.reason);
  os << "it takes a block of " << sizes[0] << " x " << sizes[1] << " x "
     << sizes[2] << " threads or more, and known_block_size does not tell";
  conflict.kind = Conflict::Possible;
  conflict.witness = std::nullopt;
}

/// Takes certainty from a conflict in a grid of unknown size, which may not
/// have such blocks.
static void doubtBlocks(Conflict &conflict,
                        const std::array<std::optional<int64_t>, 3> &grid) {
  const std::array<int64_t, 3> *blocks = conflict.witness->blocks;
  SmallVector<StringRef> unknown;
  constexpr StringRef kNames[] = {"x", "y", "z"};
  for (unsigned dim = 0; dim < 3; ++dim)
    if (!grid[dim] && (blocks[0][dim] != 0 || blocks[1][dim] != 0))
      unknown.push_back(kNames[dim]);
  if (unknown.empty())
    return;
  llvm::raw_string_ostream os(conflict.reason);
  os << "it takes several blocks along " << llvm::join(unknown, " and ")
     << ", and known_grid_size does not tell";
  conflict.kind = Conflict::Possible;
  conflict.witness = std::nullopt;
}

/// True if two accesses are known to be in the same buffer at the time, and to
/// touch all of their footprints.
static bool arePlacesCertain(const ThreadAccess &first,
                             const ThreadAccess &second) {
  return first.roots.size() == 1 && second.roots.size() == 1 &&
         !first.footprint->isPartial && !second.footprint->isPartial;
}

/// It is not certain that threads meet where their places are not.
static void doubtPlaces(Conflict &conflict, const ThreadAccess &first,
                        const ThreadAccess &second) {
  if (conflict.kind != Conflict::Certain)
    return;
  bool isOneRoot = first.roots.size() == 1 && second.roots.size() == 1;
  conflict.reason = isOneRoot
                        ? "not all elements of its vector may be accessed"
                        : "it is not known which of several buffers it is in";
  conflict.kind = Conflict::Possible;
  conflict.witness = std::nullopt;
}

/// The conflict of two accesses whose places are certain. Nothing is certain of
/// vectors that leave their rows: two threads that stay are asked for first.
Conflict ThreadConflicts::decideInRows(unsigned first, unsigned second,
                                       const PairRelation &relation) {
  unsigned lhs = footprintOf[first], rhs = footprintOf[second];
  if (inBoundsOf[first] == lhs && inBoundsOf[second] == rhs)
    return decideOnce(lhs, rhs, relation);
  Conflict inBounds =
      decideOnce(inBoundsOf[first], inBoundsOf[second], relation);
  if (inBounds.kind == Conflict::Certain) {
    auto [left, right] = getTwins(lhs, rhs);
    remember(left, right, inBounds);
    return inBounds;
  }
  Conflict conflict = decideOnce(lhs, rhs, relation);
  if (conflict.kind == Conflict::Certain && !inBounds) {
    conflict.kind = Conflict::Possible;
    conflict.reason = "a vector has to leave its row for that";
    conflict.witness = std::nullopt;
  }
  return conflict;
}

ThreadConflicts::Key ThreadConflicts::getKey(unsigned first, unsigned second,
                                             const PairRelation &relation) {
  return {first, second, relations.get(relation)};
}

Conflict ThreadConflicts::decideOnce(unsigned first, unsigned second,
                                     const PairRelation &relation) {
  auto [left, right] = getTwins(first, second);
  return move(decideTwins(left, right, relation), first, left);
}

/// `conflict` of the footprint `twin`, with the place of `footprint`.
Conflict ThreadConflicts::move(Conflict conflict, unsigned footprint,
                               unsigned twin) const {
  if (conflict.witness)
    for (auto [place, own, other] : llvm::zip_equal(
             conflict.witness->coordinates, footprints[footprint].coordinates,
             footprints[twin].coordinates))
      place += own.constant - other.constant;
  return conflict;
}

/// Keeps the threads of which it is certain that they meet by two footprints.
void ThreadConflicts::remember(unsigned first, unsigned second,
                               const Conflict &conflict) {
  if (!tables || conflict.kind != Conflict::Certain || !conflict.witness)
    return;
  const std::array<int64_t, 3> *threads = conflict.witness->threads;
  meetingThreads[{first, second}] = {tables->getNumber(threads[0]),
                                     tables->getNumber(threads[1])};
}

/// True if threads that are known to meet at some time do so as `relation`
/// tells, too: numbers in the place of their ids make a small system.
bool ThreadConflicts::doKnownMeet(unsigned first, unsigned second,
                                  const PairRelation &relation) {
  auto it = meetingThreads.find({first, second});
  return it != meetingThreads.end() &&
         ThreadConflictQuery(getMeans(), footprints[first], footprints[second],
                             relation)
             .isCertain(it->second);
}

bool ThreadConflicts::canMeetOnce(unsigned first, unsigned second,
                                  const PairRelation &relation) {
  auto [left, right] = getTwins(first, second);
  Key key = getKey(left, right, relation);
  if (auto it = known.find(key); it != known.end())
    return bool(it->second);
  auto [it, isNew] = meeting.try_emplace(key, false);
  if (!isNew)
    return it->second;
  it->second = doKnownMeet(left, right, relation);
  if (!it->second) {
    Conflict conflict = decide(footprints[left], footprints[right], relation,
                               /*isAnyEnough=*/true);
    remember(left, right, conflict);
    it->second = bool(conflict);
  }
  return it->second;
}

const Conflict &ThreadConflicts::decideTwins(unsigned first, unsigned second,
                                             const PairRelation &relation) {
  Key key = getKey(first, second, relation);
  auto it = known.find(key);
  if (it != known.end())
    return it->second;
  Conflict conflict = decide(footprints[first], footprints[second], relation);
  remember(first, second, conflict);
  if (conflict.kind == Conflict::Certain && !index.getShape().getNumThreads())
    doubtThreads(conflict);
  if (conflict.kind == Conflict::Certain &&
      relation.threads == PairRelation::OfTwoBlocks)
    doubtBlocks(conflict, index.getGrid());
  return known.try_emplace(key, std::move(conflict)).first->second;
}

bool ThreadConflicts::isPossible(unsigned first, unsigned second,
                                 const PairRelation &relation) {
  std::tie(first, second) = getTwins(first, second);
  if (areApartAnyTime(first, second, relation))
    return false;
  auto [it, isNew] =
      possible.try_emplace(getKey(first, second, relation), false);
  if (isNew)
    it->second = ThreadConflictQuery(getMeans(), footprints[first],
                                     footprints[second], relation)
                     .isPossible();
  return it->second;
}

/// True if different memory, or too few threads or iterations, keep them apart.
bool ThreadConflicts::isExcluded(unsigned first, unsigned second,
                                 const PairRelation &relation) {
  const ThreadAccess &lhs = accesses.getAccesses()[first];
  const ThreadAccess &rhs = accesses.getAccesses()[second];
  if (!accesses.mayAlias(lhs, rhs))
    return true;
  if (relation.carrier) {
    // No loop has an iteration after its last.
    Interval iterations =
        index.getRange(index.getLoopForms().getIteration(relation.carrier));
    if (iterations.max && *iterations.max < relation.least)
      return true;
  }
  bool isBlock = lhs.accessScope == AccessScope::Block ||
                 rhs.accessScope == AccessScope::Block;
  std::optional<int64_t> threads = index.getShape().getNumThreads();
  return relation.threads == PairRelation::OfTwoWarps && !isBlock &&
         !relation.mayBeSame && threads && *threads <= kWarpSize;
}

bool ThreadConflicts::mayMeet(const Footprint &first, const Footprint &second,
                              const PairRelation &relation) {
  return ThreadConflictQuery(getMeans(), first, second, relation).isPossible();
}

bool ThreadConflicts::areTilesApart(unsigned first, unsigned second,
                                    const PairRelation &relation) {
  const ThreadAccess &lhs = accesses.getAccesses()[first];
  const ThreadAccess &rhs = accesses.getAccesses()[second];
  std::optional<unsigned> left = hulls->getNumber(first);
  std::optional<unsigned> right = hulls->getNumber(second);
  constexpr unsigned kFewPairs = 4; // as many questions as it saves
  if (!left || !right || !accesses.areComparable(lhs, rhs) ||
      hulls->getSize(*left) * hulls->getSize(*right) < kFewPairs ||
      isExcluded(first, second, relation))
    return false;
  auto [it, isNew] =
      apartHulls.try_emplace(getKey(*left, *right, relation), false);
  if (isNew)
    it->second = !decide(hulls->get(*left), hulls->get(*right), relation);
  return it->second;
}

bool ThreadConflicts::mayFind(unsigned first, unsigned second,
                              const PairRelation &relation) {
  if (isExcluded(first, second, relation))
    return false;
  // What threads cannot do both is no conflict, wherever it is.
  if (!accesses.areComparable(accesses.getAccesses()[first],
                              accesses.getAccesses()[second]))
    return isPossible(whenOf[first], whenOf[second], relation);
  return !areCopiesApart(first, second, relation) &&
         isPossible(footprintOf[first], footprintOf[second], relation);
}

Conflict ThreadConflicts::find(unsigned first, unsigned second,
                               const PairRelation &relation) {
  const ThreadAccess &lhs = accesses.getAccesses()[first];
  const ThreadAccess &rhs = accesses.getAccesses()[second];
  Conflict conflict;
  if (isExcluded(first, second, relation))
    return conflict;
  if (accesses.areComparable(lhs, rhs)) {
    if (areTilesApart(first, second, relation))
      return conflict;
    if (arePlacesCertain(lhs, rhs))
      return decideInRows(first, second, relation);
    conflict = decideOnce(footprintOf[first], footprintOf[second], relation);
    doubtPlaces(conflict, lhs, rhs);
    return conflict;
  }
  if (mayFind(first, second, relation) &&
      decideOnce(whenOf[first], whenOf[second], relation)) {
    conflict.kind = Conflict::Possible;
    bool isUnknown = !lhs.footprint || !rhs.footprint;
    bool isCall = isa<CallOpInterface>(lhs.op) || isa<CallOpInterface>(rhs.op);
    conflict.reason = isUnknown && isCall ? "nothing is known of the callee"
                      : isUnknown
                          ? "it is not known where it is"
                          : "they may be of different buffers that overlap";
  }
  return conflict;
}

bool ThreadConflicts::canMeet(unsigned first, unsigned second,
                              const PairRelation &relation) {
  if (isExcluded(first, second, relation))
    return false;
  if (!accesses.areComparable(accesses.getAccesses()[first],
                              accesses.getAccesses()[second]))
    return mayFind(first, second, relation) &&
           canMeetOnce(whenOf[first], whenOf[second], relation);
  return !areTilesApart(first, second, relation) &&
         canMeetOnce(footprintOf[first], footprintOf[second], relation);
}

bool ThreadConflicts::mayBe(const PairRelation &relation) {
  Footprint anywhere;
  anywhere.coordinates.emplace_back();
  return bool(decide(anywhere, anywhere, relation));
}

bool ThreadConflicts::isDead(Operation *op) {
  return tables &&
         !llvm::is_contained(tables->getPossible(index.getGuard(op)), true);
}

bool ThreadConflicts::isNeverTaken(Operation *branch, unsigned region) {
  std::optional<SymbolicCondition> decision =
      index.getConditions().getDecision(branch, region);
  if (!tables || !decision)
    return false;
  auto taken = SymbolicCondition::join(SymbolicCondition::All,
                                       {index.getGuard(branch), *decision});
  return !llvm::is_contained(tables->getPossible(taken), true);
}

std::optional<std::vector<bool>> ThreadConflicts::getReaching(Operation *op) {
  SymbolicCondition guard = index.getGuard(op);
  if (!tables || !isOfThread(guard))
    return std::nullopt;
  std::vector<bool> may = tables->getPossible(guard);
  std::vector<bool> mayNot = tables->getPossible(guard.negate());
  for (size_t thread = 0; thread < may.size(); ++thread)
    if (may[thread] == mayNot[thread])
      return std::nullopt;
  return may;
}

bool ThreadConflicts::isReachedBySome(Operation *op) {
  std::optional<SymbolicCondition> guard =
      index.getGuards().getGuardInFirstIterations(op);
  return tables && guard && isOfThread(*guard) &&
         llvm::is_contained(tables->getPossible(guard->negate()), false);
}

bool ThreadConflicts::mayReach(Operation *op,
                               const std::array<int64_t, 3> &ids) {
  if (!tables)
    return true;
  return tables->getPossible(index.getGuard(op))[tables->getNumber(ids)];
}

std::optional<std::vector<bool>> ThreadConflicts::getTakers(scf::IfOp branch,
                                                            Region &region) {
  if (!tables)
    return std::nullopt;
  SymbolicCondition condition = index.getCondition(branch.getCondition());
  std::vector<bool> may = tables->getPossible(condition);
  std::vector<bool> mayNot = tables->getPossible(condition.negate());
  if (&region != &branch.getThenRegion())
    std::swap(may, mayNot);
  int64_t count = 0;
  for (size_t thread = 0; thread < may.size(); ++thread) {
    if (may[thread] == mayNot[thread] ||
        may[thread] != may[thread - thread % kWarpSize])
      return std::nullopt;
    count += may[thread];
  }
  bool isPart = count > 0 && count < int64_t(may.size());
  return isPart && count % kWarpSize == 0 ? std::optional(may) : std::nullopt;
}

std::optional<std::pair<std::array<int64_t, 3>, std::array<int64_t, 3>>>
ThreadConflicts::findParting(Operation *op, UniformityUnit unit) {
  if (!tables)
    return std::nullopt;
  std::vector<bool> may = tables->getPossible(index.getGuard(op));
  size_t size = unit == UniformityUnit::Block ? may.size() : kWarpSize;
  for (size_t first = 0; first < may.size(); first += size) {
    auto begin = may.begin() + first;
    auto end = may.begin() + std::min(may.size(), first + size);
    auto some = std::find(begin, end, true),
         none = std::find(begin, end, false);
    if (some != end && none != end)
      return std::pair(tables->getIds(some - may.begin()),
                       tables->getIds(none - may.begin()));
  }
  return std::nullopt;
}

bool ThreadConflicts::takesOnePath(Operation *op, UniformityUnit unit) {
  return ThreadUniformity(index, tables.get()).takesOnePath(op, unit);
}

} // namespace mlir::workgroup
