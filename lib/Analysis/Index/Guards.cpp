//===- Guards.cpp - What holds where control gets to ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Guards are computed block by block and remembered. Paths between blocks are
// followed up to a depth: what is behind that is unknown, and never left out.
//
//===----------------------------------------------------------------------===//

#include "Guards.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "workgroup/IR/Workgroup.h"

namespace mlir::workgroup {

using Condition = SymbolicCondition;
using Form = SymbolicForm;

/// Which threads execute `region` of `warps`: those that consume come first.
static SymbolicCondition getMembers(FormAlgebra &algebra, SpecializeOp warps,
                                    Region *region) {
  if (!algebra.getShape().getNumThreads())
    return algebra.getUnknown();
  Condition consumes =
      Condition::of(Condition::NonNegative,
                    algebra.add(Form(int64_t(warps.getConsumers()) - 1),
                                algebra.getLinearThreadId(), -1, nullptr));
  return region == &warps.getConsumer() ? consumes : consumes.negate();
}

/// What holds besides when control enters `block`, the first one of a region of
/// an operation.
SymbolicCondition Guards::getEntryCondition(Block *block) {
  Region *region = block->getParent();
  Operation *parent = region->getParentOp();
  if (auto branch = dyn_cast<scf::IfOp>(parent)) {
    Condition condition = values.getCondition(branch.getCondition());
    return region == &branch.getThenRegion() ? condition : condition.negate();
  }
  if (auto branch = dyn_cast<affine::AffineIfOp>(parent)) {
    Condition condition = affine.getSet(branch);
    return region == &branch.getThenRegion() ? condition : condition.negate();
  }
  if (auto branch = dyn_cast<scf::IndexSwitchOp>(parent))
    return conditions.getCase(branch, region);
  if (auto warps = dyn_cast<SpecializeOp>(parent))
    return getMembers(algebra, warps, region);
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    Condition reached =
        loopForms.getReached(algebra.getLoops().getLoopOf(parent));
    if (region == &loop.getBefore())
      return reached;
    Condition test = values.getCondition(loop.getConditionOp().getCondition());
    return Condition::join(Condition::All, {reached, test});
  }
  if (const KernelLoop *loop = algebra.getLoops().getLoopOf(parent))
    return loopForms.getBounds(loop);
  return {};
}

/// When `from` goes to `block`, one of its successors.
SymbolicCondition Guards::getEdgeCondition(Block *from, Block *block) {
  if (llvm::all_equal(from->getSuccessors()))
    return {};
  if (auto branch = dyn_cast<cf::CondBranchOp>(from->getTerminator())) {
    Condition condition = values.getCondition(branch.getCondition());
    return branch.getTrueDest() == block ? condition : condition.negate();
  }
  if (auto choice = dyn_cast<cf::SwitchOp>(from->getTerminator()))
    return conditions.getCase(choice, block);
  return algebra.getUnknown();
}

/// When control that gets to `dominator` goes on to `block`, the edges back to
/// which do not count. Nothing is left out: conflicts found where this holds
/// are reported as certain.
SymbolicCondition Guards::getEdgesCondition(Block *block, Block *dominator) {
  constexpr size_t kMaxEdges = 4;
  constexpr unsigned kMaxDepth = 8;
  if (block->getUniquePredecessor() == dominator)
    return getEdgeCondition(dominator, block);
  if (postDominance.postDominates(block, dominator))
    return {};
  std::vector<Condition> paths;
  for (Block *from : llvm::SmallSetVector<Block *, 4>(block->pred_begin(),
                                                      block->pred_end())) {
    if (dominance.dominates(block, from) ||
        !dominance.isReachableFromEntry(from))
      continue;
    if (paths.size() == kMaxEdges || values.getDepth() == kMaxDepth)
      return algebra.getUnknown();
    Condition edge = getEdgeCondition(from, block);
    if (from != dominator) {
      ++values.getDepth();
      edge = Condition::join(Condition::All, {getGuard(from), edge});
      --values.getDepth();
    }
    paths.push_back(std::move(edge));
  }
  return Condition::join(Condition::Any, std::move(paths));
}

SymbolicCondition Guards::computeGuard(Block *block) {
  if (block->isEntryBlock()) {
    Operation *parent = block->getParentOp();
    if (parent == algebra.getScope())
      return {};
    Condition around = getGuard(parent->getBlock());
    // What stands behind the test of a loop does so in the same iteration.
    return Condition::join(Condition::All, {around, getEntryCondition(block)});
  }
  auto *node = dominance.getNode(block);
  if (!node || !node->getIDom())
    return {};
  Block *dominator = node->getIDom()->getBlock();
  std::vector<Condition> parts = {getGuard(dominator),
                                  getEdgesCondition(block, dominator)};
  if (const KernelLoop *loop = algebra.getLoops().getLoopAt(block))
    parts.push_back(loopForms.getReached(loop));
  return Condition::join(Condition::All, std::move(parts));
}

SymbolicCondition Guards::getGuard(Block *block) {
  auto it = guards.find(block);
  if (it == guards.end())
    it = guards.try_emplace(block, computeGuard(block)).first;
  return it->second;
}

std::optional<SymbolicCondition>
Guards::getGuardInFirstIterations(Operation *op) {
  std::optional<SymbolicCondition> guard = getGuard(op->getBlock());
  for (const KernelLoop *loop = algebra.getLoops().getLoop(op); loop && guard;
       loop = loop->parent)
    guard = substitute(algebra, *guard, loop, Form(0));
  return guard;
}

/// True if `condition` holds only where `form` is not negative.
static bool impliesNonNegative(const SymbolicCondition &condition,
                               const SymbolicForm &form) {
  auto isImplied = [&](const SymbolicCondition &part) {
    return impliesNonNegative(part, form);
  };
  switch (condition.kind) {
  case Condition::False:
    return true;
  case Condition::NonNegative: {
    // A multiple of what is not negative is not, either.
    int64_t times = 1;
    for (auto [atom, factor] : condition.form.terms)
      times = std::max(times, form.getFactor(atom) / factor);
    std::optional<Form> rest = form.plus(condition.form, -times);
    return rest && isNonNegative(*rest);
  }
  case Condition::All:
    return llvm::any_of(condition.parts, isImplied);
  case Condition::Any:
    return llvm::all_of(condition.parts, isImplied);
  default:
    return false;
  }
}

bool Guards::implyNonNegative(Block *block, const SymbolicForm &form) {
  // A guard may be made of what stands in the block.
  if (!askedGuards.insert(block).second)
    return false;
  bool isImplied = impliesNonNegative(getGuard(block), form);
  askedGuards.erase(block);
  return isImplied;
}

} // namespace mlir::workgroup
