//===- Ring.h - A ring with all that is done with it ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ring that is put, committed, got and released once each in one block, as
// `workgroup-form-rings` makes them, and whether its copies may be started in
// earlier iterations than the one that reads them.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_RINGS_RING_H
#define WORKGROUP_LIB_TRANSFORMS_RINGS_RING_H

#include "Transforms/Copies/CopyShape.h"
#include "Transforms/Copies/LoopCopies.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/IR/Workgroup.h"

namespace mlir::workgroup {

/// What an operation that fills a tile of a ring, a copy or a gather, reads and
/// fills; nothing for other operations.
std::optional<CopyOperands> getFillOperands(Operation *op);

/// The layout in which `op`, that fills a tile, fills its storage; null if the
/// tile is row-major.
TileLayoutAttr getFilledLayout(Operation *op);

/// A ring that is put and got once in the same block.
struct Ring {
  RingOp op;
  PutOp put;
  CommitOp commit;
  GetOp get;
  ReleaseOp release;
  /// Copies and gathers.
  SmallVector<Operation *> copies = {};
  /// The operations that compute the sources in the loop around.
  LoopSlice slice = {};
  /// Why the ring cannot be lowered, and the operation at fault, if there is
  /// one; empty if it can.
  std::string flaw = {};
  Operation *fault = nullptr;
  /// Why the copies cannot run ahead of their readers; empty if they can.
  std::string obstacle = {};
  /// After which a source may hold what threads have written before the loop;
  /// null if none have.
  Operation *writer = nullptr;

  Location getLoc() { return op.getLoc(); }
  RingType getType() { return op.getRing().getType(); }
  /// The iterations after which a slot that was read is filled again at the
  /// soonest.
  int64_t getLag() { return release.getLag(); }
  scf::ForOp getLoop() { return dyn_cast<scf::ForOp>(put->getParentOp()); }
  /// The operation some of whose warps put the slots that others get; null if
  /// the same threads do both.
  SpecializeOp getSpecialize();
  /// True if a tile has a layout of its own, which TMA alone fills.
  bool hasLayouts() const;
};

/// What is done with `op`; the ring has a flaw if it cannot be lowered.
Ring matchRing(RingOp op);

/// Finds out whether the copies of `ring`, without a flaw, may be started in
/// earlier iterations, and who may have written its sources.
void findObstacle(Ring &ring, const ArgumentAliases &aliases,
                  KernelWrites &writes);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_RINGS_RING_H
