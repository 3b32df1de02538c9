//===- BlockRaces.cpp - Accesses of different blocks ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockRaces.h"
#include "RolledFootprint.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

using Footprint = SymbolicFootprint;

namespace {

/// Accesses with the same footprint but for the constants of the place and for
/// the condition: that of the class holds for all of them.
struct AccessClass {
  Footprint footprint;
  SmallVector<unsigned, 0> members;
};

class BlockRaceFinder {
public:
  BlockRaceFinder(Operation *scope, const ThreadAccesses &accesses,
                  ThreadConflicts &conflicts)
      : scope(scope), accesses(accesses), conflicts(conflicts) {
    relation.threads = PairRelation::OfTwoBlocks;
  }

  std::vector<BlockRace> find();

private:
  using Constants = SmallVector<int64_t, 2>;

  bool isOfGrid(const ThreadAccess &access) const;
  bool isComparable(const ThreadAccess &access) const;
  bool canRace(unsigned first, unsigned second) const;
  void classify();
  Constants getConstants(unsigned access) const;
  const std::optional<Footprint> &getRolled(const AccessClass &known);
  bool mayMeet(const Footprint &first, const Footprint &second);
  std::optional<std::set<Constants>> findMeeting(const AccessClass &first,
                                                 const AccessClass &second);
  void visit(const AccessClass &first, const AccessClass &second);
  bool visit(unsigned first, unsigned second);
  bool mayBeOfOneCluster() const;
  void add(unsigned first, unsigned second, Conflict conflict);

  Operation *scope;
  const ThreadAccesses &accesses;
  ThreadConflicts &conflicts;
  PairRelation relation;
  std::vector<AccessClass> classes;
  std::map<const AccessClass *, std::optional<Footprint>> rolled;
  /// By the operations.
  llvm::MapVector<std::pair<Operation *, Operation *>, BlockRace> races;
  /// What one kernel may ask for.
  static constexpr unsigned kMaxQuestions = 1 << 14;
  bool isExhausted() const {
    return numQuestions > kMaxQuestions || conflicts.isExhausted();
  }
  unsigned numQuestions = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// True if `value` is the same for all blocks.
static bool isGivenAtLaunch(Value value, Operation *scope) {
  if (!value || !scope->isAncestor(value.getParentBlock()->getParentOp()) ||
      value.getDefiningOp<memref::GetGlobalOp>())
    return true;
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner()->getParentOp() == scope &&
         argument.getOwner()->isEntryBlock();
}

/// True if other blocks can reach the memory.
bool BlockRaceFinder::isOfGrid(const ThreadAccess &access) const {
  if (access.space == MemorySpace::Workgroup ||
      access.space == MemorySpace::Private)
    return false;
  return llvm::any_of(access.roots, [&](unsigned number) {
    const MemoryRoot &root = accesses.getRoot(number);
    return number == 0 || !root.isDistinct ||
           isGivenAtLaunch(root.value, scope);
  });
}

/// True if the footprint tells where the access is, for all blocks alike.
bool BlockRaceFinder::isComparable(const ThreadAccess &access) const {
  return access.footprint && isGivenAtLaunch(access.footprint->basis, scope);
}

/// True if it is wrong if blocks do both at the same time.
bool BlockRaceFinder::canRace(unsigned first, unsigned second) const {
  const ThreadAccess &lhs = accesses.getAccesses()[first];
  const ThreadAccess &rhs = accesses.getAccesses()[second];
  bool isSame = first == second && lhs.sameness == ThreadAccess::SameAlways;
  bool isAtomic =
      areAtomic(lhs, rhs) && getCommonScope(lhs, rhs) >= AtomicScope::Device;
  return (lhs.isWrite() || rhs.isWrite()) && !isSame && !isAtomic &&
         accesses.mayAlias(lhs, rhs);
}

/// What holds if either condition does.
static SymbolicCondition getCommon(const SymbolicCondition &lhs,
                                   const SymbolicCondition &rhs) {
  auto getParts = [](const SymbolicCondition &condition) {
    bool isAll = condition.kind == SymbolicCondition::All;
    return isAll ? condition.parts : std::vector{condition};
  };
  std::vector<SymbolicCondition> common, others = getParts(rhs);
  for (const SymbolicCondition &part : getParts(lhs))
    if (llvm::is_contained(others, part))
      common.push_back(part);
  return SymbolicCondition::join(SymbolicCondition::All, std::move(common));
}

void BlockRaceFinder::classify() {
  for (auto [number, access] : llvm::enumerate(accesses.getAccesses())) {
    if (!isOfGrid(access))
      continue;
    AccessClass made;
    made.footprint = conflicts.getFootprint(number);
    SymbolicCondition condition =
        std::exchange(made.footprint.condition, SymbolicCondition());
    for (SymbolicForm &coordinate : made.footprint.coordinates)
      coordinate.constant = 0;
    auto isMember = [&](const AccessClass &known) {
      const ThreadAccess &other = accesses.getAccesses()[known.members.front()];
      Footprint anyTime = known.footprint;
      anyTime.condition = SymbolicCondition();
      return anyTime == made.footprint && other.roots == access.roots &&
             other.space == access.space && other.kind == access.kind &&
             other.scope == access.scope &&
             other.atomicBits == access.atomicBits &&
             isComparable(other) == isComparable(access) &&
             (!access.footprint ||
              other.footprint->basis == access.footprint->basis);
    };
    auto known = llvm::find_if(classes, isMember);
    if (known == classes.end()) {
      known = classes.insert(classes.end(), std::move(made));
      known->footprint.condition = std::move(condition);
    } else {
      known->footprint.condition =
          getCommon(known->footprint.condition, condition);
    }
    known->members.push_back(number);
  }
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

BlockRaceFinder::Constants
BlockRaceFinder::getConstants(unsigned access) const {
  Constants constants;
  for (const SymbolicForm &place : conflicts.getFootprint(access).coordinates)
    constants.push_back(place.constant);
  return constants;
}

static SmallVector<int64_t, 2> subtract(ArrayRef<int64_t> lhs,
                                        ArrayRef<int64_t> rhs) {
  SmallVector<int64_t, 2> difference;
  for (auto [left, right] : llvm::zip_equal(lhs, rhs))
    difference.push_back(left - right);
  return difference;
}

/// A footprint that contains those of all members; nothing if they are too far
/// apart.
const std::optional<Footprint> &
BlockRaceFinder::getRolled(const AccessClass &known) {
  auto [it, isNew] = rolled.try_emplace(&known);
  if (isNew) {
    SmallVector<const Footprint *> copies;
    for (unsigned member : known.members)
      copies.push_back(&conflicts.getFootprint(member));
    it->second = rollUp(conflicts.getIndex(), copies);
  }
  return it->second;
}

bool BlockRaceFinder::mayMeet(const Footprint &first, const Footprint &second) {
  ++numQuestions;
  return isExhausted() || conflicts.mayMeet(first, second, relation);
}

/// The differences between members of two classes with which they may meet,
/// whenever they are done; nothing if they are too many.
std::optional<std::set<BlockRaceFinder::Constants>>
BlockRaceFinder::findMeeting(const AccessClass &first,
                             const AccessClass &second) {
  std::set<Constants> lhs, rhs, differences, meeting;
  const std::optional<Footprint> &left = getRolled(first);
  const std::optional<Footprint> &right = getRolled(second);
  if (left && right && !mayMeet(*left, *right))
    return meeting;
  for (unsigned member : first.members)
    lhs.insert(getConstants(member));
  for (unsigned member : second.members)
    rhs.insert(getConstants(member));
  for (const Constants &from : lhs)
    for (const Constants &to : rhs)
      if (differences.size() <= kMaxQuestions)
        differences.insert(subtract(from, to));
  if (differences.size() > kMaxQuestions)
    return std::nullopt;
  for (const Constants &difference : differences) {
    Footprint moved = first.footprint;
    for (auto [place, by] : llvm::zip_equal(moved.coordinates, difference))
      place.constant = by;
    if (mayMeet(moved, second.footprint))
      meeting.insert(difference);
  }
  return meeting;
}

void BlockRaceFinder::visit(const AccessClass &first,
                            const AccessClass &second) {
  unsigned lhs = first.members.front(), rhs = second.members.front();
  const ThreadAccess &left = accesses.getAccesses()[lhs];
  const ThreadAccess &right = accesses.getAccesses()[rhs];
  if (!(left.isWrite() || right.isWrite()) || !accesses.mayAlias(left, right))
    return;
  bool areComparable = isComparable(left) && isComparable(right) &&
                       accesses.areComparable(left, right);
  std::optional<std::set<Constants>> meeting;
  if (areComparable)
    meeting = findMeeting(first, second);
  if (meeting && meeting->empty())
    return;
  for (unsigned one : first.members)
    for (unsigned other : second.members) {
      if (&first == &second && other < one)
        continue; // the same pair
      if (meeting &&
          !meeting->count(subtract(getConstants(one), getConstants(other))))
        continue;
      bool isTold = visit(one, other);
      if (isTold && isExhausted())
        return; // for all that is left out
    }
}

/// True if two blocks may be of one cluster, as launches in sight tell. Without
/// clusters, each block is one of its own.
bool BlockRaceFinder::mayBeOfOneCluster() const {
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope))
    return launch.hasClusterSize();
  auto isOfCluster = [](NamedAttribute attribute) {
    return attribute.getName().getValue().contains("cluster");
  };
  if (llvm::any_of(scope->getAttrs(), isOfCluster))
    return true;
  auto isLaunch = [](gpu::LaunchFuncOp launch) {
    return launch.hasClusterSize() ? WalkResult::interrupt()
                                   : WalkResult::advance();
  };
  Operation *root = scope;
  while (root->getParentOp())
    root = root->getParentOp();
  return root->walk(isLaunch).wasInterrupted();
}

/// Returns whether there is something wrong with two accesses.
bool BlockRaceFinder::visit(unsigned first, unsigned second) {
  if (first > second)
    std::swap(first, second);
  const ThreadAccess &lhs = accesses.getAccesses()[first];
  const ThreadAccess &rhs = accesses.getAccesses()[second];
  auto known = races.find({lhs.op, rhs.op});
  bool isSettled =
      known != races.end() && known->second.conflict.kind == Conflict::Certain;
  if (isSettled || !canRace(first, second))
    return isSettled;
  Conflict conflict;
  conflict.kind = Conflict::Possible;
  ++numQuestions;
  if (isExhausted())
    conflict.reason = "the kernel has too many accesses to ask for all of them";
  else if (isComparable(lhs) && isComparable(rhs))
    conflict = conflicts.find(first, second, relation);
  else
    conflict.reason = "it is not known where it is";
  if (!conflict)
    return false;
  if (areAtomic(lhs, rhs) && getCommonScope(lhs, rhs) == AtomicScope::Cluster &&
      mayBeOfOneCluster()) {
    conflict = Conflict();
    conflict.kind = Conflict::Possible;
    conflict.reason = "whether the blocks are of one cluster, which is the "
                      "scope of both, is not known";
  }
  add(first, second, std::move(conflict));
  return true;
}

void BlockRaceFinder::add(unsigned first, unsigned second, Conflict conflict) {
  auto [known, isNew] = races.try_emplace(
      {accesses.getAccesses()[first].op, accesses.getAccesses()[second].op});
  if (isNew || conflict.kind == Conflict::Certain)
    known->second = {first, second, std::move(conflict)};
}

std::vector<BlockRace> BlockRaceFinder::find() {
  if (llvm::all_of(conflicts.getIndex().getGrid(),
                   [](std::optional<int64_t> size) { return size == 1; }))
    return {};
  classify();
  for (unsigned second = 0; second < classes.size(); ++second)
    for (unsigned first = 0; first <= second; ++first)
      visit(classes[first], classes[second]);
  std::vector<BlockRace> found;
  for (auto &[_, race] : races)
    found.push_back(std::move(race));
  return found;
}

std::vector<BlockRace> findBlockRaces(Operation *scope,
                                      const ThreadAccesses &accesses,
                                      ThreadConflicts &conflicts) {
  return BlockRaceFinder(scope, accesses, conflicts).find();
}

size_t countBlockRaces(Operation *scope, const ArgumentAliases &arguments) {
  UniformityAnalysis block(scope, UniformityUnit::Block, &arguments);
  UniformityAnalysis warp(scope, UniformityUnit::Warp, &arguments);
  KernelLoops loops(scope);
  ThreadAccesses accesses(scope, block, arguments);
  ThreadConflicts conflicts(scope, accesses, loops, block, warp, arguments);
  return findBlockRaces(scope, accesses, conflicts).size();
}

} // namespace mlir::workgroup
