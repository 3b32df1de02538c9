//===- ThreadAccess.h - Who touches which bytes -----------------*- C++ -*-===//
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

#ifndef WORKGROUP_ANALYSIS_THREADACCESS_H
#define WORKGROUP_ANALYSIS_THREADACCESS_H

#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/Analysis/AtomicAccess.h"
#include "workgroup/Analysis/Footprint.h"
#include "workgroup/Analysis/Uniformity.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::workgroup {

enum class AccessKind { Read, Write, Atomic };

/// The threads that do an access.
enum class AccessScope {
  /// Each thread that executes the operation, for itself. For `ldmatrix` this
  /// is the lane that has the address of a row.
  Thread,
  /// The threads of a warp together, each of which may touch any of it.
  Warp,
  /// The block together, once (`semantics`: a collective operation).
  Block,
};

/// An access of threads to memory that others can reach.
struct ThreadAccess {
  Operation *op = nullptr;
  /// The operand that is the memref; null of unknown effects.
  OpOperand *operand = nullptr;
  AccessKind kind = AccessKind::Read;
  AccessScope accessScope = AccessScope::Thread;
  /// It may happen at any time after the operation, until it is waited for.
  bool isAsync = false;
  /// For an atomic access, the threads to which it is atomic, and its width in
  /// bits: 0 for an mbarrier.
  std::optional<AtomicScope> scope;
  unsigned atomicBits = 0;
  /// For a write, whether all threads that do it write the same value to the
  /// same place.
  enum { NotSame, SameInIteration, SameAlways } sameness = NotSame;
  MemorySpace space = MemorySpace::Other;
  /// The roots it may be of, as numbers, in ascending order; number 0 stands
  /// for any root of `space` (of any space if that is `Other`).
  SmallVector<unsigned, 1> roots;
  /// Nothing if it may be anywhere in the roots.
  std::optional<AccessFootprint> footprint;

  bool isWrite() const { return kind != AccessKind::Read; }
};

/// True if both are atomic, and of one width: others may come between the parts
/// of each other.
bool areAtomic(const ThreadAccess &lhs, const ThreadAccess &rhs);

/// The threads to which both of two atomic accesses are atomic.
AtomicScope getCommonScope(const ThreadAccess &lhs, const ThreadAccess &rhs);

/// True if the access is by TMA, of the asynchronous proxy.
bool isBulk(const ThreadAccess &access);

/// The accesses of one kernel or device function.
class ThreadAccesses {
public:
  /// `arguments` says which arguments overlap. A copy or a linalg operation
  /// that `uniformity` has the whole block execute on the same memory is the
  /// block's.
  ThreadAccesses(Operation *scope, const UniformityAnalysis &uniformity,
                 const ArgumentAliases &arguments);

  /// In program order; those of one operation next to each other.
  ArrayRef<ThreadAccess> getAccesses() const { return accesses; }
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
  friend class AccessCollector;
  bool mayShare(unsigned lhs, MemorySpace lhsSpace, unsigned rhs,
                MemorySpace rhsSpace) const;

  SmallVector<MemoryRoot> roots;
  /// Pairs of roots that may share memory as far as their origin tells.
  DenseSet<std::pair<unsigned, unsigned>> overlaps;
  SmallVector<ThreadAccess, 0> accesses;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_ANALYSIS_THREADACCESS_H
