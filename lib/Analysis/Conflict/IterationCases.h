//===- IterationCases.h - Iterations one by one -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is not linear in the iteration of a loop, such as the stride `1 << i` of
// a tree reduction, is a number in a given one. Of a loop that has a few
// iterations, known by number, each pair of iterations is a question of its
// own.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_ITERATIONCASES_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_ITERATIONCASES_H

#include "PairRelation.h"
#include "SymbolicFootprint.h"

namespace mlir::workgroup {

/// Decides about two footprints in each pair of iterations of the loops that
/// they are not linear in.
class IterationCases {
public:
  /// Decides about two footprints, for given iterations.
  using Decide = llvm::function_ref<Conflict(const SymbolicFootprint &,
                                             const SymbolicFootprint &,
                                             const PairRelation &)>;

  /// If `isAnyEnough`, the first conflict is the answer, certain or not.
  IterationCases(SymbolicIndex &index, Decide decideCase, bool isAnyEnough)
      : index(index), decideCase(decideCase), isAnyEnough(isAnyEnough) {}

  /// The conflict of `first` and `second`; nothing if there is no such loop, or
  /// too many iterations.
  std::optional<Conflict> decide(const SymbolicFootprint &first,
                                 const SymbolicFootprint &second,
                                 const PairRelation &relation);

private:
  using Pair = std::pair<int64_t, int64_t>;

  std::optional<int64_t> getNumTried(const KernelLoop *loop);
  const KernelLoop *findLoop(const SymbolicFootprint &first,
                             const SymbolicFootprint &second);
  SmallVector<Pair> getPairs(const KernelLoop *loop, int64_t numIterations,
                             const PairRelation &relation);

  SymbolicIndex &index;
  Decide decideCase;
  bool isAnyEnough;
  unsigned numCases = 0;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_ITERATIONCASES_H
