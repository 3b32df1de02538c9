//===- BufferLiveness.cpp - Where workgroup buffers are in use ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferLiveness.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/DepthFirstIterator.h"

namespace mlir::workgroup {

BufferLiveness::BufferLiveness(Operation *kernel,
                               const UniformityAnalysis *uniformity)
    : kernel(kernel), uniformity(uniformity), order(kernel) {
  collectBarriers();
}

void BufferLiveness::collectBarriers() {
  // What an operation holds comes before the operation itself.
  getBody(kernel)->walk([&](Operation *op) {
    if ((isBlockBarrier(op) && isUniform(op)) || isBarrierOnEveryPath(op))
      barriers[op->getBlock()].push_back(order.getRange(op));
  });
}

/// True if `op` branches to regions each of which holds a barrier, as a whole
/// block does that takes either branch region of an `scf.if`.
bool BufferLiveness::isBarrierOnEveryPath(Operation *op) const {
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  if (!branch)
    return false;
  SmallVector<RegionSuccessor> successors;
  branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  return !successors.empty() &&
         llvm::all_of(successors, [&](RegionSuccessor &successor) {
           Region *region = successor.getSuccessor();
           return region && region->hasOneBlock() &&
                  barriers.contains(&region->front());
         });
}

bool BufferLiveness::isUniform(Operation *op) const {
  return !uniformity || uniformity->isUniformPoint(op);
}

/// True if the region of the kernel that `op` stands in may run again in one
/// execution of the operation around it.
bool BufferLiveness::isLoop(Operation *op) const {
  Region *region = op->getParentRegion();
  if (region->getParentOp() == kernel)
    return false;
  auto branch = dyn_cast<RegionBranchOpInterface>(region->getParentOp());
  return !branch || branch.isRepetitiveRegion(region->getRegionNumber());
}

//===----------------------------------------------------------------------===//
// Lives
//===----------------------------------------------------------------------===//

/// The innermost region around all of `ops`.
static Region *getCommonRegion(ArrayRef<Operation *> ops) {
  Region *region = ops.front()->getParentRegion();
  for (Operation *op : ops)
    while (!region->isAncestor(op->getParentRegion()))
      region = region->getParentRegion();
  return region;
}

/// The closest block that control passes on every way to each of `ops`, which
/// are of one region; null if there is none, as in dead code.
static Block *getDominator(ArrayRef<Operation *> ops,
                           DominanceInfo &dominance) {
  Block *dominator = nullptr;
  for (Operation *op : ops) {
    if (!dominator || op->getBlock() == dominator)
      dominator = op->getBlock();
    else
      dominator =
          dominance.findNearestCommonDominator(dominator, op->getBlock());
    if (!dominator)
      return nullptr;
  }
  return dominator;
}

static Block *getImmediateDominator(Block *block, DominanceInfo &dominance) {
  if (block->getParent()->hasOneBlock())
    return nullptr;
  DominanceInfoNode *node = dominance.getNode(block);
  DominanceInfoNode *parent = node ? node->getIDom() : nullptr;
  return parent ? parent->getBlock() : nullptr;
}

/// The outermost region around `region` that a loop of the kernel leads to from
/// `op` inside of it: what `region` holds may run several times, and values may
/// live on from one time to the next.
Region *BufferLiveness::getRegionAroundLoops(Region *region,
                                             Operation *op) const {
  for (op = region->findAncestorOpInRegion(*op); op != kernel;
       op = op->getParentOp()) {
    if (order.getCycle(op->getBlock()))
      region = op->getParentRegion();
    if (isLoop(op))
      region = op->getParentOp()->getParentRegion();
  }
  return region;
}

BufferLife BufferLiveness::getLife(const BufferUses &uses,
                                   Operation *allocation) {
  BufferLife life;
  life.range = order.getRange(kernel);
  life.isUsed = !uses.ops.empty();
  if (!life.isUsed || uses.isOutOfSight)
    return life;
  SmallVector<Operation *> ops(uses.ops.begin(), uses.ops.end());
  if (allocation)
    ops.push_back(allocation);
  Region *body = getBody(kernel);
  Region *region = uses.escape ? body : getCommonRegion(ops);
  if (!allocation && !uses.escape)
    region = getRegionAroundLoops(region, ops.front());

  while (!findLifeIn(*region, uses.ops.getArrayRef(), life)) {
    if (region == body)
      return life;
    region = region->getParentRegion();
  }
  if (uses.escape) {
    life.range.last = order.getRange(kernel).last;
    life.end = nullptr;
  }
  return life;
}

bool BufferLiveness::isWithinIteration(const BufferLife &life,
                                       Operation *allocation) const {
  SmallVector<ProgramOrder::Range> around = getLoops(allocation),
                                   lifes = getLoops(life.begin);
  return around.size() == lifes.size();
}

/// Makes `life` the shortest life at the level of `region` that holds `uses`;
/// false if it cannot begin there.
bool BufferLiveness::findLifeIn(Region &region, ArrayRef<Operation *> uses,
                                BufferLife &life) {
  SmallVector<Operation *> ops;
  ProgramOrder::Range cover{~0u, 0};
  auto extend = [&](ProgramOrder::Range range) {
    cover = {std::min(cover.first, range.first),
             std::max(cover.last, range.last)};
  };
  Operation *last = nullptr;
  for (Operation *use : uses) {
    Operation *op = region.findAncestorOpInRegion(*use);
    if (!region.hasOneBlock() &&
        !dominance.isReachableFromEntry(op->getBlock()))
      continue; // dead code
    ops.push_back(op);
    ProgramOrder::Range range = order.getRange(op);
    if (range.last >= cover.last)
      last = op;
    extend(range);
    if (std::optional<ProgramOrder::Range> around =
            order.getCycle(op->getBlock())) {
      last = around->last >= cover.last ? nullptr : last;
      extend(*around);
    }
  }

  Block *block = getDominator(ops, dominance);
  for (; block; block = getImmediateDominator(block, dominance)) {
    Operation *begin = block->getTerminator();
    for (Operation *op : ops)
      if (op->getBlock() == block && op->isBeforeInBlock(begin))
        begin = op;
    if (order.getCycle(block) || !isUniform(begin))
      continue;
    // Uses in other blocks may come after the last one in the order.
    auto isInLastBlock = [&](Operation *op) {
      return last && op->getBlock() == last->getBlock();
    };
    life.begin = begin;
    life.end = llvm::all_of(ops, isInLastBlock) ? last : nullptr;
    life.range = {order.getRange(begin).first, cover.last};
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// One life after another
//===----------------------------------------------------------------------===//

SmallVector<ProgramOrder::Range> BufferLiveness::getLoops(Operation *op) const {
  SmallVector<ProgramOrder::Range> loops;
  for (; op && op != kernel; op = op->getParentOp()) {
    if (std::optional<ProgramOrder::Range> cycle =
            order.getCycle(op->getBlock()))
      loops.push_back(*cycle);
    if (isLoop(op))
      loops.push_back(order.getRange(op->getParentOp()));
  }
  return loops;
}

std::optional<ProgramOrder::Range>
BufferLiveness::getInnermostCommonLoop(const BufferLife &life,
                                       const BufferLife &next) const {
  for (ProgramOrder::Range loop : getLoops(life.begin))
    if (loop.contains(next.range))
      return loop;
  return std::nullopt;
}

/// True if `next` comes after `life` in the order, and control may get there
/// without an iteration of a loop.
bool BufferLiveness::comesAfter(const BufferLife &life,
                                const BufferLife &next) const {
  if (life.range.last >= next.range.first)
    return false;
  if (!life.begin || !next.begin)
    return true;
  if (insideMutuallyExclusiveRegions(life.begin, next.begin))
    return false;
  Block *from = life.begin->getBlock(), *to = next.begin->getBlock();
  if (from == to || from->getParent() != to->getParent())
    return true;
  auto [it, isNew] = reachable.try_emplace(from);
  if (isNew)
    for (Block *successor : from->getSuccessors())
      for (Block *block : llvm::depth_first_ext(successor, it->second))
        (void)block; // the set is what counts
  return it->second.contains(to);
}

bool BufferLiveness::mayFollow(const BufferLife &life,
                               const BufferLife &next) const {
  if (!life.isUsed || !next.isUsed)
    return false;
  return comesAfter(life, next) || getInnermostCommonLoop(life, next);
}

bool BufferLiveness::isSeparated(const BufferLife &life,
                                 const BufferLife &next) const {
  ProgramOrder::Range between{life.range.last, next.range.first};
  if (comesAfter(life, next))
    return findBarrierBefore(next.begin, between) ||
           findBarrierAfter(life.end, between);
  std::optional<ProgramOrder::Range> loop = getInnermostCommonLoop(life, next);
  if (!loop)
    return true;
  return findBarrierBefore(next.begin, {loop->first, next.range.first}) ||
         findBarrierAfter(life.end, {life.range.last, loop->last});
}

/// True if a barrier inside `range` stands before `op` in its block or in one
/// around it.
bool BufferLiveness::findBarrierBefore(Operation *op,
                                       ProgramOrder::Range range) const {
  for (; op && op != kernel; op = op->getParentOp()) {
    unsigned position = order.getRange(op).first;
    if (position <= range.first)
      return false;
    auto it = barriers.find(op->getBlock());
    if (it == barriers.end())
      continue;
    auto after =
        llvm::partition_point(it->second, [&](ProgramOrder::Range barrier) {
          return barrier.last <= position;
        });
    if (after != it->second.begin() && std::prev(after)->first > range.first)
      return true;
  }
  return false;
}

/// True if a barrier inside `range` stands after `op` in its block or in one
/// around it.
bool BufferLiveness::findBarrierAfter(Operation *op,
                                      ProgramOrder::Range range) const {
  for (; op && op != kernel; op = op->getParentOp()) {
    unsigned position = order.getRange(op).last;
    if (position >= range.last)
      return false;
    auto it = barriers.find(op->getBlock());
    if (it == barriers.end())
      continue;
    auto after =
        llvm::partition_point(it->second, [&](ProgramOrder::Range barrier) {
          return barrier.first <= position;
        });
    if (after != it->second.end() && after->last <= range.last)
      return true;
  }
  return false;
}

void BufferLiveness::addBarrierBefore(Operation *op) {
  SmallVector<ProgramOrder::Range> &ranges = barriers[op->getBlock()];
  unsigned position = order.getRange(op).first;
  auto *place = llvm::partition_point(ranges, [&](ProgramOrder::Range barrier) {
    return barrier.last < position;
  });
  ranges.insert(place, ProgramOrder::Range{position, position});
}

} // namespace mlir::workgroup
