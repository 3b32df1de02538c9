//===- ThreadUniformity.cpp - Uniformity by arithmetic --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What follows from the thread alone is compared thread by thread; the rest has
// to be the same for all by itself.
//
//===----------------------------------------------------------------------===//

#include "ThreadUniformity.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

using Form = SymbolicForm;

/// True if `table` is the same for all threads of the block, or of each warp,
/// that may be in `present`.
template <typename Table>
static bool isConstant(const Table &table, UniformityUnit unit,
                       const std::vector<bool> &present) {
  size_t size = unit == UniformityUnit::Block ? table.size() : kWarpSize;
  std::optional<size_t> first;
  for (size_t thread = 0; thread < table.size(); ++thread) {
    if (thread % size == 0)
      first = std::nullopt;
    if (!present[thread])
      continue;
    first = first.value_or(thread);
    if (table[thread] != table[*first])
      return false;
  }
  return true;
}

std::optional<SymbolicForm>
ThreadUniformity::getOfThread(const SymbolicForm &form, const Crowd &crowd) {
  Form ofThread;
  for (auto term : form.terms) {
    const SymbolicAtom &atom = *term.first;
    // Of a loop that is left, each thread may have left in an iteration of its
    // own.
    bool isLeft = llvm::any_of(atom.loops, [&](const KernelLoop *loop) {
      return !loop->contains(crowd.around);
    });
    bool isDivergent = crowd.unit == UniformityUnit::Block
                           ? atom.isDivergent
                           : atom.isDivergentInWarp;
    // In an unsteady loop values change, but for all threads alike.
    if (atom.isOfThread && tables)
      ofThread.terms.push_back(term);
    else if (isDivergent || isLeft)
      return std::nullopt;
  }
  return ofThread;
}

bool ThreadUniformity::isUniform(const SymbolicForm &form, const Crowd &crowd) {
  std::optional<Form> ofThread = getOfThread(form, crowd);
  if (!ofThread || ofThread->isConstant())
    return ofThread.has_value();
  std::optional<ThreadTables::Table> table = tables->get(*ofThread);
  return table && isConstant(*table, crowd.unit, crowd.present);
}

/// True if `form` is negative for all or none: where all that does not follow
/// from the thread goes in steps of a number, that is decided by what is left
/// of the rest when it is rounded down to one of them.
bool ThreadUniformity::isUniformSign(const SymbolicForm &form,
                                     const Crowd &crowd) {
  std::optional<Form> ofThread = getOfThread(form, crowd);
  if (!ofThread || ofThread->isConstant())
    return ofThread.has_value();
  int64_t step = 0;
  for (auto [atom, factor] : form.terms)
    if (ofThread->getFactor(atom) == 0)
      step = std::gcd(step, factor);
  ofThread->constant = form.constant;
  std::optional<ThreadTables::Table> table = tables->get(*ofThread);
  if (!table || step == 0)
    return false;
  for (int64_t &number : *table)
    number = llvm::divideFloorSigned(number, step);
  return isConstant(*table, crowd.unit, crowd.present);
}

bool ThreadUniformity::isUniform(const SymbolicCondition &condition,
                                 const Crowd &crowd) {
  if (tables) {
    std::vector<bool> may = tables->getPossible(condition);
    std::vector<bool> mayNot = tables->getPossible(condition.negate());
    bool isDecided = true;
    for (size_t thread = 0; thread < may.size(); ++thread)
      isDecided &= !(crowd.present[thread] && may[thread] && mayNot[thread]);
    if (isDecided)
      return isConstant(may, crowd.unit, crowd.present);
  }
  bool isSame = condition.kind == SymbolicCondition::NonNegative
                    ? isUniformSign(condition.form, crowd)
                    : isUniform(condition.form, crowd);
  return isSame &&
         llvm::all_of(condition.parts, [&](const SymbolicCondition &part) {
           return isUniform(part, crowd);
         });
}

bool ThreadUniformity::takesOnePath(Operation *op, UniformityUnit unit) {
  // Numbers tell of iterations, but not in which one a loop was left.
  const UniformityAnalysis &uniformity = index.getUniformity(unit);
  auto isUniformValue = [&](Value value) {
    return uniformity.isUniform(value);
  };
  const KernelLoop *own = index.getLoops().getLoopOf(op);
  Crowd crowd{unit, own ? own : index.getLoops().getLoop(op), {}};
  if (tables)
    crowd.present = tables->getPossible(index.getGuard(op));
  auto isSame = [&](Value value) {
    return isUniform(index.getCondition(value), crowd) || isUniformValue(value);
  };
  auto isSameNumber = [&](Value value) {
    return isUniform(index.getForm(value), crowd) || isUniformValue(value);
  };
  bool isOfUniform = llvm::all_of(op->getOperands(), isUniformValue);
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](scf::IfOp branch) { return isSame(branch.getCondition()); })
      .Case([&](scf::WhileOp loop) {
        return isSame(loop.getConditionOp().getCondition());
      })
      .Case([&](cf::CondBranchOp branch) {
        return isSame(branch.getCondition());
      })
      .Case([&](scf::IndexSwitchOp branch) {
        return isSameNumber(branch.getArg());
      })
      .Case([&](cf::SwitchOp branch) { return isSameNumber(branch.getFlag()); })
      .Case([&](affine::AffineIfOp branch) {
        return isOfUniform ||
               isUniform(index.getAffineForms().getSet(branch), crowd);
      })
      .Case<scf::ForOp, affine::AffineForOp>([&](auto) {
        return llvm::all_of(
            index.getLoopForms().getDecisive(op),
            [&](const Form &form) { return isUniform(form, crowd); });
      })
      .Default([](Operation *) { return false; });
}

} // namespace mlir::workgroup
