//===- Loops.h - Iterations to processors -----------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Distribution gives each processor (block, warp, lane or thread) its
// iterations of a parallel loop, by a strategy for each dimension: cyclic, in
// blocks, in chunks, or one iteration for each.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_LOOPS_H
#define WORKGROUP_TRANSFORMS_LOOPS_H

#include "mlir/Pass/Pass.h"
#include <string>

namespace mlir::workgroup {

/// The iterations of a loop that processor p of n executes. See pass
/// `workgroup-distribute-loops`.
enum class DistributionStrategy { Cyclic, Guarded, Exact, Block, BlockCyclic };

struct DistributeLoopsOptions {
  /// The strategy of each dimension; the last one is that of all further
  /// dimensions. Cyclic if empty.
  SmallVector<DistributionStrategy> strategies;
  /// The levels that loops without a mapping go to, from the outermost loop on.
  SmallVector<std::string> levels;
  /// Numbers of function arguments, of each dimension.
  SmallVector<unsigned> ids, counts;
  /// Consecutive iterations of the block-cyclic strategy.
  int64_t chunk = 1;

  DistributionStrategy getStrategy(size_t dim) const {
    return strategies.empty()
               ? DistributionStrategy::Cyclic
               : strategies[std::min(dim, strategies.size() - 1)];
  }
};

/// Gives the iterations of parallel loops inside `root` to processors. See pass
/// `workgroup-distribute-loops`.
LogicalResult distributeLoops(Operation *root,
                              const DistributeLoopsOptions &options = {});

/// Whether processors go on with what they have left themselves.
enum class DistributionVerdict { Agree, Undecided, Differ };

/// `second` goes on with what `first` has left, each in loops of its own.
struct DistributionFinding {
  Operation *first, *second;
  DistributionVerdict verdict = DistributionVerdict::Undecided;
  /// What is the same, what differs, or what is not known.
  std::string message = "";
};

/// Compares how operations inside `root` are distributed that hand results on
/// to each other. See pass `workgroup-compare-distributions`.
std::vector<DistributionFinding> compareDistributions(Operation *root);

struct SerializeLoopsOptions {
  /// Those that a kernel can be made of, too.
  bool all = false;
};

/// Makes sequential loops of parallel ones of the host inside `root`. See pass
/// `workgroup-serialize-loops`.
void serializeLoops(Operation *root, const SerializeLoopsOptions &options = {});

#define GEN_PASS_DECL
#include "workgroup/Transforms/Loops.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_LOOPS_H
