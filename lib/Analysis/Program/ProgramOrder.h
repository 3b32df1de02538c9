//===- ProgramOrder.h - Positions in a kernel -------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers the operations of a kernel so that control goes from lower numbers to
// higher ones, except where a loop iterates: operations in the order of their
// block, blocks in a topological order of the strongly connected components of
// their region, the blocks of one component next to each other, and what an
// operation holds between its two ends. What happens between two points of the
// kernel, whichever way control takes, is then inside of an interval, as long
// as loops are either in it as a whole or not at all.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROGRAM_PROGRAMORDER_H
#define WORKGROUP_LIB_ANALYSIS_PROGRAM_PROGRAMORDER_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace mlir::workgroup {

/// Positions of the operations inside a kernel or device function.
class ProgramOrder {
public:
  /// A closed interval of positions.
  struct Range {
    unsigned first = 0, last = 0;

    bool contains(Range other) const {
      return first <= other.first && other.last <= last;
    }
    bool overlaps(Range other) const {
      return first <= other.last && other.first <= last;
    }
  };

  explicit ProgramOrder(Operation *scope);

  /// From right before `op`, which is inside the scope or the scope itself, to
  /// right after it and all that it holds.
  Range getRange(Operation *op) const { return ranges.lookup(op); }

  /// The positions of the unstructured loop of its region that `block` is part
  /// of; nothing if control cannot get back to it within the region.
  std::optional<Range> getCycle(Block *block) const;

private:
  void number(Operation *op);
  void number(Region &region);
  void number(Block &block);

  unsigned next = 0;
  DenseMap<Operation *, Range> ranges;
  DenseMap<Block *, Range> cycles;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROGRAM_PROGRAMORDER_H
