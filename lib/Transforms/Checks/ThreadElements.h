//===- ThreadElements.h - The elements that threads touch -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which elements of a buffer each thread of a block touches, by doing what the
// thread does: loops iteration by iteration, those that are mapped to threads
// as `workgroup-distribute-loops` shares them out.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CHECKS_THREADELEMENTS_H
#define WORKGROUP_LIB_TRANSFORMS_CHECKS_THREADELEMENTS_H

#include "Analysis/Index/ThreadEvaluator.h"
#include "Transforms/Loops/ParallelLoops.h"
#include "workgroup/Analysis/ThreadAccess.h"
#include "workgroup/Analysis/Uniformity.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::workgroup {

/// A buffer of a thread, in units that accesses are whole numbers of.
struct BufferUnits {
  int64_t bytes;
  int64_t count;
};

/// For each thread of the block, by its linear id, the units that it touches.
using TouchedUnits = std::vector<llvm::BitVector>;

/// The elements that threads touch by one access.
struct ThreadTouches {
  TouchedUnits units;
  /// True if each thread is known to touch all of its units, or the block to
  /// decide as one whether it does.
  bool isCertain = true;
};

/// The bounds of a loop, thread by thread.
struct ThreadBounds {
  ThreadValues lower, upper, step;
};

class ThreadElements {
public:
  ThreadElements(Operation *scope, std::array<int64_t, 3> shape,
                 const UniformityAnalysis &uniformity);

  /// Nothing if that is not known, or takes too long. An access under a
  /// condition that is not known is taken to be done, but is not certain.
  std::optional<ThreadTouches> find(const ThreadAccess &access,
                                    const BufferUnits &units);

  int64_t getNumThreads() const { return threads.size(); }
  /// The ids of the thread of linear id `linear`.
  std::array<int64_t, 3> getIds(int64_t linear) const {
    return {linear % shape[0], linear / shape[0] % shape[1],
            linear / shape[0] / shape[1]};
  }

private:
  /// The position of threads: the induction variables of loops around, and
  /// which threads are there.
  struct Place {
    llvm::DenseMap<Value, ThreadValues> values;
    llvm::BitVector active;
  };
  /// Dimensions of a loop that are shared out together.
  struct Share {
    SmallVector<LoopRange> ranges;
    SmallVector<Value> ivs;
    std::optional<ProcessorTarget> target;
  };

  ThreadEvaluator makeEvaluator(const Place &place) const;
  void addNeeded(const ThreadAccess &access);
  bool isReached(Operation *op) const;
  bool isDropped(Operation *op) const;
  bool areUniform(ValueRange values) const;
  bool isSharedByBlocks(const ParallelLoop &loop) const;
  bool isSameInAll(const Share &share) const;
  bool visit(unsigned depth, const Place &place);
  bool visitBranch(scf::IfOp branch, Region *region, unsigned depth,
                   const Place &place);
  bool visitLoop(Operation *op, unsigned depth, const Place &place);
  bool visitShares(ArrayRef<Share> shares, unsigned depth, const Place &place);
  void setIteration(const Share &share, ArrayRef<ThreadBounds> bounds,
                    ThreadValues numbers, Place &place) const;
  bool visitIterations(const Share &share, ArrayRef<Share> rest, unsigned depth,
                       const Place &place);
  bool touch(const Place &place);
  std::optional<ThreadValues> evaluate(const LinearIndex &index,
                                       ThreadEvaluator &evaluator) const;
  bool touchBox(int64_t thread, int64_t first,
                ArrayRef<std::pair<int64_t, int64_t>> box);
  ThreadValues getIdsOf(const ProcessorTarget &target, int64_t &count) const;

  Operation *scope;
  std::array<int64_t, 3> shape;
  const UniformityAnalysis &uniformity;
  SmallVector<int64_t, 0> threads;

  // Of the access that is looked at.
  const ThreadAccess *access = nullptr;
  BufferUnits units = {1, 0};
  /// The operations between the scope and the access, from outside in.
  SmallVector<Operation *> nest;
  /// The values that the place of the access, and the threads that reach it,
  /// depend on.
  DenseSet<Value> needed;
  ThreadTouches touched;
  int64_t effort = 0;
};

/// The loop around `op` and inside of what holds `buffer` that is mapped to
/// threads; null if there is none.
Operation *findMappedLoop(Operation *op, Value buffer);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CHECKS_THREADELEMENTS_H
