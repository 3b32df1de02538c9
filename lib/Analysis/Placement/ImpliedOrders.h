//===- ImpliedOrders.h - What barriers cover that cover others --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What covers an order covers all others that pass what lies between its steps.
// Such an order leads: who has it covered need not look at those around it. So
// of accesses in straight-line code only those next to each other matter.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_IMPLIEDORDERS_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_IMPLIEDORDERS_H

#include "SyncProgram.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::workgroup {

/// Tells which orders follow from others. Loops that test first, and have an
/// iteration, are passed with all that is in them: the region of a step is the
/// innermost sequence around it that is not the body of one.
class ImpliedOrders {
public:
  explicit ImpliedOrders(const SyncProgram &program);

  /// Takes in that barriers among the nodes cover what passes them.
  void addBarriers();
  /// Takes in a leading order: between steps for which `canLead` holds, about
  /// the paths of which no more is known.
  void add(const SyncHazard &order);
  /// True if all that lies between two steps is passed by whoever passes both:
  /// they are of one region. If `loop` is given, so is its body.
  bool canLead(unsigned from, unsigned to, std::optional<unsigned> loop) const;

  /// True if whatever covers all leading orders covers `order`. False may also
  /// say that this is not seen.
  bool isImplied(const SyncHazard &order) const;
  /// The same for all orders between two steps, in any iterations.
  bool areImplied(unsigned lhs, unsigned rhs) const;

  bool isBefore(unsigned lhs, unsigned rhs) const {
    return positions[lhs] < positions[rhs];
  }
  unsigned getRegion(unsigned step) const {
    return regions[program.nodes[step].sequence];
  }
  unsigned getRegionOfBody(unsigned loop) const {
    return regions[program.nodes[loop].parts.front()];
  }

private:
  static constexpr unsigned kNone = ~0u;
  /// For each position from a first one on, the first end of the orders that
  /// start there or behind it.
  using Ends = llvm::SmallVector<unsigned, 0>;

  void number(unsigned sequence, unsigned region);
  bool leavesEarly(unsigned sequence) const;
  void add(unsigned sequence, Ends &ends, unsigned from, unsigned to);
  unsigned getEnd(unsigned region, unsigned start) const;
  bool isPassedInIteration(const SyncHazard &order) const;
  bool isPassedInIterations(const SyncHazard &order) const;
  bool isPassedAround(const SyncHazard &order) const;

  const SyncProgram &program;
  /// The position of each node in the order of the program.
  llvm::SmallVector<unsigned, 0> positions;
  /// For each sequence, the positions of its first node and behind its last
  /// one; and the region that it belongs to, which has the number of a
  /// sequence.
  llvm::SmallVector<unsigned, 0> begins, stops, regions;
  /// The region around each region; `kNone` around that of all.
  llvm::SmallVector<unsigned, 0> outers;
  /// The loops around each sequence, outermost first.
  llvm::SmallVector<llvm::SmallVector<unsigned, 3>, 0> loopsAround;
  /// The leading orders within an iteration, by regions; and those from one
  /// iteration of a loop into the next one.
  llvm::SmallVector<Ends, 0> endsOf;
  llvm::DenseMap<unsigned, Ends> endsAround;
  unsigned numPositions = 0;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_IMPLIEDORDERS_H
