//===- BranchRelevance.cpp - What decides about a branch ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BranchRelevance.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

void AtomClosure::add(SymbolicIndex &index, const SymbolicAtom &atom) {
  if (atom.number < atoms.size() && atoms.test(atom.number))
    return;
  if (atom.number >= atoms.size())
    atoms.resize(atom.number + 1);
  atoms.set(atom.number);
  isAnyDivergent |= atom.isDivergent;
  isAnyDivergentInGrid |= atom.isDivergentInGrid;
  isAnySize |= atom.kind == SymbolicAtom::GridValue &&
               atom.what != SymbolicAtom::BlockId;
  for (const SymbolicForm &operand : atom.operands)
    add(index, operand);
  add(index, atom.condition);
  if (atom.loop)
    add(index, atom.loop);
}

void AtomClosure::add(SymbolicIndex &index, const SymbolicForm &form) {
  for (auto [atom, _] : form.terms)
    add(index, *atom);
}

void AtomClosure::add(SymbolicIndex &index,
                      const SymbolicCondition &condition) {
  add(index, condition.form);
  for (const SymbolicCondition &part : condition.parts)
    add(index, part);
}

void AtomClosure::add(SymbolicIndex &index, const KernelLoop *loop) {
  add(index, index.getLoopForms().getIteration(loop));
  add(index, index.getLoopForms().getBounds(loop));
}

void AtomClosure::add(const AtomClosure &other) {
  atoms |= other.atoms;
  isAnyDivergent |= other.isAnyDivergent;
  isAnyDivergentInGrid |= other.isAnyDivergentInGrid;
  isAnySize |= other.isAnySize;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

const AtomClosure &
BranchRelevance::getDecision(const PairRelation::BranchRegion &region) {
  auto [it, isNew] = decisions.try_emplace(
      Key(region.branch, region.number, region.loop, region.later));
  SymbolicIndex &index = conflicts.getIndex();
  if (!isNew)
    return it->second;
  if (auto condition = index.getConditions().getDecision(
          region.branch, region.number, region.loop, region.later))
    it->second.add(index, *condition);
  return it->second;
}

const AtomClosure &BranchRelevance::getFootprint(unsigned access) {
  auto [it, isNew] =
      footprints.try_emplace(conflicts.getFootprintNumbers(access).first);
  if (!isNew)
    return it->second;
  SymbolicIndex &index = conflicts.getIndex();
  const SymbolicFootprint &footprint = conflicts.getFootprint(access);
  for (const SymbolicForm &coordinate : footprint.coordinates)
    it->second.add(index, coordinate);
  for (const SymbolicFootprint::Extent &extent : footprint.box)
    it->second.add(index, extent.count);
  it->second.add(index, footprint.condition);
  return it->second;
}

const AtomClosure &BranchRelevance::getBounds(const KernelLoop *loop) {
  auto [it, isNew] = bounds.try_emplace(loop);
  if (isNew)
    it->second.add(conflicts.getIndex(), loop);
  return it->second;
}

BranchRelevance::Question BranchRelevance::getQuestion(const Hazard &hazard) {
  const PairRelation &relation = hazard.relation;
  Question question;
  question.relation = &relation;
  question.number = relations.get(relation);
  for (unsigned access : {hazard.first, hazard.second})
    question.atoms.add(getFootprint(access));
  for (const KernelLoop *loop : relation.sameIteration)
    question.atoms.add(getBounds(loop));
  if (relation.carrier)
    question.atoms.add(getBounds(relation.carrier));
  for (const LoopEnd &end : relation.ends) {
    if (auto condition = conflicts.getIndex().getLoopForms().getCondition(end))
      question.atoms.add(conflicts.getIndex(), *condition);
    for (const KernelLoop *loop : {end.loop, end.other})
      if (loop)
        question.atoms.add(getBounds(loop));
  }
  for (const PairRelation::Iterations &iterations : relation.iterations)
    for (const KernelLoop *loop : {iterations.loop, iterations.first})
      if (loop)
        question.atoms.add(getBounds(loop));
  for (const PairRelation::BranchRegion &region : relation.avoided)
    question.atoms.add(getDecision(region));
  return question;
}

bool BranchRelevance::isIndependent(const Question &question,
                                    const PairRelation::BranchRegion &region) {
  const AtomClosure &decision = getDecision(region);
  const PairRelation &relation = *question.relation;
  if (decision.isOfThreads(relation.threads == PairRelation::OfTwoBlocks) ||
      decision.hasCommon(question.atoms))
    return false;
  auto [it, isNew] = avoidable.try_emplace({question.number, region}, false);
  if (isNew) {
    PairRelation avoiding = relation;
    avoiding.avoided.push_back(region);
    it->second = conflicts.mayBe(avoiding);
  }
  return it->second;
}

} // namespace mlir::workgroup
