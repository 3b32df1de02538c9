//===- BranchRelevance.h - What decides about a branch ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To avoid a region of a branch matters to a hazard only if the condition of
// the branch has an atom in common with the footprints or the iterations of the
// hazard, or depends on which threads there are. The closure of a form holds
// its atoms and all that these are made of. Where both closures are disjoint,
// threads that meet can avoid the region as well, and no query of two threads
// is needed.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_REFINEMENT_BRANCHRELEVANCE_H
#define WORKGROUP_LIB_ANALYSIS_REFINEMENT_BRANCHRELEVANCE_H

#include "Analysis/Conflict/ThreadConflicts.h"
#include "Hazard.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::workgroup {

/// Atoms, by number, and all that they are made of; the bounds of loops, too,
/// whose iterations are among them.
class AtomClosure {
public:
  void add(SymbolicIndex &index, const SymbolicForm &form);
  void add(SymbolicIndex &index, const SymbolicCondition &condition);
  void add(SymbolicIndex &index, const KernelLoop *loop);
  void add(const AtomClosure &other);

  bool hasCommon(const AtomClosure &other) const {
    return atoms.anyCommon(other.atoms);
  }
  /// Some of them differ between threads, or between blocks, or are what such
  /// are below: they have to do with which threads there are.
  bool isOfThreads(bool inGrid) const {
    return isAnyDivergent || isAnySize || (inGrid && isAnyDivergentInGrid);
  }

private:
  void add(SymbolicIndex &index, const SymbolicAtom &atom);

  llvm::BitVector atoms;
  bool isAnyDivergent = false, isAnyDivergentInGrid = false, isAnySize = false;
};

/// Tells which regions of branches have nothing to do with whether threads
/// meet, so that there is no need to ask whether those meet that avoid them: of
/// many branches that depend on arguments of their own, a few at most have.
/// Remembers what it knows of the branches of one kernel.
class BranchRelevance {
public:
  explicit BranchRelevance(ThreadConflicts &conflicts) : conflicts(conflicts) {}

  /// The atoms that decide whether the threads of a hazard meet.
  struct Question {
    AtomClosure atoms;
    const PairRelation *relation;
    /// The same for equal relations.
    unsigned number;
  };
  Question getQuestion(const Hazard &hazard);

  /// True if threads that may meet may avoid `region` as well: it is decided by
  /// other things, and can be avoided.
  bool isIndependent(const Question &question,
                     const PairRelation::BranchRegion &region);

private:
  using Key = std::tuple<Operation *, unsigned, const KernelLoop *, int64_t>;
  const AtomClosure &getDecision(const PairRelation::BranchRegion &region);
  const AtomClosure &getFootprint(unsigned access);
  const AtomClosure &getBounds(const KernelLoop *loop);

  ThreadConflicts &conflicts;
  std::map<Key, AtomClosure> decisions;
  DenseMap<unsigned, AtomClosure> footprints;
  DenseMap<const KernelLoop *, AtomClosure> bounds;
  RelationNumbers relations;
  /// Whether branch regions can be avoided where threads are as a relation
  /// tells.
  std::map<std::pair<unsigned, PairRelation::BranchRegion>, bool> avoidable;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_REFINEMENT_BRANCHRELEVANCE_H
