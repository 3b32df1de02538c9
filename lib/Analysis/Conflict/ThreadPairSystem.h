//===- ThreadPairSystem.h - Two threads as integer constraints --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The atoms of two symbolic threads are variables of one system of linear
// constraints: one variable if both threads hold the same (an argument, say),
// two otherwise (ids, iterations). Quotients, remainders, minima and conditions
// are exact; products are bounded by the planes through the corners of their
// ranges. A solution is two threads that meet, unless something in the system
// was inexact.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADPAIRSYSTEM_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADPAIRSYSTEM_H

#include "Analysis/Integers/IntegerSolver.h"
#include "PairRelation.h"
#include "ThreadTables.h"

namespace mlir::workgroup {

/// Linear constraints on what two threads hold. An atom is one variable if both
/// hold the same, else one for each of them.
class ThreadPairSystem {
public:
  /// The first and the second thread.
  enum Side { First, Second };

  /// The largest system of a query: systems get slow with many variables.
  static constexpr unsigned kMaxVariables = 128;

  using Row = LinearRow;
  using Constraint = LinearConstraint;

  ThreadPairSystem(SymbolicIndex &index, const PairRelation &relation);

  /// The value of `form` on `side`.
  Row get(const SymbolicForm &form, Side side);
  /// True if there are so many numbers that it is not worth solving.
  bool isTooLarge() const { return ranges.size() > kMaxVariables; }
  /// A new variable.
  Row makeVariable(Interval range);

  void addNonNegative(const Row &row) { base.push_back({row, false}); }
  void addZero(const Row &row) { base.push_back({row, true}); }
  void add(const SymbolicCondition &condition, Side side);
  /// One of `cases`, each a number of rows that are not negative.
  void addCases(std::vector<std::vector<Row>> cases);

  /// Says that the threads are those that the relation tells, not necessarily
  /// different ones if `mayBeSame`; nothing is said if `isAnybody`.
  void addThreads(bool mayBeSame, bool isAnybody);
  /// Says which iterations the relation asks for.
  void addIterations();
  /// Says that the threads are those of the given ids: their arithmetic becomes
  /// numbers. Before anything else.
  void fix(Side side, std::array<int64_t, 3> ids, ThreadTables &tables);

  using Answer = IntegerSolver::Answer;
  /// Solves it in integers; or in rationals only, which takes a small part of
  /// the time, and then there is nothing to evaluate.
  Answer solve(bool isRational = false);
  /// Finds a solution in which no number that the kernel is given is below
  /// zero; false if there is none: compared as unsigned it is large, but
  /// threads that get there by that, too, may leave their buffers.
  bool settleInputs();
  /// The value of `row` in the solution of a system that is solved.
  int64_t evaluate(const Row &row) const;

  /// Every solution is something that can happen.
  bool isExact() const { return exact; }
  /// Why not.
  const std::string &getInexactness() const { return inexactness; }
  /// The work so far: entries of matrices that were computed.
  uint64_t getEffort() const { return solver ? solver->getEffort() : 0; }

private:
  /// The right side is not negative.
  struct ProductOf {
    Row product, lhs, rhs;
  };
  using Conjunction = LinearConjunction;
  using Cases = LinearChoice;

  bool isShared(const SymbolicAtom &atom) const;
  Row getAtom(const SymbolicAtom *atom, Side side);
  std::optional<int64_t> getFixed(const SymbolicAtom *atom, Side side);
  void define(const SymbolicAtom *atom, Side side, const Row &variable);
  void defineIteration(const SymbolicAtom *atom, Side side,
                       const Row &variable);
  void defineTotal(const SymbolicAtom *atom, Side side, const Row &variable);
  void defineExtremum(const SymbolicAtom *atom, Side side, const Row &variable);
  void defineSelect(const SymbolicAtom *atom, Side side, const Row &variable);
  void defineProduct(const SymbolicAtom *atom, Side side, const Row &variable);
  void defineFunction(const SymbolicAtom *atom, Side side, const Row &variable);
  void defineBelow(SymbolicAtom::GridKind size, const SymbolicAtom &id,
                   Side side, const Row &variable);
  void addBlocks();
  void defineQuotient(const SymbolicAtom *atom, Side side, const Row &variable);
  void addEnvelope(const Row &product, const Row &lhs, const Interval &ofLhs,
                   const Row &rhs, const Interval &ofRhs);
  void setInexact(const Twine &reason);
  std::optional<Cases> expand(const SymbolicCondition &condition, Side side);
  void addChoice(std::optional<Cases> cases);
  void relateProducts();
  void relateToMultiples(const ProductOf &product);
  void relateMixtures();

  SymbolicIndex &index;
  const PairRelation &relation;
  SmallVector<Interval> ranges;
  std::map<std::pair<const SymbolicAtom *, int>, Row> atoms;
  Conjunction base;
  std::vector<Cases> choices;
  SmallVector<ProductOf, 0> products;
  /// Constraints that hold for products in the ranges of their factors.
  Conjunction envelopes;
  /// Exclusive ors of the two threads.
  struct MixtureOf {
    Row result, key, number;
  };
  SmallVector<MixtureOf, 0> mixtures[2];
  /// The numbers that the kernel is given.
  SmallVector<Row, 0> inputs;
  std::optional<std::array<int64_t, 3>> fixed[2];
  ThreadTables *tables = nullptr;
  std::optional<IntegerSolver> solver;
  bool exact = true;
  std::string inexactness;
};

inline ThreadPairSystem::Row makeConstant(int64_t constant) {
  ThreadPairSystem::Row row;
  row.constant = constant;
  return row;
}

/// lhs - rhs + constant
inline ThreadPairSystem::Row subtract(const ThreadPairSystem::Row &lhs,
                                      const ThreadPairSystem::Row &rhs,
                                      int64_t constant = 0) {
  ThreadPairSystem::Row row = lhs;
  row.add(rhs, -1);
  row.constant += constant;
  return row;
}

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADPAIRSYSTEM_H
