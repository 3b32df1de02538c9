//===- GuardedRanges.h - What conditions say of single numbers --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranges of atoms where a condition holds. They may be smaller than those
// that atoms have anywhere: in a loop over the elements of a tile the number of
// an element is below that of all, so that its row is one of the tile, even if
// the number of columns is not known:
//
//   0 < c, n < r * c  ->  n / c <= r - 1
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_GUARDEDRANGES_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_GUARDEDRANGES_H

#include "SymbolicIndex.h"
#include <map>

namespace mlir::workgroup {

class GuardedRanges {
public:
  /// Says that `condition` holds: of it, only what holds in any case is used.
  void add(const SymbolicCondition &condition);
  /// Looks at the atoms of `form` and at what they are made of.
  void add(const SymbolicForm &form);
  /// Says that `atom` is in `range`; true if that was not known.
  bool limit(const SymbolicAtom *atom, const Interval &range);
  /// Adds what pairs of conditions say together, after all are added.
  void combine();
  /// Finds out what follows from what is added.
  void propagate();

  Interval get(const SymbolicAtom *atom) const;
  Interval get(const SymbolicForm &form) const;
  /// The same, with single conditions looked at, too.
  Interval getByFacts(const SymbolicForm &form) const;
  /// The forms that are not negative by the conditions.
  ArrayRef<SymbolicForm> getFacts() const { return facts; }
  /// The ranges that are narrower than those that atoms have anywhere, by the
  /// numbers of the atoms.
  const std::map<unsigned, Interval> &getNarrowed() const { return ranges; }
  /// Changes whenever a fact or a narrower range is added.
  unsigned getVersion() const { return version; }

private:
  void addFact(const SymbolicForm &given);
  void boundBelow(const SymbolicForm &form, int64_t least);
  void boundAbove(const SymbolicForm &form, int64_t most);
  void raise(const SymbolicAtom *atom, int64_t least);
  void lower(const SymbolicAtom *atom, int64_t most);
  void narrow(const SymbolicAtom *atom, const Interval &range);
  void boundQuotient(const SymbolicAtom *atom);
  void boundByProduct(const SymbolicAtom *quotient, const SymbolicForm &below);
  void derive(const SymbolicAtom *atom);

  /// Forms that are not negative.
  SmallVector<SymbolicForm, 4> facts;
  /// In the order of their numbers: after what they are made of.
  std::map<unsigned, const SymbolicAtom *> atoms;
  std::map<unsigned, Interval> ranges;
  unsigned version = 0;
  /// There is something that nothing has been found out from yet.
  bool isNew = false;
  bool hasChanged = false;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_GUARDEDRANGES_H
