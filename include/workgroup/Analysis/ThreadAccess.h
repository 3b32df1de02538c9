//===- ThreadAccess.h - Who touches which bytes -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access of a kernel to memory: which operation, which buffers it may be of,
// where in them, and who does it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_ANALYSIS_THREADACCESS_H
#define WORKGROUP_ANALYSIS_THREADACCESS_H

#include "workgroup/Analysis/AtomicAccess.h"
#include "workgroup/Analysis/Footprint.h"

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
  /// For a write, whether all threads that do it, or all of a warp, write the
  /// same value to the same place.
  enum { NotSame, SameInWarp, SameInIteration, SameAlways } sameness = NotSame;
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

/// True if the access is by the asynchronous proxy: that of TMA, and of
/// products of warp groups.
bool isOfAsyncProxy(const ThreadAccess &access);

} // namespace mlir::workgroup

#endif // WORKGROUP_ANALYSIS_THREADACCESS_H
