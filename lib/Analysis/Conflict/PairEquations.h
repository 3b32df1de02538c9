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

#include "ConflictMeans.h"
#include "ExclusiveOrs.h"
#include "MixedRadix.h"
#include "OperandEquality.h"
#include "ProductRows.h"
#include "StridedIds.h"

namespace mlir::workgroup {

/// The equations of two threads, and the rules that learn from them.
class PairEquations {
public:
  using Place = ProductRows::Place;

  /// `isOfOther`: the two are not one thread.
  PairEquations(const ConflictMeans &means, const PairRelation &relation,
                bool isOfOther)
      : system(means.index, means.tables, relation), isOfOther(isOfOther),
        mixedRadix(system), rows(system, means.bounds), operands(system),
        exclusiveOrs(system), stridedIds(system),
        rules{&mixedRadix, &stridedIds, &operands, &exclusiveOrs} {}

  /// Says what holds of the first thread and of the second one.
  void addConditions(const SymbolicCondition &first,
                     const SymbolicCondition &second) {
    system.addConditions(first, second);
  }
  /// Says that one of the places is the same.
  void add(const Place &first, const Place &second) { rows.add(first, second); }

  /// True if that cannot be.
  bool isContradiction();

private:
  bool learn();
  bool learnFrom(size_t number);
  bool isExcluded();

  EquationSystem system;
  bool isOfOther;
  MixedRadix mixedRadix;
  ProductRows rows;
  OperandEquality operands;
  ExclusiveOrs exclusiveOrs;
  StridedIds stridedIds;
  /// All of them, in the order in which they are applied.
  std::array<EquationRule *, 4> rules;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_PAIREQUATIONS_H
