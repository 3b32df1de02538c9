//===- CopyPadding.cpp - Copies that fill ragged tiles --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyPadding.h"
#include "CopyShape.h"
#include "workgroup/Support/Barriers.h"

namespace mlir::workgroup {

/// True if `fill` makes all of a buffer zero of which `copy`, next after it,
/// then writes a part at the start: together they fill a ragged tile.
static bool isPadding(const Copy &fill, const Copy &copy) {
  if (!fill.filling || !fill.isCooperative || !copy.mayBeAsync ||
      copy.isPadded || !isZero(fill.filling) ||
      !isLeadingPart(copy.target, fill.target, /*isWhole=*/false))
    return false;
  Operation *op = fill.op->getNextNode();
  while (op && op != copy.op && (isFreeOfAccesses(op) || isBlockBarrier(op)))
    op = op->getNextNode();
  return op == copy.op;
}

void mergePadding(std::vector<Copy> &copies, RewriterBase &rewriter) {
  std::vector<Copy> merged;
  for (Copy &copy : copies) {
    if (!merged.empty() && isPadding(merged.back(), copy)) {
      copy.target = merged.back().target;
      copy.isPadded = true;
      copy.mayBeTensor = false;
      rewriter.eraseOp(merged.back().op);
      merged.pop_back();
    }
    merged.push_back(copy);
  }
  copies = std::move(merged);
}

} // namespace mlir::workgroup
