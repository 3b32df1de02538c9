//===- ParallelLoops.h - Loops whose iterations are spread ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An `scf.forall` or `scf.parallel` with the processors that each of its
// dimensions is mapped to: blocks, warps, lanes or threads, along x, y, z, or
// by linear ids. Mappings are upstream's attributes (`#gpu.block<x>`,
// `#gpu.thread<linear_dim_0>`, `#gpu.loop_dim_map`). A mapping that is not
// understood, or loops that share processors, is an obstacle in words.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LOOPS_PARALLELLOOPS_H
#define WORKGROUP_LIB_TRANSFORMS_LOOPS_PARALLELLOOPS_H

#include "LoopDistribution.h"
#include "ProcessorIds.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// The target of a dimension of a loop: x, y or z (0, 1, 2), the dimension of
/// that number among the linear ones, or the argument of that number.
struct ProcessorTarget {
  ProcessorLevel level = ProcessorLevel::Threads;
  unsigned dim = 0;
  bool isLinear = false;
};

std::optional<ProcessorLevel> parseLevel(StringRef name);

/// An `scf.parallel` or `scf.forall` that is to be distributed.
struct ParallelLoop {
  Operation *op = nullptr;
  SmallVector<LoopRange> ranges;
  /// The target of each dimension; none for a loop of every processor.
  SmallVector<std::optional<ProcessorTarget>> targets;
  /// The part of its mapping that is not understood; null for nothing.
  Attribute unknown;

  /// The loop `op` with the targets that it is mapped to; nothing if it is no
  /// such loop, or has no mapping.
  static std::optional<ParallelLoop> getMapped(Operation *op);
  /// Nothing if `op` is none that is to be distributed in device code.
  static std::optional<ParallelLoop> get(Operation *op,
                                         const DistributeLoopsOptions &options);

  /// Takes the bounds from the operation, anew if those around it have been
  /// replaced.
  void readRanges();
  /// Why it cannot be distributed; empty if it can.
  std::string getObstacle() const;
  /// True if some dimension goes to the level.
  bool goesTo(ProcessorLevel level) const;
  /// True if processors that execute iterations of the one loop are those, or
  /// parts of those, that execute iterations of the other.
  bool sharesProcessors(const ParallelLoop &other) const;
  /// True if it is one iteration, and that is work of the whole block.
  bool isWorkOfBlock() const;

  OpFoldResult getIndex(int64_t number) const;
  /// Makes the number of iterations of a dimension.
  OpFoldResult count(OpBuilder &builder, unsigned dim) const;
  /// Puts the body where `rewriter` stands, and erases the loop.
  void replaceBody(RewriterBase &rewriter, ArrayRef<OpFoldResult> values);

private:
  void setMapping(ArrayAttr mapping);
  void setLevel(ProcessorLevel level);
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LOOPS_PARALLELLOOPS_H
