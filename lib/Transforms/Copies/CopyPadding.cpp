//===- CopyPadding.cpp - Copies that fill ragged tiles --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyPadding.h"
#include "Analysis/Program/OpEffects.h"
#include "CopyShape.h"
#include "MemoryAccesses.h"
#include "Support/Remarks.h"
#include "Transforms/Utils/BufferViews.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::workgroup {

/// True if `op`, which tells of all its effects, does nothing to `buffer`.
static bool isApart(Operation *op, Value buffer) {
  std::optional<Accesses> accesses = getAccesses(op);
  auto isOther = [&](Value memref) { return !mayAlias(memref, buffer); };
  return accesses && isa<MemoryEffectOpInterface>(op) &&
         llvm::all_of(accesses->read, isOther) &&
         llvm::all_of(accesses->written, isOther);
}

/// True if what is done to the buffer that `fill` fills after that is `copy`.
static bool comesNext(const Copy &fill, const Copy &copy) {
  Operation *op = fill.op->getNextNode();
  while (op && op != copy.op &&
         (isTransparent(op) || isBlockBarrier(op) || isApart(op, fill.target)))
    op = op->getNextNode();
  return op == copy.op;
}

/// True if nothing is left of `fill` after `copy`.
static bool isOverwritten(const Copy &fill, const Copy &copy) {
  return fill.filling && !copy.filling &&
         isLeadingPart(copy.target, fill.target, /*isWhole=*/true) &&
         comesNext(fill, copy);
}

/// True if `fill` makes all of a buffer zero of which `copy`, next after it,
/// then writes a part at the start: together they fill a ragged tile.
static bool isPadding(const Copy &fill, const Copy &copy) {
  return fill.filling && fill.isCooperative && copy.mayBeAsync &&
         !copy.isPadded && !copy.gather && isZero(fill.filling) &&
         isLeadingPart(copy.target, fill.target, /*isWhole=*/false) &&
         comesNext(fill, copy);
}

/// Has `copy` fill what is ragged of the target of `fill`.
static void pad(Copy &copy, const Copy &fill) {
  copy.target = fill.target;
  copy.isPadded = true;
  if (std::exchange(copy.mayBeTensor, false))
    recordRemark(RemarkId::LowerCopies_NotTMA, copy.op)
        << remark::reason("TMA not used: the tile is ragged, and the copy "
                          "fills it with zeros");
}

/// Merges `copy` with a fill among `copies` before it. False if there is none.
static bool merge(std::vector<Copy> &copies, Copy &copy,
                  RewriterBase &rewriter) {
  // Those of other buffers that stand between them are few.
  constexpr size_t kMaxDistance = 8;
  size_t least = copies.size() - std::min(copies.size(), kMaxDistance);
  for (size_t i = copies.size(); i-- > least;) {
    const Copy &fill = copies[i];
    if (fill.op->getBlock() != copy.op->getBlock())
      return false;
    if (isOverwritten(fill, copy))
      recordRemark(RemarkId::LowerCopies_ErasedFill, fill.op)
          << "fill erased: a copy overwrites all of it";
    else if (isPadding(fill, copy))
      pad(copy, fill);
    else
      continue;
    rewriter.eraseOp(fill.op);
    copies.erase(copies.begin() + i);
    return true;
  }
  return false;
}

void mergePadding(std::vector<Copy> &copies, RewriterBase &rewriter) {
  std::vector<Copy> merged;
  for (Copy &copy : copies) {
    while (merge(merged, copy, rewriter)) {
    }
    merged.push_back(copy);
  }
  copies = std::move(merged);
}

} // namespace mlir::workgroup
