//===- RingTiles.cpp - Whether tiles of rings are used in time ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RingTiles.h"
#include "Analysis/Program/OpEffects.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

Operation *getTileSource(Value value) {
  Operation *op = value ? value.getDefiningOp() : nullptr;
  return isa_and_nonnull<PutOp, GetOp>(op) ? op : nullptr;
}

/// True if what `op` does with a tile may go on behind it: it starts a copy
/// that the ring knows nothing of, or hands the tile on in another form.
static bool goesOn(Operation *op) {
  OpKind kind = getOpKind(op);
  return kind == OpKind::AsyncCopy || kind == OpKind::BulkLoad ||
         kind == OpKind::BulkStore || kind == OpKind::Descriptor ||
         kind == OpKind::Call ||
         isa<memref::ExtractAlignedPointerAsIndexOp,
             UnrealizedConversionCastOp>(op);
}

/// The last operation of the block of `source` that uses its tiles, or views of
/// them, or has some in it that do; `source` if there is none. Nothing if they
/// go where they are not followed.
static std::optional<Operation *> findLastUse(Operation *source) {
  Operation *last = source;
  SmallVector<Value> tiles(source->getResults());
  for (unsigned i = 0; i < tiles.size(); ++i)
    for (Operation *user : tiles[i].getUsers()) {
      Operation *at = source->getBlock()->findAncestorOpInBlock(*user);
      if (!at || user->hasTrait<OpTrait::IsTerminator>() || goesOn(user))
        return std::nullopt;
      if (last->isBeforeInBlock(at))
        last = at;
      for (Value result : user->getResults())
        if (isa<BaseMemRefType>(result.getType())) {
          if (!getViewSource(user))
            return std::nullopt;
          tiles.push_back(result);
        }
    }
  return last;
}

/// True if the tiles of `source` are used only before slots are given on.
static bool isOrderly(Operation *source) {
  std::optional<Operation *> last = findLastUse(source);
  if (!last)
    return false;
  Value ring = source->getOperand(0);
  bool isPut = isa<PutOp>(source);
  for (Operation *at = source;; at = at->getNextNode()) {
    auto found = at->walk([&](Operation *op) {
      bool isGiven = (isPut ? isa<CommitOp>(op) : isa<ReleaseOp>(op)) &&
                     op->getOperand(0) == ring;
      return isGiven ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return false;
    if (at == *last)
      return true;
  }
}

bool RingTiles::isOrderly(Value ring) {
  auto [it, isNew] = known.try_emplace(ring, false);
  if (!isNew)
    return it->second;
  // A ring that is handed on may be used elsewhere.
  it->second =
      ring.getDefiningOp<RingOp>() &&
      llvm::all_of(ring.getUsers(), [](Operation *user) {
        if (isa<CommitOp, ReleaseOp>(user))
          return true;
        return isa<PutOp, GetOp>(user) && mlir::workgroup::isOrderly(user);
      });
  return it->second;
}

} // namespace mlir::workgroup
