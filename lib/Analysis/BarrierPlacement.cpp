//===- BarrierPlacement.cpp - Where barriers order accesses ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only some gaps are worth a barrier. Let one stand in a gap before an item
// that no hazard ends in, and that is not the first one behind the exit of a
// loop (unless the loop tests first, and the gap is behind the test). Then
// every way that passes the gap goes on through the whole item to the gap
// behind it: the barrier can as well stand there, at the same level. Likewise a
// barrier at the end of an arm can stand behind the branch, and one at the end
// of a body at its start, if the loop does not test there. Repeated, this moves
// every barrier to
//   - a gap right before an item that contains the end of a hazard,
//   - the gap at the exit of a loop, or
//   - the end of the body of a loop that tests first.
// Of a call that the end of a hazard is in, the first gap is right before it:
// further on, none is allowed.
// What was cut stays cut, and no level gets more barriers. For the same reason
// two hazards that share a gap share one of these.
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/BarrierPlacement.h"
#include "HittingSet.h"
#include "SyncWays.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <memory>

using namespace llvm;

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Given barriers
//===----------------------------------------------------------------------===//

namespace {

/// Tells whether barriers at given gaps stand on ways.
class GivenGaps {
public:
  GivenGaps(const SyncProgram &program, ArrayRef<SyncGap> gaps)
      : program(program), gaps(gaps.begin(), gaps.end()) {
    sort(this->gaps);
  }

  bool isCut(const SyncHazard &hazard) const {
    return isMet([&](const SyncWays &ways) { ways.walk(hazard); });
  }

private:
  bool isMet(function_ref<void(const SyncWays &)> walk) const {
    bool result = false;
    walk(SyncWays(
        program, {[&](SyncGap gap) {
                    result |= std::binary_search(gaps.begin(), gaps.end(), gap);
                  },
                  [&](unsigned node) { result |= result || cuts(node); }}));
    return result;
  }

  bool cuts(unsigned number) const {
    const SyncNode &node = program.nodes[number];
    return node.kind == SyncNode::Barrier ||
           (!node.parts.empty() && all_of(node.parts, [&](unsigned arm) {
             return isMet([&](const SyncWays &ways) { ways.walkArm(arm); });
           }));
  }

  const SyncProgram &program;
  SmallVector<SyncGap> gaps;
};

} // namespace

bool isCut(const SyncProgram &program, const SyncHazard &hazard,
           ArrayRef<SyncGap> gaps) {
  return GivenGaps(program, gaps).isCut(hazard);
}

//===----------------------------------------------------------------------===//
// Gaps worth a barrier
//===----------------------------------------------------------------------===//

/// True for a barrier that may go. What is called needs its own elsewhere, too.
static bool isReplaceable(const SyncNode &node) {
  return node.kind == SyncNode::Barrier && !node.call && !node.isFixed;
}

namespace {

/// What becomes of the barriers that are there: they are taken as given, are
/// places like others, or the only places.
enum class Existing { Keep, Replace, Choose };

/// The gaps that are worth a barrier, numbered in the order of the program.
class Candidates {
public:
  Candidates(const SyncProgram &program, ArrayRef<SyncHazard> hazards,
             Existing existing)
      : program(program), ranks(program.sequences.size()) {
    for (const auto &[sequence, ranksOfGaps] :
         zip_equal(program.sequences, ranks))
      ranksOfGaps.assign(sequence.items.size() + 1, 0);
    bool hasNew = existing != Existing::Choose;
    for (const SyncHazard &hazard : hazards)
      if (hasNew)
        addEnd(hazard.to);
    for (const SyncNode &node : program.nodes) {
      if (node.kind == SyncNode::Loop && hasNew)
        addTest(node);
      if (isReplaceable(node) && existing != Existing::Keep)
        ranks[node.sequence][node.index + 1] = kExisting;
    }
    number(0);
  }

  ArrayRef<SyncGap> getGaps() const { return gaps; }
  unsigned getRank(SyncGap gap) const { return ranks[gap.sequence][gap.index]; }
  bool isExisting(SyncGap gap) const { return getRank(gap) == kExisting; }
  /// The number of a gap that is worth a barrier.
  std::optional<unsigned> lookup(SyncGap gap) const {
    auto it = numbers.find({gap.sequence, gap.index});
    return it == numbers.end() ? std::nullopt : std::optional(it->second);
  }

private:
  /// Preference among gaps that do the same; none are no candidates. Right
  /// before the end of a hazard is as late as can be.
  enum Rank : unsigned { kNone, kTest, kEnd, kExisting };

  void addEnd(unsigned node) {
    auto add = [&](const SyncNode &item) {
      unsigned index = item.index;
      while (isInCall({item.sequence, index}))
        --index;
      ranks[item.sequence][index] = kEnd;
    };
    add(program.nodes[node]);
    for (unsigned parent : getSyncParents(program, node))
      add(program.nodes[parent]);
  }

  void addTest(const SyncNode &loop) {
    unsigned body = loop.parts.front(), end = ranks[body].size() - 1;
    SyncGap gap{body, loop.exit == 0 ? end : loop.exit};
    unsigned &rank = ranks[gap.sequence][gap.index];
    rank = std::max<unsigned>(rank, kTest);
  }

  /// True if both what stands before `gap` and what stands behind it are of the
  /// same call.
  bool isInCall(SyncGap gap) const {
    ArrayRef<unsigned> items = program.sequences[gap.sequence].items;
    if (gap.index == 0 || gap.index == items.size())
      return false;
    std::optional<unsigned> call = program.nodes[items[gap.index]].call;
    return call && program.nodes[items[gap.index - 1]].call == call;
  }

  void number(unsigned sequence) {
    ArrayRef<unsigned> items = program.sequences[sequence].items;
    for (unsigned place = 0; place <= items.size(); ++place) {
      if (ranks[sequence][place] != kNone) {
        numbers[{sequence, place}] = gaps.size();
        gaps.push_back({sequence, place});
      }
      if (place != items.size() && !program.nodes[items[place]].call)
        for (unsigned part : program.nodes[items[place]].parts)
          number(part);
    }
  }

  const SyncProgram &program;
  SmallVector<SmallVector<unsigned>, 0> ranks;
  SmallVector<SyncGap, 0> gaps;
  DenseMap<std::pair<unsigned, unsigned>, unsigned> numbers;
};

//===----------------------------------------------------------------------===//
// Placement as a hitting set
//===----------------------------------------------------------------------===//

/// Says which gaps cut which hazards. A branch that is passed cuts if all of
/// its arms do, so it is a choice that asks for a cut in each arm.
class PlacementProblem {
public:
  PlacementProblem(const SyncProgram &program, ArrayRef<SyncHazard> hazards,
                   Existing existing)
      : program(program), replaceExisting(existing != Existing::Keep),
        candidates(program, hazards, existing) {
    addChoices();
    for (auto [number, hazard] : enumerate(hazards))
      addHazard(number, hazard);
    addBranches();
  }

  SyncPlacement place();

private:
  /// What cuts a way.
  struct Cut {
    SmallVector<unsigned, 0> gaps, branches;
    bool isCertain = false;

    bool isPossible() const {
      return isCertain || !gaps.empty() || !branches.empty();
    }
  };
  /// What a passed branch asks for, or whether it cuts anyway or cannot.
  struct Arms {
    enum { Never, Always, Demands } kind = Never;
    SmallVector<Cut, 2> open;
    unsigned choice = 0;
  };

  void addChoices();
  void addHazard(unsigned number, const SyncHazard &hazard);
  void addBranches();
  unsigned addDemand(const Cut &cut);
  Cut getCut(function_ref<void(const SyncWays &)> walk);
  void addNode(Cut &cut, unsigned node);
  const Arms &getArms(unsigned branch);
  SmallVector<unsigned> getCertificate() const;
  BitVector getSupport(unsigned demand) const;

  const SyncProgram &program;
  bool replaceExisting;
  Candidates candidates;
  HittingSetProblem problem;
  /// The hazard of each demand that is required.
  SmallVector<unsigned> hazardOf;
  SmallVector<unsigned> uncut;
  DenseMap<unsigned, std::unique_ptr<Arms>> armsOf;
  /// Branches that are choices, in order of their numbers.
  SmallVector<unsigned> branches;
};

} // namespace

/// The deepest level comes first. Last of all, barriers count that are new.
void PlacementProblem::addChoices() {
  SmallVector<unsigned> levels;
  unsigned deepest = 0;
  for (SyncGap gap : candidates.getGaps()) {
    levels.push_back(getSyncLevel(program, gap.sequence));
    deepest = std::max(deepest, levels.back());
  }
  problem.priceSize = deepest + 1 + replaceExisting;
  for (auto [gap, level] : zip_equal(candidates.getGaps(), levels)) {
    HittingSetProblem::Choice &choice = problem.choices.emplace_back();
    choice.price = Price(problem.priceSize);
    choice.price[deepest - level] = 1;
    choice.rank = candidates.getRank(gap);
    if (replaceExisting)
      choice.price[deepest + 1] = !candidates.isExisting(gap);
  }
}

unsigned PlacementProblem::addDemand(const Cut &cut) {
  SmallVector<unsigned, 0> &demand = problem.demands.emplace_back(cut.gaps);
  for (unsigned branch : cut.branches)
    demand.push_back(getArms(branch).choice);
  sort(demand);
  demand.erase(llvm::unique(demand), demand.end());
  return problem.demands.size() - 1;
}

void PlacementProblem::addHazard(unsigned number, const SyncHazard &hazard) {
  Cut cut = getCut([&](const SyncWays &ways) { ways.walk(hazard); });
  if (cut.isCertain)
    return;
  if (!cut.isPossible()) {
    uncut.push_back(number);
    return;
  }
  problem.required.push_back(addDemand(cut));
  hazardOf.push_back(number);
}

/// Asking an arm may bring in further branches, inside of it.
void PlacementProblem::addBranches() {
  for (unsigned next = 0; next != branches.size(); ++next) {
    const Arms &arms = getArms(branches[next]);
    for (const Cut &cut : arms.open) {
      unsigned demand = addDemand(cut);
      problem.choices[arms.choice].demands.push_back(demand);
    }
  }
}

PlacementProblem::Cut
PlacementProblem::getCut(function_ref<void(const SyncWays &)> walk) {
  Cut cut;
  walk(SyncWays(program, {[&](SyncGap gap) {
                            if (auto number = candidates.lookup(gap))
                              cut.gaps.push_back(*number);
                          },
                          [&](unsigned node) { addNode(cut, node); }}));
  return cut;
}

void PlacementProblem::addNode(Cut &cut, unsigned node) {
  if (program.nodes[node].kind == SyncNode::Barrier) {
    cut.isCertain |= !replaceExisting || !isReplaceable(program.nodes[node]);
    return;
  }
  const Arms &arms = getArms(node);
  cut.isCertain |= arms.kind == Arms::Always;
  if (arms.kind == Arms::Demands)
    cut.branches.push_back(node);
}

const PlacementProblem::Arms &PlacementProblem::getArms(unsigned branch) {
  std::unique_ptr<Arms> &entry = armsOf[branch];
  if (entry)
    return *entry;
  auto arms = std::make_unique<Arms>();
  const SyncNode &node = program.nodes[branch];
  bool isPossible = !node.parts.empty();
  for (unsigned arm : node.parts) {
    Cut cut = getCut([&](const SyncWays &ways) { ways.walkArm(arm); });
    isPossible &= cut.isPossible();
    if (!cut.isCertain)
      arms->open.push_back(std::move(cut));
  }
  if (isPossible)
    arms->kind = arms->open.empty() ? Arms::Always : Arms::Demands;
  if (arms->kind == Arms::Demands) {
    arms->choice = problem.choices.size();
    problem.choices.emplace_back().price = Price(problem.priceSize);
    branches.push_back(branch);
  }
  return *(armsOf[branch] = std::move(arms));
}

//===----------------------------------------------------------------------===//
// Certificates
//===----------------------------------------------------------------------===//

/// The gaps that can contribute to meeting a demand.
BitVector PlacementProblem::getSupport(unsigned demand) const {
  BitVector support(candidates.getGaps().size());
  SmallVector<unsigned> worklist{demand};
  while (!worklist.empty()) {
    for (unsigned choice : problem.demands[worklist.pop_back_val()]) {
      if (choice < support.size())
        support.set(choice);
      else
        append_range(worklist, problem.choices[choice].demands);
    }
  }
  return support;
}

/// Takes hazards that share no gap with those taken before, in three orders: by
/// their last gap, which is best where hazards are intervals, by their first
/// one, and by how many they have. Returns most that one of these finds.
SmallVector<unsigned> PlacementProblem::getCertificate() const {
  SmallVector<BitVector, 0> supports;
  for (unsigned demand : problem.required)
    supports.push_back(getSupport(demand));
  auto keys = {
      +[](const BitVector &gaps) { return gaps.find_last(); },
      +[](const BitVector &gaps) { return -gaps.find_first(); },
      +[](const BitVector &gaps) { return static_cast<int>(gaps.count()); }};
  SmallVector<unsigned> best;
  for (auto *key : keys) {
    SmallVector<std::pair<int, unsigned>, 0> order;
    for (auto [number, support] : enumerate(supports))
      order.push_back({key(support), number});
    sort(order);
    BitVector taken(candidates.getGaps().size());
    SmallVector<unsigned> certificate;
    for (auto [_, number] : order) {
      if (taken.anyCommon(supports[number]))
        continue;
      taken |= supports[number];
      certificate.push_back(hazardOf[number]);
    }
    if (certificate.size() > best.size())
      best = std::move(certificate);
  }
  sort(best);
  return best;
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

SyncPlacement PlacementProblem::place() {
  HittingSet set = solve(problem);
  SyncPlacement placement;
  placement.isOptimal = set.isOptimal;
  placement.uncut = uncut;
  placement.certificate = getCertificate();
  for (unsigned choice : set.chosen)
    placement.gaps.push_back(candidates.getGaps()[choice]);
  sort(placement.gaps);
  return placement;
}

SyncPlacement placeBarriers(const SyncProgram &program,
                            ArrayRef<SyncHazard> hazards,
                            bool replaceExisting) {
  Existing existing = replaceExisting ? Existing::Replace : Existing::Keep;
  return PlacementProblem(program, hazards, existing).place();
}

SyncPlacement chooseBarriers(const SyncProgram &program,
                             ArrayRef<SyncHazard> hazards) {
  return PlacementProblem(program, hazards, Existing::Choose).place();
}

} // namespace mlir::workgroup
