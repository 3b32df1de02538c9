//===- PhaseInduction.cpp - What goes on with each wait -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PhaseInduction.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// More claims than any nest of loops takes: each is made at most once for the
/// values of one way to it.
static constexpr size_t kMaxClaims = 1024;

bool PhaseInduction::holds(ArrayRef<Value> state) {
  claims.assign(1, {wait, State(state)});
  for (size_t next = 0; next < claims.size(); ++next) {
    Claim claim = claims[next];
    if (claims.size() > kMaxClaims || !follow(claim))
      return false;
  }
  return true;
}

/// Follows `claim` back to where it is shown, or to others that it follows
/// from. A value that is computed on the way is as good as where it is used,
/// unless it would be of another execution of its block.
bool PhaseInduction::follow(const Claim &claim) {
  for (Operation *op = claim.before->getPrevNode(); op;
       op = op->getPrevNode()) {
    if (op == wait)
      return isNext(claim.values);
    bool isHandedOn = llvm::any_of(
        claim.values, [&](Value value) { return value.getDefiningOp() == op; });
    if (op->getNumRegions() == 0 || !(isHandedOn || op->isAncestor(wait)))
      continue;
    auto branch = dyn_cast<RegionBranchOpInterface>(op);
    return branch && enterRegions(branch, {op, op->getResults()}, claim.values);
  }
  return enterBlock(claim.before->getBlock(), claim.values);
}

/// The ways to the start of `block`.
bool PhaseInduction::enterBlock(Block *block, const State &values) {
  bool isOfBlock = llvm::any_of(values, [&](Value value) {
    return value.getParentBlock() == block && !isa<BlockArgument>(value) &&
           !matchPattern(value, m_Constant());
  });
  if (isOfBlock)
    return false;
  Operation *around = block->getParentOp();
  if (block->isEntryBlock() && around == scope)
    return llvm::all_of(
        values, [](Value value) { return matchPattern(value, m_Zero()); });
  if (block->isEntryBlock()) {
    auto branch = dyn_cast<RegionBranchOpInterface>(around);
    return branch && enterRegions(branch, block->getParent(), values);
  }
  for (auto it = block->pred_begin(), end = block->pred_end(); it != end;
       ++it) {
    auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
    if (!branch)
      return false;
    SuccessorOperands handed =
        branch.getSuccessorOperands(it.getSuccessorIndex());
    if (handed.getProducedOperandCount() != 0)
      return false;
    auto isMade = [&](Value value) {
      return isa<BlockArgument>(value) && value.getParentBlock() == block;
    };
    std::optional<State> before = getBefore(
        values, block->getArguments(), handed.getForwardedOperands(), isMade);
    if (!before)
      return false;
    add(branch, *before);
  }
  return true;
}

/// The ways to `target`, a region of `branch` or what comes behind it.
bool PhaseInduction::enterRegions(RegionBranchOpInterface branch,
                                  RegionSuccessor target, const State &values) {
  if (isa<scf::ForallOp, scf::ParallelOp>(branch))
    return false; // many threads in one
  auto isMade = [&](Value value) {
    return target.isParent()
               ? value.getDefiningOp() == branch
               : isa<BlockArgument>(value) &&
                     value.getParentRegion() == target.getSuccessor();
  };
  SmallVector<RegionBranchPoint> points;
  branch.getPredecessors(target, points);
  for (RegionBranchPoint point : points) {
    SmallVector<RegionSuccessor> successors;
    branch.getSuccessorRegions(point, successors);
    for (RegionSuccessor successor : successors) {
      if (successor.getSuccessor() != target.getSuccessor())
        continue;
      Operation *last = point.getTerminatorPredecessorOrNull();
      OperandRange operands =
          last ? cast<RegionBranchTerminatorOpInterface>(last)
                     .getSuccessorOperands(successor)
               : branch.getEntrySuccessorOperands(successor);
      std::optional<State> before =
          getBefore(values, successor.getSuccessorInputs(), operands, isMade);
      if (!before)
        return false;
      add(last ? last : branch.getOperation(), *before);
    }
  }
  return !points.empty();
}

/// The values that `values` have on a path that makes `inputs` of `operands`;
/// nothing if it makes one of them (`isMade`) of something else.
std::optional<PhaseInduction::State>
PhaseInduction::getBefore(const State &values, ValueRange inputs,
                          ValueRange operands,
                          llvm::function_ref<bool(Value)> isMade) const {
  State before;
  for (Value value : values) {
    auto input = llvm::find(inputs, value);
    if (input != inputs.end())
      before.push_back(operands[std::distance(inputs.begin(), input)]);
    else if (!isMade(value))
      before.push_back(value);
    else
      return std::nullopt;
  }
  return before;
}

void PhaseInduction::add(Operation *before, const State &values) {
  Claim claim{before, values};
  if (!llvm::is_contained(claims, claim))
    claims.push_back(claim);
}

} // namespace mlir::workgroup
