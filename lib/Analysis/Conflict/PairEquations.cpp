//===- PairEquations.cpp - What threads that meet have in common ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rounds: equations are brought into normal form and taken apart, and what is
// learned of one simplifies others in the next round. Most questions are
// settled in one or two.
//
//===----------------------------------------------------------------------===//

#include "PairEquations.h"

namespace mlir::workgroup {

static constexpr unsigned kMaxEquations = 32;

/// True if what is equal may not be.
bool PairEquations::isExcluded() {
  const BlockShape &shape = system.index.getShape();
  if (system.relation.threads == PairRelation::OfTwoBlocks) {
    bool isSameBlock = true;
    for (unsigned dim = 0; dim < 3; ++dim)
      isSameBlock &= system.index.getGrid()[dim] == 1 ||
                     system.isEqual(system.index.getBlockId(dim));
    return isSameBlock;
  }
  if (system.relation.carrier && system.relation.least > 0 &&
      system.isEqual(
          system.index.getLoopForms().getIteration(system.relation.carrier)))
    return true;
  if (!isOfOther)
    return false;
  bool isSame = true;
  for (unsigned dim = 0; dim < 3; ++dim)
    isSame &=
        shape.sizes[dim] == 1 || system.isEqual(system.index.getThreadId(dim));
  return isSame;
}

/// Simplifies an equation, and takes it apart; true if that changed anything.
bool PairEquations::learnFrom(size_t number) {
  auto get = [&]() -> EquationSystem::Equation & {
    return system.equations[number];
  };
  bool hasChanged = system.simplify(get());
  system.isImpossible |= system.hasNoSolution(get());
  hasChanged |= system.learn(get());
  while (!system.isImpossible && system.equations.size() < kMaxEquations &&
         llvm::any_of(rules,
                      [&](EquationRule *rule) { return rule->split(get()); }))
    hasChanged = true;
  return hasChanged;
}

/// Learns from all equations; true if that changed anything.
bool PairEquations::learn() {
  bool hasChanged = false;
  system.removeRedundant();
  size_t numEqual = system.equal.size();
  size_t numEquations = system.equations.size();
  system.lookAgain();
  for (GuardedRanges &ofSide : system.bounds)
    ofSide.propagate(); // to what is in new equations
  for (size_t i = 0; i < system.equations.size() && i < kMaxEquations; ++i)
    hasChanged |= learnFrom(i);
  for (EquationRule *rule : rules)
    rule->learn();
  hasChanged |= system.equal.size() != numEqual ||
                system.equations.size() != numEquations;
  system.lookAgain();
  return hasChanged;
}

bool PairEquations::isContradiction() {
  if (system.equations.empty())
    return false;
  for (GuardedRanges &ofSide : system.bounds) {
    ofSide.combine();
    ofSide.propagate();
  }
  // Bounds tell more remainders.
  for (EquationSystem::Equation &equation : system.equations)
    system.nameRemainders(equation);
  constexpr unsigned kMaxRounds = 8;
  for (unsigned round = 0; round < kMaxRounds; ++round) {
    bool hasChanged = learn();
    if (system.isImpossible || isExcluded())
      return true;
    if (!hasChanged)
      break;
  }
  return system.isImpossible || isExcluded() ||
         llvm::any_of(system.equations, [&](const auto &equation) {
           return llvm::any_of(rules, [&](EquationRule *rule) {
             return rule->isRuledOut(equation);
           });
         });
}

} // namespace mlir::workgroup
