//===- HazardContext.cpp - What hazards are looked for among --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accesses by kind, and the order of their steps in one iteration of the loops
// around them.
//
//===----------------------------------------------------------------------===//

#include "HazardContext.h"
#include "Analysis/Placement/HazardPaths.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

namespace mlir::workgroup {

/// True if it does not cost much to ask for all pairs, in the iterations of all
/// loops around.
bool HazardContext::isSmall() const {
  constexpr size_t kMaxQuestions = 2 * kMaxComplete * kMaxComplete;
  size_t depth = 1;
  for (unsigned access = 0; access < accesses.size(); ++access)
    if (tree.contains(accesses[access]))
      depth =
          std::max(depth, 1 + tree.getLoopsAround(tree.getStep(access)).size());
  return accesses.size() <= kMaxComplete &&
         accesses.size() * accesses.size() * depth <= kMaxQuestions;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Of what nobody reads the result, and what does the same exactly, it makes no
/// difference which comes first: sums of floats are rounded.
unsigned HazardContext::getUpdateClass(const ThreadAccess &access) {
  if (getAtomicScope(access.op))
    return kOrderedUpdate;
  if (!isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(access.op))
    return 0; // of an mbarrier
  auto update = dyn_cast<memref::AtomicRMWOp>(access.op);
  if (!update || !update->use_empty())
    return kOrderedUpdate;
  switch (update.getKind()) {
  case arith::AtomicRMWKind::assign:
  case arith::AtomicRMWKind::addf:
  case arith::AtomicRMWKind::mulf:
    return kOrderedUpdate;
  default:
    return kOrderedUpdate + 1 + static_cast<unsigned>(update.getKind());
  }
}

/// True if it makes no difference which of two atomic updates comes first.
bool HazardContext::areInterchangeable(const ThreadAccess &lhs,
                                       const ThreadAccess &rhs) {
  unsigned updates = getUpdateClass(lhs);
  return updates != kOrderedUpdate && updates == getUpdateClass(rhs);
}

bool HazardContext::canRace(unsigned first, unsigned second) const {
  const ThreadAccess &lhs = accesses[first], &rhs = accesses[second];
  if (!lhs.isWrite() && !rhs.isWrite())
    return false;
  // What announces bytes for a phase that is not over spoils the phase.
  auto isAnnouncement = [&](unsigned access) {
    return tree.getCompletion(access) &&
           isa<nvgpu::MBarrierArriveExpectTxOp>(accesses[access].op);
  };
  if (areAtomic(lhs, rhs) && getCommonScope(lhs, rhs) >= AtomicScope::Block)
    return (isAnnouncement(first) && isAnnouncement(second)) ||
           (use == HazardUse::Elimination && !areInterchangeable(lhs, rhs));
  if (first == second && lhs.sameness == ThreadAccess::SameAlways)
    return false;
  // What the block does together is spread over its threads in whatever way;
  // that warps meet is no help.
  bool isBlock = lhs.accessScope == AccessScope::Block ||
                 rhs.accessScope == AccessScope::Block;
  return !(isBlock && threads == PairRelation::OfOneWarp);
}

bool HazardContext::writesSame(unsigned access) const {
  auto sameness = accesses[access].sameness;
  return sameness == ThreadAccess::SameInWarp
             ? threads == PairRelation::OfOneWarp
             : sameness != ThreadAccess::NotSame;
}

bool HazardContext::haveCommonRoot(unsigned first, unsigned second) const {
  return llvm::any_of(accesses[first].roots, [&](unsigned root) {
    return root != 0 && llvm::is_contained(accesses[second].roots, root);
  });
}

bool HazardContext::isPlain(unsigned access) const {
  return !accesses[access].isAsync && !tree.getCompletion(access) &&
         !tree.getMissed(access);
}

//===----------------------------------------------------------------------===//
// Steps and loops
//===----------------------------------------------------------------------===//

const SmallVector<unsigned, 3> &HazardContext::getLoopsAround(unsigned step) {
  auto [it, isNew] = loopsAround.try_emplace(step);
  if (isNew)
    it->second = tree.getLoopsAround(step);
  return it->second;
}

SmallVector<unsigned, 3> HazardContext::getCommonLoops(unsigned from,
                                                       unsigned to) {
  SmallVector<unsigned, 3> around;
  // The one may make the other move.
  getLoopsAround(from);
  getLoopsAround(to);
  for (auto [lhs, rhs] : llvm::zip(getLoopsAround(from), getLoopsAround(to))) {
    if (lhs != rhs)
      break;
    around.push_back(lhs);
  }
  return around;
}

ArrayRef<unsigned> HazardContext::getCarriers(unsigned first, unsigned second,
                                              ArrayRef<unsigned> around) const {
  Operation *tile = memory.getCommonTile(accesses[first], accesses[second]);
  if (!tile)
    return around;
  return around.drop_while([&](unsigned loop) {
    const KernelLoop *turning = tree.getLoop(loop);
    return turning->op && turning->op->isProperAncestor(tile);
  });
}

bool HazardContext::isBefore(unsigned first, unsigned second) const {
  return mlir::workgroup::isBefore(program, first, second);
}

PairRelation HazardContext::getRelation(ArrayRef<unsigned> around) const {
  PairRelation relation;
  relation.threads = threads;
  for (unsigned loop : around)
    relation.sameIteration.push_back(tree.getLoop(loop));
  return relation;
}

PairRelation HazardContext::getAnyTime(unsigned first, unsigned second) const {
  auto isAsync = [&](unsigned access) {
    return accesses[access].isAsync || tree.getCompletion(access);
  };
  PairRelation anyTime;
  anyTime.threads = threads;
  anyTime.mayBeSame = isAsync(first) || isAsync(second);
  return anyTime;
}

} // namespace mlir::workgroup
