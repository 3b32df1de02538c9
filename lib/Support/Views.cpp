//===- Views.cpp - What views leave out -----------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Support/Views.h"

namespace mlir::workgroup {

llvm::SmallBitVector getDroppedDims(memref::SubViewOp view) {
  MemRefType whole = memref::SubViewOp::inferResultType(
      view.getSourceType(), view.getMixedOffsets(), view.getMixedSizes(),
      view.getMixedStrides());
  MemRefType type = view.getType();
  SmallVector<int64_t> from = whole.getStridesAndOffset().first;
  SmallVector<int64_t> to = type.getStridesAndOffset().first;
  // The first dimension that fits is as good as any: those between are of one
  // element, and left out.
  llvm::SmallBitVector dropped(whole.getRank());
  int64_t kept = 0;
  for (int64_t dim = 0; dim < whole.getRank(); ++dim) {
    bool isKept = kept < type.getRank() &&
                  whole.getDimSize(dim) == type.getDimSize(kept) &&
                  from[dim] == to[kept];
    kept += isKept;
    dropped[dim] = !isKept;
  }
  return dropped;
}

} // namespace mlir::workgroup
