//===- BufferLiveness.h - Where workgroup buffers are in use ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The life of a workgroup buffer is an interval of the program order, from a
// point that every use comes after to the last use through any alias. The
// contents of an allocation are undefined whenever it executes, so its life may
// be a part of a loop's iteration. An attribution or a global has no such point
// and may hand values on from iteration to iteration: its life holds whole
// loops. A buffer that is written asynchronously lives on until a wait that is
// known to cover the copy; what gets out of sight lives until the kernel ends.
//
// A life begins where all threads of the block pass together, so that a barrier
// there separates it from whatever was in the same bytes before.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_MEMORY_BUFFERLIVENESS_H
#define WORKGROUP_LIB_ANALYSIS_MEMORY_BUFFERLIVENESS_H

#include "Analysis/Program/ProgramOrder.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/SymbolTable.h"
#include "workgroup/Analysis/Uniformity.h"
#include "llvm/ADT/DepthFirstIterator.h"

namespace mlir::workgroup {

/// The uses of the memory behind a value.
struct BufferUses {
  /// Accesses and the waits for asynchronous ones, in the function that was
  /// asked for: for an access in a function that it calls, the call.
  llvm::SmallSetVector<Operation *, 8> ops;
  /// The first operation after which the memory may be in use at any time:
  /// asynchronous without a wait that is known to cover it, or not understood.
  Operation *escape = nullptr;
  /// Whether some use is not understood. It might go by another proxy than
  /// loads and stores (TMA, warpgroups), which a barrier does not order.
  bool isOutOfSight = false;
  /// The terminator by which an allocation in a loop gets to a later iteration,
  /// if any: two of its activations may be in use together.
  Operation *carrier = nullptr;
};

/// Collects the uses of `buffer` and of every alias of it. `site` is
/// the call in the kernel that reaches the definition of `buffer`, or null if
/// that stands in the kernel itself.
void collectBufferUses(Value buffer, Operation *site,
                       SymbolTableCollection &symbols, DominanceInfo &dominance,
                       BufferUses &uses);

/// The life of a buffer.
struct BufferLife {
  ProgramOrder::Range range;
  /// The operation before which the life begins, at a point that dominates all
  /// uses; null if it begins with the kernel.
  Operation *begin = nullptr;
  /// The operation after which it ends on every path; null if there is none.
  Operation *end = nullptr;
  /// False if there is no use.
  bool isUsed = true;
};

/// Lives and barriers of one kernel.
class BufferLiveness {
public:
  /// Without `uniformity`, all points count as uniform; lives are then at least
  /// as short as they are with it.
  BufferLiveness(Operation *kernel, const UniformityAnalysis *uniformity);

  /// The life of a buffer with these uses. `allocation` is the operation that
  /// makes its contents undefined, or null if there is none.
  BufferLife getLife(const BufferUses &uses, Operation *allocation);

  /// True if the life of `allocation` is within an iteration of every loop
  /// around it.
  bool isWithinIteration(const BufferLife &life, Operation *allocation) const;

  /// True if `next` may begin after `life` has ended, in the same iteration of
  /// all loops around both or in a later one. They do not overlap, or are the
  /// same.
  bool mayFollow(const BufferLife &life, const BufferLife &next) const;

  /// True if a barrier stands on every path from the end of `life` to the
  /// beginning of `next`.
  bool isSeparated(const BufferLife &life, const BufferLife &next) const;

  /// Takes note of a barrier that will be put before `op`.
  void addBarrierBefore(Operation *op);

private:
  /// The loops around `op`, the innermost first.
  SmallVector<ProgramOrder::Range> getLoops(Operation *op) const;
  std::optional<ProgramOrder::Range>
  getInnermostCommonLoop(const BufferLife &life, const BufferLife &next) const;
  Region *getRegionAroundLoops(Region *region, Operation *op) const;
  bool findLifeIn(Region &region, ArrayRef<Operation *> uses, BufferLife &life);
  bool findBarrierBefore(Operation *op, ProgramOrder::Range range) const;
  bool findBarrierAfter(Operation *op, ProgramOrder::Range range) const;
  bool isUniform(Operation *op) const;
  bool isLoop(Operation *op) const;
  bool comesAfter(const BufferLife &life, const BufferLife &next) const;
  bool isBarrierOnEveryPath(Operation *op) const;
  void collectBarriers();

  Operation *kernel;
  const UniformityAnalysis *uniformity;
  ProgramOrder order;
  DominanceInfo dominance;
  /// The blocks of the same region that control gets to from a block.
  mutable DenseMap<Block *, llvm::df_iterator_default_set<Block *>> reachable;
  /// Barriers that all threads reach, in ascending order: of one that has not
  /// been put yet, the place; of a branch with a barrier on every path, all of
  /// it.
  DenseMap<Block *, SmallVector<ProgramOrder::Range>> barriers;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_MEMORY_BUFFERLIVENESS_H
