//===- ThreadAccesses.h - The accesses of a kernel --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accesses of a kernel to memory that threads share: which operation, which
// buffers it may be (followed through every edge that values take: views,
// casts, selections, regions, branches), where in them, and who does it.
// Memory of one thread, and constant memory, is left out.
//
// Calls count as accesses to all that a callee could find: what is passed to
// any call, and every global. Callees are not looked into.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_ANALYSIS_THREADACCESSES_H
#define WORKGROUP_ANALYSIS_THREADACCESSES_H

#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/Analysis/ThreadAccess.h"
#include "workgroup/Analysis/Uniformity.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::workgroup {

/// The accesses of one kernel or device function.
class ThreadAccesses {
public:
  /// `arguments` says which arguments overlap. A copy or a linalg operation
  /// that `uniformity` has the whole block execute on the same memory is the
  /// block's. Unless `areInBounds`, footprints have no bounds.
  ThreadAccesses(Operation *scope, const UniformityAnalysis &uniformity,
                 const ArgumentAliases &arguments, bool areInBounds = true);

  /// In program order; those of one operation next to each other.
  ArrayRef<ThreadAccess> getAccesses() const { return accesses; }
  /// True if it is promised of some access that it is in bounds.
  bool hasBounds() const;
  unsigned getNumRoots() const { return roots.size(); }
  const MemoryRoot &getRoot(unsigned number) const { return roots[number]; }

  /// True if the roots with these numbers, neither of them 0, may share memory.
  bool mayOverlap(unsigned lhs, unsigned rhs) const;

  /// The `put` or `get` of a tile that both accesses are of, if they are of no
  /// other memory and that tile is done with in the same iteration; else null.
  Operation *getCommonTile(const ThreadAccess &lhs,
                           const ThreadAccess &rhs) const;

  /// False if the memory of `lhs` and `rhs` is known to be different, whatever
  /// the places.
  bool mayAlias(const ThreadAccess &lhs, const ThreadAccess &rhs) const;

  /// True if the footprints of `lhs` and `rhs` tell whether they touch the same
  /// memory: both have one, of the same basis, and where they may be of
  /// different roots, those do not overlap.
  bool areComparable(const ThreadAccess &lhs, const ThreadAccess &rhs) const;

private:
  bool mayShare(unsigned lhs, MemorySpace lhsSpace, unsigned rhs,
                MemorySpace rhsSpace) const;

  SmallVector<MemoryRoot> roots;
  /// Pairs of roots that may share memory as far as their origin tells.
  DenseSet<std::pair<unsigned, unsigned>> overlaps;
  SmallVector<ThreadAccess, 0> accesses;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_ANALYSIS_THREADACCESSES_H
