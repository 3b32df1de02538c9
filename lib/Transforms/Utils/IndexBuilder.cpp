//===- IndexBuilder.cpp - Folding index arithmetic ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexBuilder.h"

namespace mlir::workgroup {

static OpFoldResult getBlockSize(IndexBuilder &index, const BlockShape &block,
                                 gpu::Dimension dim) {
  if (std::optional<int64_t> size = block.sizes[static_cast<unsigned>(dim)])
    return index.builder.getIndexAttr(*size);
  return gpu::BlockDimOp::create(index.builder, index.loc, dim).getResult();
}

OpFoldResult IndexBuilder::threadId(const BlockShape &block) {
  // x + size.x * (y + size.y * z), without the dimensions of size one.
  OpFoldResult linear = builder.getIndexAttr(0);
  for (gpu::Dimension dim :
       {gpu::Dimension::z, gpu::Dimension::y, gpu::Dimension::x}) {
    if (block.sizes[static_cast<unsigned>(dim)] == 1)
      continue;
    OpFoldResult extent = getBlockSize(*this, block, dim);
    Value id = gpu::ThreadIdOp::create(builder, loc, dim);
    linear = add(mul(linear, extent), id);
  }
  return linear;
}

OpFoldResult IndexBuilder::numThreads(const BlockShape &block) {
  OpFoldResult product = builder.getIndexAttr(1);
  for (gpu::Dimension dim :
       {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z})
    product = mul(product, getBlockSize(*this, block, dim));
  return product;
}

} // namespace mlir::workgroup
