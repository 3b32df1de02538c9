//===- FactBounds.h - What numbers are at least, by conditions --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a form is at least for a thread follows from the ranges of its atoms,
// from the numbers that threads tell, and from conditions, up to two of them
// one after the other: a search through pairs of conditions. The parts of one
// access are asked for again with each other access that it is compared with,
// and those of an unrolled loop differ by constants only, so answers are kept.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_FACTBOUNDS_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_FACTBOUNDS_H

#include "Analysis/Index/GuardedRanges.h"
#include "ThreadTables.h"
#include <map>

namespace mlir::workgroup {

/// The least numbers that forms may be, for all questions of one kernel.
///
/// An answer depends on the form, of which the constant is only added to it; on
/// the conditions and on the ranges that were found from them, of which no
/// atom's but those that are narrower than the atom's own; and on which threads
/// of the block it may be. The last three have one number together (`State`),
/// so this and the terms are the key. Tables of threads never change.
class FactBounds {
public:
  /// `tables` may be null.
  explicit FactBounds(ThreadTables *tables) : tables(tables) {}

  using State = unsigned;
  /// The number of what is known of a thread, which is one of those that `may`
  /// be it if that is not empty: the same for the same.
  State getState(const GuardedRanges &known, const std::vector<bool> &may);

  /// True if `form` is not negative for a thread of which `known`, with the
  /// number `state`, and `may` are all that is known.
  bool isNonNegative(const SymbolicForm &form, State state,
                     const GuardedRanges &known, const std::vector<bool> &may);

private:
  using Terms = SmallVector<std::pair<const SymbolicAtom *, int64_t>, 3>;
  struct Bounds {
    /// By the ranges of the atoms.
    Interval range;
    /// By all that is known.
    std::optional<int64_t> least;
  };
  struct Thread {
    const GuardedRanges &known;
    const std::vector<bool> &may;
  };

  bool isOfTables(const SymbolicAtom &atom) const;
  std::optional<int64_t> getLeastOfTables(const SymbolicForm &form,
                                          const Thread &thread) const;
  std::optional<int64_t> getLeast(const SymbolicForm &form,
                                  const Thread &thread, unsigned depth) const;

  ThreadTables *tables;
  std::map<std::vector<int64_t>, State> states;
  std::map<std::pair<State, std::vector<int64_t>>, Bounds> bounds;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_FACTBOUNDS_H
