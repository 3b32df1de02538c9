//===- Views.cpp - What views leave out -----------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Views.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::workgroup {

/// The strides of `view` before dimensions are left out. Upstream infers no
/// type of a view that steps by zero.
static SmallVector<int64_t> getStrides(memref::SubViewOp view) {
  SmallVector<int64_t> strides =
      view.getSourceType().getStridesAndOffset().first;
  for (auto [stride, step] :
       llvm::zip_equal(strides, view.getStaticStrides())) {
    auto product =
        SaturatedInteger::wrap(stride) * SaturatedInteger::wrap(step);
    stride = product.asInteger();
  }
  return strides;
}

llvm::SmallBitVector getDroppedDims(memref::SubViewOp view) {
  MemRefType type = view.getType();
  ArrayRef<int64_t> sizes = view.getStaticSizes();
  SmallVector<int64_t> from = getStrides(view);
  SmallVector<int64_t> to = type.getStridesAndOffset().first;
  // The first dimension that fits is as good as any: those between are of one
  // element, and left out.
  llvm::SmallBitVector dropped(sizes.size());
  int64_t kept = 0;
  for (int64_t dim = 0; dim < int64_t(sizes.size()); ++dim) {
    bool isKept = kept < type.getRank() &&
                  sizes[dim] == type.getDimSize(kept) && from[dim] == to[kept];
    kept += isKept;
    dropped[dim] = !isKept;
  }
  return dropped;
}

} // namespace mlir::workgroup
