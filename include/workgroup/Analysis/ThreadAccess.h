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
// Memory of one thread, and what is only read, is left out by the client.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_ANALYSIS_THREADACCESS_H
#define WORKGROUP_ANALYSIS_THREADACCESS_H

#include "workgroup/Analysis/LinearIndex.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::workgroup {

enum class AccessKind { Read, Write, Atomic };

/// Who does an access.
enum class AccessAgent {
  /// Each thread that executes the operation, for itself.
  Thread,
  /// The threads of a warp together, each of which may touch any of it.
  Warp,
  /// The block together, once (`semantics`: a collective operation).
  Block,
};

/// Memory that is told from other memory: an allocation, an attribution, a
/// `memref.global`, an argument; or, as number 0, whatever is not known.
struct MemoryRoot {
  /// The value, or the global; null of what is not known.
  Value value;
  Operation *global = nullptr;
  MemorySpace space = MemorySpace::Other;
  /// Made by the kernel, or promised (`llvm.noalias`) to overlap no other.
  bool isDistinct = false;
};

/// The places that an access touches in its root. In each coordinate that is
/// `place`, any of `box` added, and the `run - 1` units behind it in the last
/// coordinate.
struct AccessFootprint {
  /// What coordinates are counted by: null for one coordinate, the bytes from
  /// the start of the root; else a memref, with one coordinate per dimension,
  /// in elements. Coordinates of different bases cannot be compared.
  Value basis;
  SmallVector<LinearIndex, 1> place;
  /// `count` places, `stride` units apart in coordinate `coordinate`.
  struct Extent {
    OpFoldResult count;
    int64_t stride = 1;
    unsigned coordinate = 0;
  };
  SmallVector<Extent, 0> box;
  int64_t run = 1;
  /// What the program promises by making the access: 0 <= index < extent.
  struct Bound {
    LinearIndex index;
    OpFoldResult extent;
  };
  SmallVector<Bound, 0> bounds;
};

/// An access of threads to memory that others can reach.
struct ThreadAccess {
  Operation *op = nullptr;
  /// The operand that is the memref; null of unknown effects.
  OpOperand *operand = nullptr;
  AccessKind kind = AccessKind::Read;
  AccessAgent agent = AccessAgent::Thread;
  MemorySpace space = MemorySpace::Other;
  /// The roots it may be of, as numbers, in ascending order; number 0 stands
  /// for any root of `space` (of any space if that is `Other`).
  SmallVector<unsigned, 1> roots;
  /// Nothing if it may be anywhere in the roots.
  std::optional<AccessFootprint> footprint;

  bool isWrite() const { return kind != AccessKind::Read; }
};

/// The accesses of one kernel or device function.
class ThreadAccesses {
public:
  /// `assumeDistinctArguments` says that memref arguments of kernels do not
  /// overlap.
  ThreadAccesses(Operation *scope, bool assumeDistinctArguments);

  /// In program order; those of one operation next to each other.
  ArrayRef<ThreadAccess> getAccesses() const { return accesses; }
  const MemoryRoot &getRoot(unsigned number) const { return roots[number]; }

  /// False if the memory of `lhs` and `rhs` is known to be different, whatever
  /// the places.
  bool mayAlias(const ThreadAccess &lhs, const ThreadAccess &rhs) const;

private:
  friend class AccessCollector;
  SmallVector<MemoryRoot> roots;
  SmallVector<ThreadAccess, 0> accesses;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_ANALYSIS_THREADACCESS_H
