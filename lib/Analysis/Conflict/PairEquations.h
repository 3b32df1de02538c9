//===- PairEquations.h - What threads that meet have in common --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two threads touch the same place only if its coordinates are the same for
// both. Mostly these are numbers of several mixed-radix components, as tiles of
// tiles make them, and then each component is the same:
//
//   128 * block + row = 128 * block' + row', 0 <= row, row' < 128
//     -> block = block', row = row'
//
// What equal numbers are made into is equal: so products by an unknown number
// of columns cancel, and remainders with equal quotients tell
//
//   n / c = n' / c, n - c * (n / c) = n' - c * (n' / c)  ->  n = n'
//
// If threads that are the same in all of this would have to be of one block, or
// be one thread, or in one iteration, although they are not, they do not meet.
// All that takes a small part of the time of integer programming, which cannot
// do products at all; it finds no threads that do meet.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_PAIREQUATIONS_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_PAIREQUATIONS_H

#include "Analysis/Index/GuardedRanges.h"
#include "ThreadTables.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::workgroup {

class PairEquations {
public:
  using Form = SymbolicForm;
  using IsPair = llvm::function_ref<bool(unsigned, unsigned)>;

  /// `tables` may be null. `isPair` says of which threads of the block, by
  /// their linear ids, the pair may be, if it `isOfOther` threads.
  PairEquations(SymbolicIndex &index, ThreadTables *tables,
                const PairRelation &relation, IsPair isPair, bool isOfOther);

  /// Says what holds of the first thread and of the second one.
  void addConditions(const SymbolicCondition &first,
                     const SymbolicCondition &second);
  /// Says that first - second is from `low` to `high`.
  void add(const Form &first, const Form &second, int64_t low, int64_t high);
  /// Places from `first` on: up to `count` - 1 steps of each kind further,
  /// which is below `most`.
  struct Place {
    struct Step {
      Form count;
      int64_t stride, most;
    };
    Form first;
    SmallVector<Step, 2> steps;
  };
  /// Says that one of the places is the same. Sums of rows and columns that
  /// stay below the length of a row are equal if both are.
  void add(const Place &first, const Place &second);

  /// True if that cannot be.
  bool isContradiction();

private:
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
  using Table = ThreadTables::Table;
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
  /// A form that is from 0 to `most`.
  struct Remainder {
    Form form;
    int64_t most;
    bool isEqual = false;
  };
  struct Split;
  struct Sides;
  /// A constant, or that times an atom which both threads have the same of.
  using Base = std::pair<const SymbolicAtom *, int64_t>;
  /// What a base times `upper` and `lower` is the sum of.
  struct Components {
    Form upper, lower;
    bool isKnown = true;
  };

  bool isShared(const SymbolicAtom &atom) const;
  bool isEqual(const SymbolicAtom *atom);
  bool isEqual(const Form &form);
  bool isEqual(const SymbolicCondition &condition);
  bool isOfTables(const Variable &variable) const;
  Interval getRange(const Variable &variable) const;
  Equation makeEquation(const Form &first, const Form &second);
  bool addTables(Equation &equation, ArrayRef<Term> terms) const;
  Interval getTableRange(const Equation &equation) const;
  std::optional<std::array<int64_t, 2>>
  getTotalRange(ArrayRef<Term> terms, const Equation &tables) const;
  bool takeConstant(Equation &equation, const Term &term);
  bool simplify(Equation &equation);
  void removeRedundant();
  bool hasNoSolution(const Equation &equation) const;
  bool name(Equation &equation);
  bool name(Equation &equation, const Form &form, int64_t most);
  void nameRemainders(Equation &equation);
  bool learn(const Equation &equation);
  bool hasEqualRest(const SymbolicAtom *atom) const;
  bool hasSaidRest(const SymbolicAtom *atom) const;
  bool isOfEqualQuotient(const SymbolicAtom *atom);
  void learnOperands();
  void learnMixtures();
  std::optional<Sides> getSides(const Equation &equation) const;
  bool isRuledOut(const Equation &equation) const;
  void learnMixtures(const Sides &sides);
  void learnMixture(const SymbolicAtom *first, const SymbolicAtom *second);
  void learnMixtureOfSum(const SymbolicAtom *mixture, const Form &sum,
                         int64_t slack, unsigned side);
  void addUpper(const Form &first, const Form &second, int64_t above);
  bool split(Equation &equation);
  bool split(Equation &equation, int64_t base);
  bool finish(Equation &equation, Split &parts, int64_t base);
  SmallVector<Base> findBases(const Form &form);
  Components divide(const Form &form, const Base &base) const;
  std::optional<std::array<Place, 2>>
  findRow(const Place &place, const Base &base, unsigned side) const;
  std::optional<int64_t> getLeast(const Form &form, unsigned side) const;
  bool isNonNegative(const Form &form, unsigned side, unsigned depth = 2) const;
  bool isBelow(const Form &form, const Form &reach, const Base &base,
               unsigned side) const;
  bool splitByProduct(Equation &equation);
  bool lookAtThreads();
  bool isExcluded();

  SymbolicIndex &index;
  ThreadTables *tables;
  const PairRelation &relation;
  IsPair isPair;
  bool isOfOther;
  GuardedRanges bounds[2];
  std::vector<bool> mayBe[2];
  std::vector<Equation> equations;
  SmallVector<Remainder, 0> remainders;
  /// What is known to be the same for both, in the order in which that was
  /// found.
  llvm::SetVector<const SymbolicAtom *> equal;
  /// Of which the operands are in equations.
  DenseSet<const SymbolicAtom *> opened;
  /// Of two threads: of which the upper bits are, and of which the operands
  /// are.
  DenseSet<std::pair<const SymbolicAtom *, const SymbolicAtom *>> openedAbove,
      openedPairs;
  /// Looked at in this round.
  DenseMap<const SymbolicAtom *, bool> looked;
  bool isSameThread = false, isImpossible = false;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_PAIREQUATIONS_H
