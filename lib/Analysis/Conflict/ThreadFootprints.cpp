//===- ThreadFootprints.cpp - Accesses in terms of forms ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access becomes a symbolic footprint: its place as forms, one for each
// coordinate, its box of extents, the contiguous length at the end (the run),
// and the condition under which it is executed. Footprints are brought to one
// form first: boxes that go down go up from their last place, and boxes that
// lie one behind the other become a longer run. Footprints that differ by
// constants only are a family, and a pair that is as far apart as an earlier
// pair has its answer (twins).
//
//===----------------------------------------------------------------------===//

#include "Analysis/Access/AccessMasks.h"
#include "Analysis/Index/SymbolicTranslator.h"
#include "RolledFootprint.h"
#include "ThreadConflictQuery.h"
#include "ThreadConflicts.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

using Condition = SymbolicCondition;
using Form = SymbolicForm;
using Footprint = SymbolicFootprint;

bool Footprint::operator==(const Footprint &other) const {
  return coordinates == other.coordinates && run == other.run &&
         accessScope == other.accessScope && condition == other.condition &&
         box.size() == other.box.size() &&
         llvm::all_of(llvm::zip_equal(box, other.box), [](auto pair) {
           auto &[lhs, rhs] = pair;
           return lhs.count == rhs.count && lhs.stride == rhs.stride &&
                  lhs.coordinate == rhs.coordinate && lhs.limit == rhs.limit;
         });
}

bool setIteration(SymbolicIndex &index, Footprint &footprint,
                  const KernelLoop *loop, int64_t iteration) {
  auto set = [&](auto &part) {
    auto there = substitute(index, part, loop, Form(iteration));
    if (there)
      part = std::move(*there);
    return there.has_value();
  };
  return llvm::all_of(footprint.coordinates, set) &&
         llvm::all_of(footprint.box,
                      [&](auto &extent) { return set(extent.count); }) &&
         set(footprint.condition);
}

/// Makes boxes that go down go up from their last place.
static void makeAscending(Footprint &footprint) {
  for (Footprint::Extent &extent : footprint.box) {
    if (extent.stride >= 0 || !extent.count.isConstant() ||
        extent.count.constant < 1)
      continue;
    Form &place = footprint.coordinates[extent.coordinate];
    std::optional<Form> last =
        place.plus(Form(extent.stride), extent.count.constant - 1);
    if (!last)
      continue;
    place = *last;
    extent.stride = -extent.stride;
  }
}

/// Boxes that are one run behind the other become longer runs.
static void mergeRuns(Footprint &footprint) {
  unsigned last = footprint.coordinates.size() - 1;
  bool isMerged = true;
  while (isMerged) {
    isMerged = false;
    for (auto &extent : footprint.box) {
      if (extent.coordinate != last || !extent.count.isConstant() ||
          extent.count.constant < 1 || extent.stride > footprint.run ||
          extent.stride < 1)
        continue;
      footprint.run += extent.stride * (extent.count.constant - 1);
      footprint.box.erase(&extent);
      isMerged = true;
      break;
    }
  }
}

/// The distance from the first place of a footprint of one coordinate to the
/// last one.
static std::optional<int64_t> getReach(const Footprint &footprint) {
  int64_t reach = footprint.run - 1;
  for (const Footprint::Extent &extent : footprint.box) {
    std::optional<int64_t> most = extent.getMost();
    if (!most || extent.stride < 0)
      return std::nullopt;
    reach += extent.stride * std::max<int64_t>(0, *most - 1);
  }
  return reach;
}

/// 0 <= form < extent
static Condition isBelow(SymbolicIndex &index, const Form &form,
                         const Form &extent) {
  std::optional<Form> distance = extent.plus(form, -1);
  if (distance)
    distance = distance->plus(Form(-1));
  Condition known; // nothing, if the numbers are too large
  return Condition::join(
      Condition::All,
      {Condition::of(Condition::NonNegative, form),
       distance ? Condition::of(Condition::NonNegative, *distance) : known});
}

/// The places of `extent` as forms. Of those that are clipped there are as many
/// as are left from the first one on.
static Footprint::Extent getExtent(SymbolicIndex &index,
                                   const AccessFootprint::Extent &extent) {
  Footprint::Extent made{index.getForm(extent.count), extent.stride,
                         extent.coordinate, extent.limit};
  if (!extent.clip)
    return made;
  made.limit = made.getMost().value_or(0);
  Form left = index.add(index.getForm(extent.clip->extent),
                        index.getForm(extent.clip->index), -1, nullptr);
  made.count = index.makeExtremum(/*isMinimum=*/true, made.count, left);
  return made;
}

using Atoms = llvm::SmallDenseSet<const SymbolicAtom *>;

static void addOpaque(const Condition &condition, Atoms &found);

/// Adds the values of which nothing is known that `form` is made of.
static void addOpaque(const Form &form, Atoms &found) {
  for (auto [atom, factor] : form.terms) {
    if (atom->kind == SymbolicAtom::Opaque)
      found.insert(atom);
    for (const Form &operand : atom->operands)
      addOpaque(operand, found);
    addOpaque(atom->condition, found);
  }
}

static void addOpaque(const Condition &condition, Atoms &found) {
  addOpaque(condition.form, found);
  for (const Condition &part : condition.parts)
    addOpaque(part, found);
}

/// Adds those of what `made` touches, and when.
static void addOpaque(const Footprint &made, ArrayRef<Condition> conditions,
                      Atoms &found) {
  for (const Form &coordinate : made.coordinates)
    addOpaque(coordinate, found);
  for (const Footprint::Extent &extent : made.box)
    addOpaque(extent.count, found);
  for (const Condition &condition : conditions)
    addOpaque(condition, found);
}

/// The conditions that `bounds` of an access are of which `made` and
/// `conditions` are all else that is known. Left out are those with a number
/// that no launch may choose freely and that no other bound depends on: there
/// is one that keeps them, but as it is not known, nothing would be certain.
static std::vector<Condition> getBounds(SymbolicIndex &index,
                                        ArrayRef<AccessFootprint::Bound> bounds,
                                        const Footprint &made,
                                        ArrayRef<Condition> conditions) {
  std::vector<Condition> found;
  std::vector<Atoms> atomsOf;
  for (const AccessFootprint::Bound &bound : bounds) {
    found.push_back(isBelow(index, index.getForm(bound.index),
                            index.getForm(bound.extent)));
    addOpaque(found.back(), atomsOf.emplace_back());
  }
  Atoms others;
  addOpaque(made, conditions, others);
  std::vector<Condition> kept;
  for (unsigned number = 0; number < found.size(); ++number) {
    auto isAlone = [&](const SymbolicAtom *atom) {
      unsigned uses = llvm::count_if(
          atomsOf, [&](const Atoms &atoms) { return atoms.contains(atom); });
      return !atom->isInput && uses == 1 && !others.contains(atom);
    };
    auto isKept = [&](const Condition &part) {
      return llvm::none_of(part.form.terms, [&](auto term) {
        return std::abs(term.second) == 1 && isAlone(term.first);
      });
    };
    if (found[number].kind != Condition::All)
      found[number].parts = {found[number]};
    llvm::copy_if(found[number].parts, std::back_inserter(kept), isKept);
  }
  return kept;
}

/// Groups the accesses of one coordinate by their root and by what is the same
/// for all threads at any time.
void ThreadConflicts::makeExtents() {
  using Common = std::vector<std::pair<unsigned, int64_t>>;
  std::map<std::pair<unsigned, Common>, unsigned> groups;
  for (auto [access, number] :
       llvm::zip_equal(accesses.getAccesses(), footprintOf)) {
    Extent &extent = extents.emplace_back();
    if (!access.footprint || access.roots.size() != 1 ||
        access.roots.front() == 0 || access.footprint->basis)
      continue;
    Form own = footprints[number].coordinates.front();
    Common common;
    llvm::erase_if(own.terms, [&](auto term) {
      const SymbolicAtom &atom = *term.first;
      bool isCommon =
          !atom.isDivergent && !atom.isUnsteady && atom.loops.empty();
      if (isCommon)
        common.emplace_back(atom.number, term.second);
      return isCommon;
    });
    Interval range = index.getRange(own);
    std::optional<int64_t> reach = getReach(footprints[number]);
    if (!range.min || !range.max || !reach)
      continue;
    std::pair key(access.roots.front(), std::move(common));
    extent.group = groups.try_emplace(key, groups.size() + 1).first->second;
    extent.first = *range.min;
    extent.last = *range.max + *reach;
  }
}

/// Groups the accesses that unrolling makes of one.
void ThreadConflicts::groupCopies() {
  std::map<std::pair<const void *, unsigned>, unsigned> numbers;
  DenseSet<std::pair<unsigned, unsigned>> known;
  for (auto [access, footprint] :
       llvm::zip_equal(accesses.getAccesses(), footprintOf)) {
    const void *value =
        access.operand ? access.operand->get().getAsOpaquePointer() : nullptr;
    auto [it, isNew] = numbers.try_emplace(
        std::pair(value, anyTimeFamilies[footprint]), copyGroups.size());
    if (isNew)
      copyGroups.emplace_back();
    copyGroupOf.push_back(it->second);
    if (known.insert({it->second, footprint}).second)
      copyGroups[it->second].push_back(footprint);
  }
}

const std::optional<Footprint> &ThreadConflicts::getRolled(unsigned group) {
  auto [it, isNew] = rolled.try_emplace(group);
  if (isNew) {
    SmallVector<const Footprint *> copies;
    for (unsigned footprint : copyGroups[group])
      copies.push_back(&footprints[footprint]);
    it->second = rollUp(index, copies);
  }
  return it->second;
}

/// True if all copies of the one access are apart from all of the other one, as
/// a quick look shows.
bool ThreadConflicts::areCopiesApart(unsigned first, unsigned second,
                                     const PairRelation &relation) {
  constexpr size_t kFewPairs = 8; // where one more question saves little
  // What is staged there is there to be read by others.
  if (accesses.getAccesses()[first].space == MemorySpace::Workgroup)
    return false;
  unsigned left = copyGroupOf[first], right = copyGroupOf[second];
  if (copyGroups[left].size() * copyGroups[right].size() < kFewPairs)
    return false;
  auto [it, isNew] =
      apartCopies.try_emplace(getKey(left, right, relation), false);
  if (isNew) {
    const std::optional<Footprint> &lhs = getRolled(left);
    const std::optional<Footprint> &rhs = getRolled(right);
    it->second = lhs && rhs && !mayMeet(*lhs, *rhs, relation);
  }
  return it->second;
}

/// The operand that says whether `op` is executed at all; null for none.
static Value getPredicate(Operation *op) {
  if (auto ptx = dyn_cast<NVVM::BasicPtxBuilderInterface>(op))
    return ptx.getPredicate().value_or(Value());
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<nvgpu::MBarrierInitOp, nvgpu::MBarrierArriveExpectTxOp,
            nvgpu::TmaAsyncLoadOp, nvgpu::TmaAsyncStoreOp>(
          [](auto predicated) { return predicated.getPredicate(); })
      .Default([](Operation *) { return Value(); });
}

/// The tiles that `op` loads if it is an `ldmatrix`; else 0.
static int64_t countTiles(Operation *op) {
  if (auto load = dyn_cast<nvgpu::LdMatrixOp>(op))
    return load.getNumTiles();
  auto load = dyn_cast<NVVM::LdMatrixOp>(op);
  return load ? load.getNum() : 0;
}

unsigned ThreadConflicts::makeFootprint(const ThreadAccess &access,
                                        const AccessFootprint &footprint,
                                        bool isInBounds) {
  Footprint made;
  for (const LinearIndex &coordinate : footprint.coordinates)
    made.coordinates.push_back(index.getForm(coordinate));
  for (const AccessFootprint::Extent &extent : footprint.box)
    made.box.push_back(getExtent(index, extent));
  made.run = footprint.run;
  makeAscending(made);
  mergeRuns(made);
  // Every lane of a warp may read the row at the address of one.
  made.accessScope = access.accessScope;
  std::vector<Condition> conditions = {index.getGuard(access.op)};
  if (int64_t numTiles = countTiles(access.op)) {
    made.accessScope = AccessScope::Warp;
    // Eight lanes give the rows of a tile; of others no address is used.
    if (numTiles < 4 && index.getShape().hasLanes())
      conditions.push_back(
          isBelow(index, index.getLane(), Form(int64_t(8) * numTiles)));
  }
  if (Value predicate = getPredicate(access.op))
    conditions.push_back(index.getCondition(predicate));
  if (Value mask = getMaskOf(access.op))
    for (Value condition : getMaskParts(mask).conditions)
      conditions.push_back(index.getCondition(condition));
  SmallVector<AccessFootprint::Bound, 0> bounds = footprint.bounds;
  if (isInBounds)
    llvm::append_range(bounds, footprint.lastBounds);
  llvm::append_range(conditions, getBounds(index, bounds, made, conditions));
  made.condition = Condition::join(Condition::All, std::move(conditions));
  // What holds for all threads of the block would make all questions longer. A
  // bound of a loop is not left out, though: it tells which iteration is the
  // last.
  auto isAlways = [&](const Condition &part) {
    if (!tables || !isOfThread(part))
      return false;
    // Ranges tell as much of most bounds, without any table.
    bool isAbove = part.kind == Condition::NonNegative &&
                   index.getRange(part.form).min.value_or(-1) >= 0;
    return isAbove || tables->isAlways(part);
  };
  if (made.condition.kind == Condition::All)
    llvm::erase_if(made.condition.parts, isAlways);
  if (made.condition.kind == Condition::All)
    made.condition =
        Condition::join(Condition::All, std::move(made.condition.parts));
  else if (isAlways(made.condition))
    made.condition = Condition();
  return intern(std::move(made));
}

/// The number of `made`, the same for equal ones.
unsigned ThreadConflicts::intern(Footprint made) {
  size_t hash =
      llvm::hash_combine(made.run, made.accessScope,
                         llvm::hash_combine_range(made.coordinates.begin(),
                                                  made.coordinates.end()));
  auto [begin, end] = footprintsByHash.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (footprints[it->second] == made)
      return it->second;
  families.push_back(getFamily(made));
  Footprint anyTime = made;
  anyTime.condition = Condition();
  anyTimeFamilies.push_back(getFamily(std::move(anyTime)));
  footprints.push_back(std::move(made));
  footprintsByHash.emplace(hash, footprints.size() - 1);
  return footprints.size() - 1;
}

/// Takes the iterations that `relation` gives as numbers out of it, into the
/// footprints; false if there are none.
bool ThreadConflicts::takeIterations(Footprint &first, Footprint &second,
                                     PairRelation &relation) {
  size_t before = relation.iterations.size() + relation.ends.size();
  llvm::erase_if(
      relation.iterations, [&](const PairRelation::Iterations &iterations) {
        return !iterations.first && iterations.least &&
               iterations.least == iterations.most &&
               setIteration(index, second, iterations.loop, *iterations.least);
      });
  llvm::erase_if(relation.ends, [&](const LoopEnd &end) {
    std::optional<int64_t> iterations =
        index.getLoopForms().getNumIterations(end.loop);
    bool isLast = iterations && end.most == 1 && !end.isFromStart &&
                  !end.other && !end.isNot;
    return isLast && setIteration(index, first, end.loop,
                                  *iterations - 1 + end.isBeforeTest);
  });
  return relation.iterations.size() + relation.ends.size() != before;
}

/// The number of those footprints that are like `footprint` but for the
/// constants of the place.
unsigned ThreadConflicts::getFamily(Footprint footprint) {
  for (SymbolicForm &coordinate : footprint.coordinates)
    coordinate.constant = 0;
  size_t hash =
      llvm::hash_combine(footprint.run, footprint.accessScope,
                         llvm::hash_combine_range(footprint.coordinates.begin(),
                                                  footprint.coordinates.end()));
  auto [begin, end] = familiesByHash.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (it->second.first == footprint)
      return it->second.second;
  unsigned number = familiesByHash.size();
  auto made = familiesByHash.emplace(hash, std::pair(footprint, number));
  familyFootprints.push_back(&made->second.first);
  return number;
}

/// True if two accesses are of different bytes whenever they are: one answer
/// for those of an unrolled loop that each have a condition of their own.
bool ThreadConflicts::areApartAnyTime(unsigned first, unsigned second,
                                      const PairRelation &relation) {
  const Footprint &lhs = footprints[first], &rhs = footprints[second];
  if (lhs.condition.kind == Condition::True &&
      rhs.condition.kind == Condition::True)
    return false;
  unsigned left = anyTimeFamilies[first], right = anyTimeFamilies[second];
  SmallVector<int64_t, 4> key = {left, right,
                                 std::get<2>(getKey(first, second, relation))};
  size_t numParts = key.size();
  for (auto [own, other] : llvm::zip_equal(lhs.coordinates, rhs.coordinates)) {
    int64_t distance;
    if (llvm::SubOverflow(own.constant, other.constant, distance))
      return false;
    key.push_back(distance);
  }
  auto [it, isNew] = apartAnyTime.try_emplace(key, false);
  if (!isNew)
    return it->second;
  Footprint moved = *familyFootprints[left];
  for (auto [place, distance] :
       llvm::zip_equal(moved.coordinates, ArrayRef(key).drop_front(numParts)))
    place.constant = distance;
  it->second =
      ThreadConflictQuery(getMeans(), moved, *familyFootprints[right], relation)
          .isApart();
  return it->second;
}

/// The first two footprints that were asked for and are as far apart: whether
/// threads meet does not change if both places move by as much.
std::pair<unsigned, unsigned> ThreadConflicts::getTwins(unsigned first,
                                                        unsigned second) {
  SmallVector<int64_t, 4> key = {families[first], families[second]};
  for (auto [lhs, rhs] : llvm::zip_equal(footprints[first].coordinates,
                                         footprints[second].coordinates)) {
    int64_t distance;
    if (llvm::SubOverflow(lhs.constant, rhs.constant, distance))
      return {first, second};
    key.push_back(distance);
  }
  return twins.try_emplace(key, first, second).first->second;
}

} // namespace mlir::workgroup
