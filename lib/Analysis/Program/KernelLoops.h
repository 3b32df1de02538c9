//===- KernelLoops.h - The loops of a kernel --------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of a kernel, whether they are operations or branches between
// blocks, as one nest.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROGRAM_KERNELLOOPS_H
#define WORKGROUP_LIB_ANALYSIS_PROGRAM_KERNELLOOPS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <memory>
#include <optional>

namespace mlir::workgroup {

/// A loop: an operation that repeats a region, or the blocks of a natural loop.
struct KernelLoop {
  /// The operation; null for branches.
  Operation *op = nullptr;
  /// The block that each iteration starts with.
  Block *header = nullptr;
  const KernelLoop *parent = nullptr;
  /// For a loop of branches, the sources of its back edges: the blocks that go
  /// back to the header.
  SmallVector<Block *, 1> latches;
  /// For a loop of branches, the only block that leaves it; null if there are
  /// several, or none.
  Block *exiting = nullptr;
  /// It is entered at its header only, so that its iterations can be counted.
  bool isCountable = true;

  bool contains(const KernelLoop *other) const {
    for (; other; other = other->parent)
      if (other == this)
        return true;
    return false;
  }
};

/// A value that a loop hands on: what it is in the first iteration, and in the
/// iteration after one in which it is what it is.
struct CarriedValue {
  const KernelLoop *loop = nullptr;
  Value initial, next;
};

/// The comparison that decides in each iteration whether a loop goes on, and
/// what it has to be for that.
struct LoopTest {
  arith::CmpIOp compare;
  bool goesOnIf = true;
};

/// The loops of a kernel or device function. Stays valid while operations are
/// only inserted or erased.
class KernelLoops {
public:
  explicit KernelLoops(Operation *scope);

  /// The innermost loop that the operations of `block` are in; null for none.
  const KernelLoop *getLoop(Block *block) const { return loops.lookup(block); }
  const KernelLoop *getLoop(Operation *op) const {
    return getLoop(op->getBlock());
  }
  /// The loop that `op` itself is; null if it is none.
  const KernelLoop *getLoopOf(Operation *op) const { return ofOps.lookup(op); }
  /// The natural loop of branches that starts at `block`; null if none does.
  const KernelLoop *getLoopAt(Block *block) const {
    return ofHeaders.lookup(block);
  }
  /// The initial and the next value of `argument`, of an operation or of the
  /// header of a natural loop; nothing if no loop carries it, or one has
  /// several values for it.
  std::optional<CarriedValue> getCarried(BlockArgument argument) const;
  /// The only test of a natural loop or `scf.while`; nothing if it is no
  /// comparison, or some iterations do without.
  std::optional<LoopTest> getTest(const KernelLoop *loop) const;
  /// True if `op`, of the natural loop `loop`, is only got to in iterations
  /// that have passed the test.
  bool isBehindTest(const KernelLoop *loop, Operation *op) const;
  /// True if who gets to `op` has passed `other` before.
  bool isPassedBefore(Operation *other, Operation *op) const {
    return dominance.properlyDominates(other, op);
  }
  /// True if `op` is not in `loop`, and who gets there has left that before.
  bool isBehind(const KernelLoop *loop, Operation *op) const;
  /// True if each iteration of `loop` gets to `op` once: it stands in its body,
  /// and in no other loop or branch there.
  bool isInEachIteration(const KernelLoop *loop, Operation *op) const;

private:
  void visit(Region &region, const KernelLoop *around);
  void visitBranches(Region &region, const KernelLoop *around);
  KernelLoop *make(const KernelLoop *around, Operation *op, Block *header);

  mutable DominanceInfo dominance;
  std::vector<std::unique_ptr<KernelLoop>> storage;
  DenseMap<Block *, const KernelLoop *> loops;
  DenseMap<Operation *, const KernelLoop *> ofOps;
  DenseMap<Block *, const KernelLoop *> ofHeaders;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROGRAM_KERNELLOOPS_H
