//===- EquationSystem.h - Equations of what two threads hold ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is known of two threads that meet, as equations of the atoms of their
// places: sums of terms that are in a range, mostly 0. Of `4 * n + r = 4 * n' +
// r'`, with 0 <= r, r' < 4, the terms are 4 times the difference of n, and the
// difference of r. An atom that both hold the same number of falls out of all
// equations, and a term that can only be one number goes to the other side.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_EQUATIONSYSTEM_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_EQUATIONSYSTEM_H

#include "Analysis/Index/GuardedRanges.h"
#include "PairRelation.h"
#include "ThreadTables.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::workgroup {

/// The equations, and what of the two threads is known to be equal.
class EquationSystem {
public:
  using Form = SymbolicForm;
  using Table = ThreadTables::Table;

  /// What two threads hold of one atom, as a difference or each for itself; or
  /// the difference of a remainder.
  struct Variable {
    enum Kind { Difference, First, Second, Rest } kind = Difference;
    const SymbolicAtom *atom = nullptr;
    unsigned rest = 0;

    bool operator==(const Variable &other) const {
      return kind == other.kind && atom == other.atom && rest == other.rest;
    }
  };
  using Term = std::pair<Variable, int64_t>;
  /// The sum of terms, and the difference of numbers that threads tell, is from
  /// `low` to `high`.
  struct Equation {
    SmallVector<Term, 6> terms;
    Table first, second;
    int64_t low = 0, high = 0;

    bool isZero() const { return low == 0 && high == 0; }
    bool operator==(const Equation &other) const {
      return terms == other.terms && first == other.first &&
             second == other.second && low == other.low && high == other.high;
    }
  };
  /// A form that is from 0 to `most`, if that is known.
  struct Remainder {
    Form form;
    std::optional<int64_t> most;
    bool isEqual = false;
  };

  /// `tables` may be null.
  EquationSystem(SymbolicIndex &index, ThreadTables *tables,
                 const PairRelation &relation)
      : index(index), tables(tables), relation(relation) {}

  //===--------------------------------------------------------------------===//
  // What is said
  //===--------------------------------------------------------------------===//

  /// Says what holds of the first thread and of the second one.
  void addConditions(const SymbolicCondition &first,
                     const SymbolicCondition &second);
  /// Says that first - second is from `low` to `high`.
  void add(const Form &first, const Form &second, int64_t low, int64_t high);
  /// That first - second is 0.
  Equation makeEquation(const Form &first, const Form &second);
  /// Adds the numbers that `terms`, which threads tell, are for each thread;
  /// false if they are too large.
  bool addTables(Equation &equation, ArrayRef<Term> terms) const;

  //===--------------------------------------------------------------------===//
  // What is equal
  //===--------------------------------------------------------------------===//

  bool isEqual(const SymbolicAtom *atom);
  bool isEqual(const Form &form);
  bool isEqual(const SymbolicCondition &condition);
  /// Asks again for what was not equal before.
  void lookAgain() { looked.clear(); }

  //===--------------------------------------------------------------------===//
  // Ranges
  //===--------------------------------------------------------------------===//

  /// True if the thread alone tells the variable.
  bool isOfTables(const Variable &variable) const;
  Interval getRange(const Variable &variable) const;
  /// The range of a sum of `terms` and of the tables; nothing if it has no
  /// ends.
  std::optional<std::array<int64_t, 2>>
  getTotalRange(ArrayRef<Term> terms, const Equation &ofTables) const;
  /// True if no numbers of its terms solve `equation`.
  bool hasNoSolution(const Equation &equation) const;

  //===--------------------------------------------------------------------===//
  // Normal form
  //===--------------------------------------------------------------------===//

  /// Takes remainders, x - c * (x / c), for numbers of their own.
  void nameRemainders(Equation &equation);
  /// Leaves out what is equal, and what is a constant; true if there was some.
  bool simplify(Equation &equation);
  /// Learns from an equation on one number; true if something was learned.
  bool learn(const Equation &equation);
  /// Leaves out equations that hold anyway, or that others are the same as:
  /// coordinates that are taken apart in several ways have components in
  /// common.
  void removeRedundant();

  SymbolicIndex &index;
  ThreadTables *const tables;
  const PairRelation &relation;
  /// What is known of each thread, and which ones of the block it may be.
  GuardedRanges bounds[2];
  std::vector<bool> mayBe[2];
  std::vector<Equation> equations;
  SmallVector<Remainder, 0> remainders;
  /// What is known to be the same for both, in the order in which that was
  /// found.
  llvm::SetVector<const SymbolicAtom *> equal;
  bool isImpossible = false;

private:
  bool isShared(const SymbolicAtom &atom) const;
  bool isOfEqualQuotient(const SymbolicAtom *atom);
  Interval getTableRange(const Equation &equation) const;
  SmallVector<const SymbolicAtom *, 4>
  findQuotients(const Equation &equation) const;
  SmallVector<Remainder, 2>
  getRemainders(const SymbolicAtom *quotient,
                ArrayRef<const SymbolicAtom *> quotients) const;
  bool name(Equation &equation);
  bool takeConstant(Equation &equation, const Term &term);

  /// Looked at in this round.
  DenseMap<const SymbolicAtom *, bool> looked;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_EQUATIONSYSTEM_H
