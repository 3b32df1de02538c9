//===- KernelGroups.h - Operations that become one kernel -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last operation of a group is its root. Blocks share out some of its
// parallel loops, its rows, and do for a part of these whatever the other
// operations of the group compute. So the rows are loops of each of them, or
// of what is cheap enough to be computed by several blocks.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_KERNELGROUPS_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_KERNELGROUPS_H

#include "ChainLimits.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::workgroup {

/// Operations of one block that become one kernel.
class KernelGroup {
public:
  explicit KernelGroup(linalg::LinalgOp root);

  linalg::LinalgOp getRoot() const { return root; }
  bool contains(Operation *op) const { return loopsOf.contains(op); }
  /// In the order of the program.
  SmallVector<linalg::LinalgOp> getOps() const;
  /// The class of most of the work.
  LinalgClass getClass() const;
  /// The loops of the root that blocks share out.
  const llvm::SmallBitVector &getRows() const { return rows; }
  /// For each loop of `op` the row that goes along with it.
  ArrayRef<std::optional<unsigned>> getRowOf(Operation *op) const {
    return loopsOf.find(op)->second;
  }

  /// The contractions of the kernel, if it has two.
  const std::optional<ContractionChain> &getChain() const { return chain; }

  /// Takes what is before the second contraction of `newChain`, which is in the
  /// group. False if the group cannot do that row by row.
  bool joinChain(ContractionChain newChain);

  /// Takes `op`, all users of which are in the group or behind the root. If it
  /// does not belong to the group, returns why.
  std::optional<StringRef> join(linalg::LinalgOp op);

private:
  using Loops = SmallVector<std::optional<unsigned>>;

  struct Uses {
    Loops loops;
    bool hasAny = false, isEscaping = false;
    /// The number of tiles of it that are computed for one of the root.
    unsigned tiles = 0;
  };
  std::optional<StringRef> collectUses(linalg::LinalgOp op, Uses &uses) const;
  std::optional<StringRef> addUse(OpOperand &use, Uses &uses) const;
  std::optional<StringRef> getClassObstacle(LinalgClass kind) const;
  std::optional<StringRef>
  getReductionObstacle(linalg::LinalgOp op, const Uses &uses,
                       const llvm::SmallBitVector &left) const;
  bool fitsBlock(linalg::LinalgOp op, const Loops &rowOf) const;
  bool has(LinalgClass kind) const;

  linalg::LinalgOp root;
  SmallVector<linalg::LinalgOp> ops; // the last first
  DenseMap<Operation *, Loops> loopsOf;
  /// The number of times that operations are computed which are read in several
  /// orders.
  DenseMap<Operation *, unsigned> tilesOf;
  llvm::SmallBitVector rows;
  std::optional<ContractionChain> chain;
};

/// Groups all operations on tensors directly inside `block`, in the order of
/// their roots. `whyNot`, if given, receives the operations whose only users
/// are in one other group with what kept them out of it. Without `limits`, all
/// contractions that can be chained are.
std::vector<KernelGroup> groupOps(
    Block &block, const FormKernelsOptions *limits = nullptr,
    SmallVectorImpl<std::pair<linalg::LinalgOp, StringRef>> *whyNot = nullptr);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_KERNELGROUPS_H
