//===- DominatingHazards.cpp - Hazards that imply others ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps are visited from the last one to the first, and each is compared with
// those behind it, from the next one on, until that is implied by what was
// found before.
//
//===----------------------------------------------------------------------===//

#include "DominatingHazards.h"

namespace mlir::workgroup {

DominatingHazards::DominatingHazards(HazardContext &context,
                                     HazardCollector &found)
    : context(context), accesses(context.accesses), tree(context.tree),
      program(context.program), conflicts(context.conflicts), found(found),
      implied(found.implied) {
  for (unsigned access = 0; access < accesses.size(); ++access)
    plain.push_back(context.isPlain(access));
  findKinds();
}

/// Tells how an access is atomic; 0 if it is not.
static unsigned getScopeNumber(const ThreadAccess &access) {
  constexpr unsigned kNumScopes = unsigned(AtomicScope::System) + 1;
  return access.scope
             ? 1 + access.atomicBits * kNumScopes + unsigned(*access.scope)
             : 0;
}

/// Accesses of an unrolled loop are of few kinds, for all that is asked of
/// plain ones whenever they are done.
void DominatingHazards::findKinds() {
  constexpr size_t kMaxKinds = 1 << 11;
  using Kind = std::tuple<std::pair<unsigned, unsigned>, bool, AccessKind,
                          unsigned, unsigned, AccessScope, MemorySpace,
                          std::vector<unsigned>, const void *, const void *>;
  std::map<Kind, unsigned> numbers;
  for (auto [number, access] : llvm::enumerate(accesses)) {
    const void *basis = access.footprint && access.footprint->basis
                            ? access.footprint->basis.getAsOpaquePointer()
                            : nullptr;
    const void *type =
        access.operand ? access.operand->get().getType().getAsOpaquePointer()
                       : nullptr;
    // What may be anywhere has the number of what is at the beginning.
    Kind kind{conflicts.getFootprintNumbers(number),
              access.footprint.has_value(),
              access.kind,
              access.scope ? HazardContext::getUpdateClass(access) : 0,
              getScopeNumber(access),
              access.accessScope,
              access.space,
              std::vector<unsigned>(access.roots.begin(), access.roots.end()),
              basis,
              type};
    kinds.push_back(
        numbers.try_emplace(std::move(kind), numbers.size()).first->second);
  }
  numKinds = numbers.size();
  if (numKinds <= kMaxKinds)
    meetings.assign(size_t(numKinds) * numKinds, Meeting::Unknown);
}

/// True if two plain accesses are no hazard in whatever iterations.
bool DominatingHazards::areApart(unsigned first, unsigned second) {
  if (conflicts.areApart(first, second))
    return true;
  if (meetings.empty() || first == second)
    return false;
  Meeting &meeting = meetings[kinds[first] * numKinds + kinds[second]];
  if (meeting == Meeting::Unknown) {
    PairRelation anyTime = context.getAnyTime(first, second);
    // Which of them comes first makes no difference then.
    bool isNever = !context.canRace(first, second) ||
                   !conflicts.mayFind(first, second, anyTime);
    meeting = isNever ? Meeting::Never : Meeting::Asked;
    meetings[kinds[second] * numKinds + kinds[first]] = meeting;
  }
  return meeting == Meeting::Never;
}

bool DominatingHazards::isSettled(unsigned first, unsigned second) {
  if (!plain[first] || !plain[second])
    return conflicts.areApart(first, second) ||
           conflicts.areKeptApart(first, second, context.threads);
  unsigned from = tree.getStep(first), to = tree.getStep(second);
  bool isAsked =
      context.use == HazardUse::Verification || context.isLeadingOnly;
  return (isAsked && from != to && implied.areImplied(from, to)) ||
         areApart(first, second);
}

/// Asks for a hazard, and remembers it if it is one of which all paths are
/// followed, and that barriers can cover: or do, if that is what is asked for.
bool DominatingHazards::add(unsigned first, unsigned second,
                            std::optional<unsigned> loop) {
  // Of what has several paths, much may be asked in vain.
  constexpr unsigned kMaxTried = 1 << 10;
  if (areApart(first, second) || !context.canRace(first, second))
    return false;
  unsigned from = tree.getStep(first), to = tree.getStep(second);
  SyncHazard order{from, to, loop, false};
  if (context.isOpenOnly ? program.nodes[to].call.has_value()
                         : !found.isCovered(order))
    return false;
  if (numTried == kMaxTried && !found.isStraight(order))
    return false;
  SmallVector<unsigned, 3> around = context.getCommonLoops(from, to);
  PairRelation relation;
  relation.threads = context.threads;
  if (loop) {
    if (!llvm::is_contained(context.getCarriers(first, second, around), *loop))
      return false;
    around.truncate(llvm::find(around, *loop) - around.begin());
    relation.carrier = tree.getLoop(*loop);
  }
  for (unsigned outer : around)
    relation.sameIteration.push_back(tree.getLoop(outer));
  if (found.addLeading(first, second, order, relation))
    return true;
  numTried += !found.isStraight(order) && numTried != kMaxTried;
  return false;
}

void DominatingHazards::find(unsigned from, unsigned to,
                             std::optional<unsigned> loop) {
  for (unsigned first : plainAt[from])
    for (unsigned second : plainAt[to])
      if (add(first, second, loop))
        return;
}

/// What leads between `steps` of a region, in one iteration.
void DominatingHazards::find(ArrayRef<unsigned> steps) {
  auto isImplied = [&](unsigned from, unsigned to) {
    return implied.isImplied({from, to, std::nullopt, false});
  };
  for (size_t from = steps.size(); from-- > 0;)
    for (unsigned to : steps.drop_front(from + 1)) {
      if (isImplied(steps[from], to))
        break; // and so is what is further away
      find(steps[from], to, std::nullopt);
    }
}

/// What leads from one iteration of `loop` into the next one.
void DominatingHazards::find(unsigned loop, ArrayRef<unsigned> steps) {
  SmallVector<unsigned, 0> inside;
  for (unsigned step : steps)
    if (llvm::is_contained(context.getLoopsAround(step), loop))
      inside.push_back(step);
  for (unsigned from : llvm::reverse(inside))
    for (unsigned to : inside) {
      if (implied.isImplied({from, to, loop, false}))
        break;
      find(from, to, loop);
    }
}

void DominatingHazards::find() {
  std::map<unsigned, SmallVector<unsigned, 0>> regions;
  for (unsigned access = 0; access < accesses.size(); ++access) {
    if (!plain[access] || !tree.contains(accesses[access]))
      continue;
    unsigned step = tree.getStep(access);
    SmallVector<unsigned, 2> &others = plainAt[step];
    if (others.empty())
      regions[implied.getRegion(step)].push_back(step);
    others.push_back(access);
  }
  for (auto &[_, steps] : regions) {
    llvm::sort(steps, [&](unsigned lhs, unsigned rhs) {
      return implied.isBefore(lhs, rhs);
    });
    find(steps);
  }
  // Inner loops first: what leads in them implies what is around.
  for (unsigned node = program.nodes.size(); node-- > 0;)
    if (program.nodes[node].kind == SyncNode::Loop)
      find(node, regions[implied.getRegionOfBody(node)]);
}

} // namespace mlir::workgroup
