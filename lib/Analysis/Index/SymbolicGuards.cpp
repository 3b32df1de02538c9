//===- SymbolicGuards.cpp - What holds where control gets to --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolicTranslator.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/Matchers.h"

namespace mlir::workgroup {

using Condition = SymbolicCondition;
using Form = SymbolicForm;

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

std::optional<SymbolicCondition> isBelowUnsigned(const SymbolicForm &lhs,
                                                 bool isLhsPlain,
                                                 const SymbolicForm &rhs,
                                                 bool isRhsPlain) {
  std::optional<Form> difference = rhs.plus(lhs, -1);
  std::optional<Form> distance =
      difference ? difference->plus(Form(-1)) : std::nullopt;
  if (!distance || !(isLhsPlain || isRhsPlain))
    return std::nullopt;
  Condition less = Condition::of(Condition::NonNegative, *distance);
  if (!isLhsPlain)
    return Condition::join(Condition::All,
                           {less, Condition::of(Condition::NonNegative, lhs)});
  if (!isRhsPlain)
    return Condition::join(
        Condition::Any,
        {less, Condition::of(Condition::NonNegative, rhs).negate()});
  return less;
}

/// When the `arith.cmpi` `op` holds; nothing if that is not known.
std::optional<SymbolicCondition> SymbolicIndex::compare(Operation *op) {
  auto compare = cast<arith::CmpIOp>(op);
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  if (!compare.getLhs().getType().isIntOrIndex() ||
      compare.getLhs().getType().isInteger(1))
    return std::nullopt;
  Form lhs = getForm(compare.getLhs()), rhs = getForm(compare.getRhs());
  // Only `<` is left of the orders.
  bool isSwapped = predicate == P::sgt || predicate == P::ugt ||
                   predicate == P::sle || predicate == P::ule;
  bool isNegated = predicate == P::sge || predicate == P::uge ||
                   predicate == P::sle || predicate == P::ule ||
                   predicate == P::ne;
  if (isSwapped)
    std::swap(lhs, rhs);
  bool isUnsigned = predicate == P::ult || predicate == P::ule ||
                    predicate == P::ugt || predicate == P::uge;
  auto isPlain = [&](const Form &form) {
    Interval range = getRange(form);
    return !isUnsigned || (range.min && *range.min >= 0);
  };
  Condition result;
  if (predicate == P::eq || predicate == P::ne) {
    std::optional<Form> difference = lhs.plus(rhs, -1);
    if (!difference)
      return std::nullopt;
    result = Condition::of(Condition::Zero, *difference);
  } else {
    std::optional<Condition> below =
        isBelowUnsigned(lhs, isPlain(lhs), rhs, isPlain(rhs));
    if (!below)
      return std::nullopt;
    result = *below;
  }
  // The same for all, as far as ranges tell.
  Interval range = getRange(result.form);
  if (result.kind == Condition::NonNegative && range.min && *range.min >= 0)
    result = Condition();
  else if (result.kind == Condition::NonNegative && range.max && *range.max < 0)
    result.kind = Condition::False;
  return isNegated ? result.negate() : result;
}

SymbolicCondition SymbolicIndex::getCondition(Value value) {
  Operation *op = value.getDefiningOp();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    Condition result;
    result.kind = constant.isZero() ? Condition::False : Condition::True;
    return result;
  }
  if (isa_and_nonnull<arith::CmpIOp>(op))
    if (std::optional<Condition> result = compare(op))
      return *result;
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op) && depth < 64) {
    ++depth;
    Condition lhs = getCondition(op->getOperand(0));
    Condition rhs = getCondition(op->getOperand(1));
    --depth;
    return Condition::join(
        isa<arith::AndIOp>(op) ? Condition::All : Condition::Any, {lhs, rhs});
  }
  if (isa_and_nonnull<arith::XOrIOp>(op) &&
      matchPattern(op->getOperand(1), m_One()) && depth < 64) {
    ++depth;
    Condition negated = getCondition(op->getOperand(0)).negate();
    --depth;
    return negated;
  }
  return isOne(makeOpaque(value));
}

/// When `form`, one or zero, is one.
SymbolicCondition SymbolicIndex::isOne(SymbolicForm form) {
  form.constant -= 1;
  return Condition::of(Condition::NonNegative, form);
}

SymbolicCondition SymbolicIndex::getUnknown() {
  SymbolicAtom atom;
  atom.isDivergent = atom.isDivergentInWarp = atom.isDivergentInGrid = true;
  atom.isUnsteady = true;
  atom.isInput = false;
  atom.range = {0, 1};
  atom.dim = atoms.size();
  return isOne(ofAtom(std::move(atom)));
}

//===----------------------------------------------------------------------===//
// Regions and blocks
//===----------------------------------------------------------------------===//

/// When `region` of the switch `op` is taken.
static Condition getCase(SymbolicIndex &index, scf::IndexSwitchOp op,
                         Region *region) {
  Form argument = index.getForm(op.getArg());
  auto isCase = [&](int64_t number) {
    std::optional<Form> difference = argument.plus(Form(number), -1);
    return difference ? Condition::of(Condition::Zero, *difference)
                      : index.getUnknown();
  };
  if (region != &op.getDefaultRegion())
    return isCase(op.getCases()[region->getRegionNumber() - 1]);
  std::vector<Condition> others;
  for (int64_t number : op.getCases())
    others.push_back(isCase(number).negate());
  return Condition::join(Condition::All, std::move(others));
}

SymbolicCondition SymbolicIndex::getSet(Operation *branch) {
  auto op = cast<affine::AffineIfOp>(branch);
  IntegerSet set = op.getIntegerSet();
  std::vector<Condition> parts;
  for (auto [expr, isEquality] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    auto map = AffineMap::get(set.getNumDims(), set.getNumSymbols(), expr);
    parts.push_back(
        Condition::of(isEquality ? Condition::Zero : Condition::NonNegative,
                      getForm(map, op.getOperands())));
  }
  return Condition::join(Condition::All, std::move(parts));
}

SmallVector<SymbolicForm> SymbolicIndex::getDecisive(Operation *op) {
  if (auto counted = dyn_cast<scf::ForOp>(op);
      counted && counted.getUnsignedCmp())
    return {getForm(counted.getLowerBound()), getForm(counted.getUpperBound()),
            getForm(counted.getStep())};
  const KernelLoop *loop = loops.getLoopOf(op);
  std::optional<Span> span = loop ? getSpan(loop) : std::nullopt;
  if (!span)
    return {makeOpaque(nullptr)};
  return {span->length, span->step};
}

/// What holds besides when control enters `block`, the first one of a region of
/// an operation.
SymbolicCondition SymbolicIndex::getEntryCondition(Block *block) {
  Region *region = block->getParent();
  Operation *parent = region->getParentOp();
  if (auto branch = dyn_cast<scf::IfOp>(parent)) {
    Condition condition = getCondition(branch.getCondition());
    return region == &branch.getThenRegion() ? condition : condition.negate();
  }
  if (auto branch = dyn_cast<affine::AffineIfOp>(parent)) {
    Condition condition = getSet(branch);
    return region == &branch.getThenRegion() ? condition : condition.negate();
  }
  if (auto branch = dyn_cast<scf::IndexSwitchOp>(parent))
    return getCase(*this, branch, region);
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    Condition reached = getReached(loops.getLoopOf(parent));
    if (region == &loop.getBefore())
      return reached;
    Condition test = getCondition(loop.getConditionOp().getCondition());
    return Condition::join(Condition::All, {reached, test});
  }
  if (const KernelLoop *loop = loops.getLoopOf(parent))
    return getBounds(loop);
  return {};
}

/// When `flag` is `number`.
static Condition isValue(SymbolicIndex &index, Value flag,
                         const APInt &number) {
  if (number.getBitWidth() == 1) {
    Condition isTrue = index.getCondition(flag);
    return number.isZero() ? isTrue.negate() : isTrue;
  }
  std::optional<Form> difference =
      number.isSignedIntN(64)
          ? index.getForm(flag).plus(Form(number.getSExtValue()), -1)
          : std::nullopt;
  return difference ? Condition::of(Condition::Zero, *difference)
                    : index.getUnknown();
}

/// When the switch between blocks `op` goes to `block`.
static Condition getCase(SymbolicIndex &index, cf::SwitchOp op, Block *block) {
  std::vector<Condition> isOther, isHere;
  std::optional<DenseIntElementsAttr> values = op.getCaseValues();
  for (auto [number, successor] : llvm::enumerate(op.getCaseDestinations())) {
    Condition isCase =
        isValue(index, op.getFlag(), values->getValues<APInt>()[number]);
    isOther.push_back(isCase.negate());
    if (successor == block)
      isHere.push_back(std::move(isCase));
  }
  if (op.getDefaultDestination() == block)
    isHere.push_back(Condition::join(Condition::All, std::move(isOther)));
  return Condition::join(Condition::Any, std::move(isHere));
}

/// When `from` goes to `block`, one of its successors.
SymbolicCondition SymbolicIndex::getEdgeCondition(Block *from, Block *block) {
  if (llvm::all_equal(from->getSuccessors()))
    return {};
  if (auto branch = dyn_cast<cf::CondBranchOp>(from->getTerminator())) {
    Condition condition = getCondition(branch.getCondition());
    return branch.getTrueDest() == block ? condition : condition.negate();
  }
  if (auto choice = dyn_cast<cf::SwitchOp>(from->getTerminator()))
    return getCase(*this, choice, block);
  return getUnknown();
}

/// When control that gets to `dominator` goes on to `block`, the edges back to
/// which do not count. Nothing is left out: conflicts found where this holds
/// are reported as certain.
SymbolicCondition SymbolicIndex::getEdgesCondition(Block *block,
                                                   Block *dominator) {
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
    if (paths.size() == kMaxEdges || depth == kMaxDepth)
      return getUnknown();
    Condition edge = getEdgeCondition(from, block);
    if (from != dominator) {
      ++depth;
      edge = Condition::join(Condition::All, {getGuard(from), edge});
      --depth;
    }
    paths.push_back(std::move(edge));
  }
  return Condition::join(Condition::Any, std::move(paths));
}

std::optional<SymbolicCondition> SymbolicIndex::getDecision(Operation *branch,
                                                            unsigned region) {
  if (isa<affine::AffineIfOp>(branch)) {
    Condition condition = getSet(branch);
    return region == 0 ? condition : condition.negate();
  }
  if (auto choice = dyn_cast<scf::IndexSwitchOp>(branch))
    return getCase(*this, choice, &choice->getRegion(region));
  Value test;
  if (auto structured = dyn_cast<scf::IfOp>(branch))
    test = structured.getCondition();
  else if (auto jump = dyn_cast<cf::CondBranchOp>(branch);
           jump && jump.getTrueDest() != jump.getFalseDest())
    test = jump.getCondition();
  if (!test)
    return std::nullopt;
  SymbolicCondition condition = getCondition(test);
  return region == 0 ? condition : condition.negate();
}

SymbolicCondition SymbolicIndex::computeGuard(Block *block) {
  if (block->isEntryBlock()) {
    Operation *parent = block->getParentOp();
    if (parent == scope)
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
  if (const KernelLoop *loop = loops.getLoopAt(block))
    parts.push_back(getReached(loop));
  return Condition::join(Condition::All, std::move(parts));
}

SymbolicCondition SymbolicIndex::getGuard(Block *block) {
  auto it = guards.find(block);
  if (it == guards.end())
    it = guards.try_emplace(block, computeGuard(block)).first;
  return it->second;
}

/// True if `condition` holds only where `form` is not negative.
static bool impliesNonNegative(SymbolicIndex &index,
                               const SymbolicCondition &condition,
                               const SymbolicForm &form) {
  auto isImplied = [&](const SymbolicCondition &part) {
    return impliesNonNegative(index, part, form);
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
    Interval range = rest ? index.getRange(*rest) : Interval();
    return range.min && *range.min >= 0;
  }
  case Condition::All:
    return llvm::any_of(condition.parts, isImplied);
  case Condition::Any:
    return llvm::all_of(condition.parts, isImplied);
  default:
    return false;
  }
}

bool SymbolicIndex::isNonNegativeAt(const SymbolicForm &form, Operation *op) {
  Interval range = getRange(form);
  if (range.min && *range.min >= 0)
    return true;
  // A guard may be made of what `op` makes; and while it is found out what a
  // loop carries, none is to be remembered.
  Block *block = op->getBlock();
  if (!tentative.empty() || !askedGuards.insert(block).second)
    return false;
  bool isImplied = impliesNonNegative(*this, getGuard(block), form);
  askedGuards.erase(block);
  return isImplied;
}

} // namespace mlir::workgroup
