//===- RingTiles.h - Whether tiles of rings are used in time ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile that a ring gives out may be used up to the commit (a slot that is
// written) or the release (a slot that is read) that ends its use. If every
// tile of a ring is, the ring keeps its tiles apart, and they need not be taken
// for one memory. The check finds, for each `put` and `get`, the last use of
// its tiles in the same block, views of them included.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_MEMORY_RINGTILES_H
#define WORKGROUP_LIB_ANALYSIS_MEMORY_RINGTILES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::workgroup {

/// A ring keeps the tiles that it gives out apart: tiles of a slot that is
/// written from tiles of a slot that is read, and accesses of one round from
/// those of the next one. This holds for a thread that is done with a tile
/// before it commits or releases the slot.
class RingTiles {
public:
  /// True if all tiles of `ring` are used only behind the `put` or `get` that
  /// gives them, in the same iteration of all loops, and before any slot of the
  /// ring is committed, or released, respectively.
  bool isOrderly(Value ring);

private:
  llvm::DenseMap<Value, bool> known;
};

/// The `put` or `get` that gives `value`, a tile; null if it is none.
Operation *getTileSource(Value value);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_MEMORY_RINGTILES_H
