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
#include "Support/Remarks.h"

namespace mlir::workgroup {

/// True if `copy` comes next after `fill`.
static bool comesNext(const Copy &fill, const Copy &copy) {
  Operation *op = fill.op->getNextNode();
  while (op && op != copy.op && (isTransparent(op) || isBlockBarrier(op)))
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
         !copy.isPadded && isZero(fill.filling) &&
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

void mergePadding(std::vector<Copy> &copies, RewriterBase &rewriter) {
  std::vector<Copy> merged;
  for (Copy &copy : copies) {
    while (!merged.empty() && isOverwritten(merged.back(), copy)) {
      recordRemark(RemarkId::LowerCopies_ErasedFill, merged.back().op)
          << "fill erased: a copy overwrites all of it";
      rewriter.eraseOp(merged.back().op);
      merged.pop_back();
    }
    if (!merged.empty() && isPadding(merged.back(), copy)) {
      pad(copy, merged.back());
      rewriter.eraseOp(merged.back().op);
      merged.pop_back();
    }
    merged.push_back(copy);
  }
  copies = std::move(merged);
}

} // namespace mlir::workgroup
