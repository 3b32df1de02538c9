//===- Ring.cpp - A ring with all that is done with it --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ring.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms/Rings.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

std::optional<CopyOperands> getFillOperands(Operation *op) {
  if (auto gather = dyn_cast<GatherOp>(op))
    return CopyOperands{gather.getSource(), gather.getTile()};
  if (auto copy = dyn_cast<CopyOp>(op))
    return CopyOperands{copy.getSource(), copy.getTile()};
  return std::nullopt;
}

TileLayoutAttr getFilledLayout(Operation *op) {
  auto copy = dyn_cast<CopyOp>(op);
  return copy ? copy.getLayoutAttr() : TileLayoutAttr();
}

bool Ring::hasLayouts() const {
  return llvm::any_of(
      copies, [](Operation *copy) { return bool(getFilledLayout(copy)); });
}

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

/// The only user of `ring` that is an `OpTy`; null if there are others.
template <typename OpTy>
static OpTy getOnlyUser(RingOp ring) {
  OpTy only;
  for (Operation *user : ring.getRing().getUsers())
    if (auto match = dyn_cast<OpTy>(user)) {
      if (only)
        return {};
      only = match;
    }
  return only;
}

/// The reason why `copy` cannot be lowered, or empty.
static StringRef getObstacle(Operation *copy) {
  CopyOperands operands = *getFillOperands(copy);
  if (getFilledLayout(copy))
    return "";
  auto source = cast<MemRefType>(operands.source.getType());
  auto tile = cast<MemRefType>(operands.target.getType());
  if (!tile.getLayout().isIdentity() || !source.isStrided())
    return "tiles have to be row-major, and sources to have strides";
  return isa<GatherOp>(copy) ? StringRef() : getPaddingObstacle(source, tile);
}

/// Collects the copies to the tiles that are put, one for each, and all else
/// that is done with them: nothing.
static void collectCopies(Ring &ring) {
  auto refuse = [&](Operation *where, StringRef why) {
    ring.fault = where;
    ring.flaw = why.str();
  };
  for (Value tile : ring.put.getTiles()) {
    if (!tile.use_empty() && !tile.hasOneUse())
      return refuse(*tile.user_begin(),
                    "a tile that is put is filled by one "
                    "workgroup.copy or workgroup.gather, and used by "
                    "nothing else");
    for (OpOperand &use : tile.getUses()) {
      Operation *copy = use.getOwner();
      std::optional<CopyOperands> operands = getFillOperands(copy);
      if (!operands || use.get() != operands->target ||
          copy->getBlock() != ring.put->getBlock() ||
          !copy->isBeforeInBlock(ring.commit))
        return refuse(use.getOwner(),
                      "a tile that is put is filled by one "
                      "workgroup.copy or workgroup.gather before the "
                      "commit");
      if (StringRef why = getObstacle(copy); !why.empty())
        return refuse(copy, why);
      ring.copies.push_back(copy);
    }
  }
  llvm::sort(ring.copies, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
}

SpecializeOp Ring::getSpecialize() {
  auto op = put->getParentOfType<SpecializeOp>();
  bool isSplit = op && op.getProducer().isAncestor(put->getParentRegion()) &&
                 op.getConsumer().isAncestor(get->getParentRegion());
  return isSplit ? op : SpecializeOp();
}

/// True if both are there, and `second` comes behind `first` in its block.
static bool areInOrder(Operation *first, Operation *second) {
  return first && second && first->getBlock() == second->getBlock() &&
         first->isBeforeInBlock(second);
}

Ring matchRing(RingOp op) {
  Ring ring{op, getOnlyUser<PutOp>(op), getOnlyUser<CommitOp>(op),
            getOnlyUser<GetOp>(op), getOnlyUser<ReleaseOp>(op)};
  bool isSplit = ring.put && ring.get && ring.getSpecialize();
  if (!areInOrder(ring.put, ring.commit) ||
      !areInOrder(ring.get, ring.release) ||
      !(isSplit || areInOrder(ring.commit, ring.get))) {
    ring.flaw = "it is not put, committed, got and released once each, in "
                "this order in one block";
    return ring;
  }
  bool isOfPart = ring.put->getParentOfType<SpecializeOp>();
  if (isOfPart && !isSplit)
    ring.flaw = "it is used by some warps alone, both put and got";
  collectCopies(ring);
  return ring;
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// The reason why the copies of `ring` cannot be started in earlier iterations.
static std::string getObstacle(Ring &ring, const ArgumentAliases &aliases) {
  scf::ForOp loop = ring.getLoop();
  if (!loop)
    return "the ring is not used directly in the body of an scf.for";
  if (ring.getType().getSlots() < 2)
    return "the ring has one slot";
  if (ring.getType().getSlots() < ring.getLag() + 2)
    return "the ring has no slot more than are read at a time";
  GlobalWrites writes(loop);
  for (Operation *copy : ring.copies) {
    auto [source, tile] = *getFillOperands(copy);
    for (Value operand : copy->getOperands())
      if (operand != tile && !addToSlice(operand, loop, ring.slice))
        return "a source depends on more than the iteration";
    std::string why = getObstacleToReadAhead(writes, source, aliases);
    if (!why.empty())
      return why;
  }
  return "";
}

void findObstacle(Ring &ring, const ArgumentAliases &aliases,
                  KernelWrites &writes) {
  ring.obstacle = getObstacle(ring, aliases);
  Operation *where = ring.getLoop() ? ring.getLoop() : ring.put;
  for (Operation *copy : ring.copies)
    if (!ring.writer)
      ring.writer = writes.findWriterBefore(
          where, getFillOperands(copy)->source, aliases);
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

std::string getSlotsObstacle(int64_t slots) {
  constexpr int64_t kMaxSlots = 8;
  if (slots >= 1 && slots <= kMaxSlots)
    return "";
  return llvm::formatv("slots must be from 1 to {0}, not {1}", kMaxSlots, slots)
      .str();
}

std::string getProducersObstacle(int64_t producers) {
  constexpr int64_t kMost = 512;
  if (producers >= kWarpSize && producers % kWarpSize == 0 &&
      producers <= kMost)
    return "";
  return llvm::formatv("producers must be whole warps, up to {0} threads, not "
                       "{1} threads",
                       kMost, producers)
      .str();
}

} // namespace mlir::workgroup
