//===- AsyncWaits.cpp - Waits for copies that nobody waits for ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncWaits.h"
#include "Analysis/Program/OpEffects.h"
#include "Analysis/Tree/SyncCompletions.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::workgroup {

static bool isCopy(Operation *op) { return getOpKind(op) == OpKind::AsyncCopy; }

//===----------------------------------------------------------------------===//
// What is touched before it is done
//===----------------------------------------------------------------------===//

/// True if another thread than the one that started the copy may come, so that
/// a barrier has to come behind the wait.
bool AsyncWaits::isShared(const Hazard &hazard, UniformityUnit unit) {
  PairRelation relation = hazard.relation;
  relation.mayBeSame = false;
  relation.threads = unit == UniformityUnit::Block ? PairRelation::OfTwoWarps
                                                   : PairRelation::OfOneWarp;
  return kernel.getConflicts().canMeet(hazard.first, hazard.second, relation);
}

/// What has no wait in time, in the order in which waits are to be put: in the
/// deepest loops first, as those may be for what goes before the loop, too.
std::vector<AsyncWaits::Use> AsyncWaits::findUses(UniformityUnit unit) {
  std::vector<Use> uses;
  SyncTree tree = kernel.makeTree(unit);
  if (tree.getUnstructured())
    return uses;
  Keys known;
  for (const Hazard &hazard :
       kernel.findHazards(tree, unit, HazardUse::Waits)) {
    if (!hazard.isUndone || !isCopy(kernel.getAccess(hazard.first).op))
      continue;
    Use use;
    use.isShared = isShared(hazard, unit);
    static_cast<AsyncPoint &>(use) =
        findAsyncPoint(kernel, tree, hazard, use.isShared);
    if (known.insert(use.getKey()).second)
      uses.push_back(use);
  }
  llvm::stable_sort(uses, [](const Use &lhs, const Use &rhs) {
    return std::tuple(-int64_t(lhs.depth), lhs.sequence, lhs.index) <
           std::tuple(-int64_t(rhs.depth), rhs.sequence, rhs.index);
  });
  return uses;
}

bool AsyncWaits::isLeft(const Keys &keys, UniformityUnit unit) {
  return llvm::any_of(findUses(unit), [&](const Use &use) {
    return keys.count(use.getKey()) != 0;
  });
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// True if nothing happens at `op` that a group has to come before.
static bool isPassedByGroup(Operation *op) {
  return isCopy(op) || (op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
                        !op->hasTrait<OpTrait::IsTerminator>() &&
                        !isa<nvgpu::DeviceAsyncWaitOp>(op));
}

/// The last of the operations from `op` on that a group of its copies may come
/// behind, but not behind what is, or holds, `point`.
static Operation *findEndOfRun(Operation *op, Operation *point) {
  Operation *last = op;
  for (Operation *next = op->getNextNode();
       next && !next->isAncestor(point) && isPassedByGroup(next);
       next = next->getNextNode())
    if (isCopy(next))
      last = next;
  return last;
}

/// The operation behind which the group that `copy` is part of is to be
/// committed: behind the copies next to it, and behind the branches around, so
/// that it is committed on all paths to `point`.
static Operation *findEndOfGroup(Operation *copy, Operation *point) {
  Operation *end = findEndOfRun(copy, point);
  for (Operation *around = copy->getParentOp();
       isa<scf::IfOp, scf::IndexSwitchOp, affine::AffineIfOp,
           scf::ExecuteRegionOp, memref::AllocaScopeOp>(around) &&
       !around->isAncestor(point);
       around = around->getParentOp())
    end = findEndOfRun(around, point);
  return end;
}

/// The tokens of the copies in front of `end`, in its block, that are of no
/// group.
static SmallVector<Value> findTokens(Operation *end) {
  SmallVector<Value> tokens;
  for (Operation *op = end; op && isPassedByGroup(op); op = op->getPrevNode())
    if (auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(op))
      if (copy->use_empty())
        tokens.insert(tokens.begin(), copy.getAsyncToken());
  return tokens;
}

/// Commits the group of the copy: in front of the wait if the copy stands in
/// place of a call.
InsertedOps AsyncWaits::insertGroup(const Use &use) {
  Operation *copy = kernel.getAccess(use.first).op;
  bool isOfCall = program.getStartOfCall(copy) != nullptr;
  Operation *end = isOfCall ? use.next : findEndOfGroup(copy, use.next);
  Location loc = copy->getLoc();
  auto make = [&](OriginalOf getOriginal) -> Operation * {
    if (isOfCall || !isa<nvgpu::DeviceAsyncCopyOp>(copy))
      return NVVM::CpAsyncCommitGroupOp::create(rewriter, loc);
    return nvgpu::DeviceAsyncCreateGroupOp::create(
        rewriter, loc, nvgpu::DeviceAsyncTokenType::get(loc.getContext()),
        findTokens(getOriginal(end)));
  };
  return insertInProgram(rewriter, program, end, /*isBehind=*/!isOfCall, make);
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// The operation that makes the group of `copy`, if its token is at hand at
/// `point`; null otherwise.
Operation *AsyncWaits::findGroup(Operation *copy, Operation *point) {
  if (program.getStartOfCall(copy))
    return nullptr;
  DominanceInfo dominance(kernel.getScope());
  for (Operation *user : copy->getUsers())
    if (isa<nvgpu::DeviceAsyncCreateGroupOp>(user) &&
        dominance.properlyDominates(user, point))
      return user;
  return nullptr;
}

InsertedOps AsyncWaits::insertWait(const Use &use) {
  Operation *copy = kernel.getAccess(use.first).op;
  Operation *group = findGroup(copy, use.next);
  auto make = [&](OriginalOf getOriginal) -> Operation * {
    Location loc = use.next->getLoc();
    if (!group)
      return NVVM::CpAsyncWaitGroupOp::create(rewriter, loc, 0);
    return nvgpu::DeviceAsyncWaitOp::create(rewriter, loc,
                                            getOriginal(group)->getResult(0),
                                            rewriter.getI32IntegerAttr(0));
  };
  return insertInProgram(rewriter, program, use.next, /*isBehind=*/false, make);
}

static void setNumLeft(const InsertedOps &waits, int64_t count) {
  for (Operation *op : waits.ops) {
    if (auto wait = dyn_cast<nvgpu::DeviceAsyncWaitOp>(op))
      wait.setNumGroups(count);
    else
      cast<NVVM::CpAsyncWaitGroupOp>(op).setN(count);
  }
}

/// What the wait for `use`, of all groups, is to be for of what was `open`
/// before: what another wait would take a barrier of its own for.
AsyncWaits::Keys AsyncWaits::getSettled(const Use &use, ArrayRef<Use> open,
                                        UniformityUnit unit) {
  Keys settled;
  for (const Use &other : open)
    if (use.isShared && other.isShared && other.sequence == use.sequence &&
        (other.index == use.index || !other.isAtBarrier))
      settled.insert(other.getKey());
  for (const Use &left : findUses(unit))
    settled.erase(left.getKey());
  settled.insert(use.getKey());
  return settled;
}

/// Leaves as many groups under way as `settled` allows for.
void AsyncWaits::loosen(const InsertedOps &wait, const Keys &settled,
                        UniformityUnit unit) {
  constexpr int64_t kMaxGroups = 8;
  for (int64_t count = 1; count <= kMaxGroups; ++count) {
    setNumLeft(wait, count);
    if (!isLeft(settled, unit))
      continue;
    setNumLeft(wait, count - 1);
    return;
  }
}

/// Puts a wait for a copy, and commits its group if it takes that. False if
/// that does not help.
bool AsyncWaits::repair(const Use &use, ArrayRef<Use> open,
                        UniformityUnit unit) {
  if (!use.next || (program.getStartOfCall(use.next) &&
                    program.getStartOfCall(use.next) != use.next))
    return false;
  InsertedOps group, wait = insertWait(use);
  if (isLeft({use.getKey()}, unit)) {
    wait.erase(rewriter);
    group = insertGroup(use);
    wait = insertWait(use);
  }
  if (isLeft({use.getKey()}, unit)) {
    wait.erase(rewriter);
    group.erase(rewriter);
    return false;
  }
  loosen(wait, getSettled(use, open, unit), unit);
  std::string copy = getSite(kernel.getAccess(use.first).op).op;
  std::string other = getSite(kernel.getAccess(use.second).op).op;
  recordRemark(RemarkId::InsertBarriers_InsertedWait, wait.ops.back())
      << "wait inserted: nothing waits for '" + copy + "' before '" + other +
             "' touches the same bytes";
  return true;
}

void AsyncWaits::insert(UniformityUnit unit) {
  constexpr unsigned kMaxWaits = 1 << 8;
  for (unsigned count = 0; count < kMaxWaits; ++count) {
    std::vector<Use> open = findUses(unit);
    llvm::erase_if(
        open, [&](const Use &use) { return givenUp.count(use.getKey()) != 0; });
    if (open.empty())
      return;
    if (!repair(open.front(), open, unit))
      givenUp.insert(open.front().getKey());
  }
}

void AsyncWaits::insert() {
  auto isOfCopies = [](Operation *op) {
    return isCopy(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (!kernel.getScope()->walk(isOfCopies).wasInterrupted() ||
      mayWaitForCopies(kernel.getScope()))
    return;
  insert(UniformityUnit::Block);
  if (kernel.hasWarps())
    insert(UniformityUnit::Warp);
}

} // namespace mlir::workgroup
