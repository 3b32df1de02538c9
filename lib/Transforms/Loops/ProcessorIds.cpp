//===- ProcessorIds.cpp - Ids of blocks, warps, lanes and threads ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessorIds.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

bool ProcessorGrid::hasDimensions(ProcessorLevel level) const {
  if (level == ProcessorLevel::Warps)
    return block.sizes[0] && *block.sizes[0] % kWarpSize == 0;
  return level == ProcessorLevel::Blocks || level == ProcessorLevel::Threads;
}

std::optional<int64_t> ProcessorGrid::getCount(ProcessorLevel level,
                                               unsigned dim) const {
  if (level == ProcessorLevel::Blocks)
    return grid[dim];
  std::optional<int64_t> count = block.sizes[dim];
  if (count && level == ProcessorLevel::Warps && dim == 0)
    return *count / kWarpSize;
  return count;
}

std::optional<int64_t>
ProcessorGrid::getLinearCount(ProcessorLevel level) const {
  int64_t product = 1;
  for (unsigned dim = 0; dim < 3; ++dim) {
    auto size = level == ProcessorLevel::Blocks ? grid[dim] : block.sizes[dim];
    if (!size || llvm::MulOverflow(product, *size, product))
      return std::nullopt;
  }
  if (level == ProcessorLevel::Warps)
    return llvm::divideCeil(product, kWarpSize);
  if (level != ProcessorLevel::Lanes)
    return product;
  // The last warp may have fewer lanes than the others.
  bool isWhole = product % kWarpSize == 0 || product < kWarpSize;
  return isWhole ? std::optional(std::min(product, kWarpSize)) : std::nullopt;
}

OpFoldResult ProcessorGrid::makeId(OpBuilder &builder, Location loc,
                                   bool isOfGrid, unsigned dim) const {
  auto along = static_cast<gpu::Dimension>(dim);
  if ((isOfGrid ? grid[dim] : block.sizes[dim]) == 1)
    return builder.getIndexAttr(0);
  if (isOfGrid)
    return gpu::BlockIdOp::create(builder, loc, along).getResult();
  return gpu::ThreadIdOp::create(builder, loc, along).getResult();
}

OpFoldResult ProcessorGrid::makeCount(OpBuilder &builder, Location loc,
                                      bool isOfGrid, unsigned dim) const {
  auto along = static_cast<gpu::Dimension>(dim);
  if (auto size = isOfGrid ? grid[dim] : block.sizes[dim])
    return builder.getIndexAttr(*size);
  if (isOfGrid)
    return gpu::GridDimOp::create(builder, loc, along).getResult();
  return gpu::BlockDimOp::create(builder, loc, along).getResult();
}

/// x + size.x * (y + size.y * z) of size.x * size.y * size.z.
Processor ProcessorGrid::getAll(OpBuilder &builder, Location loc,
                                bool isOfGrid) const {
  SignedIndexBuilder index{builder, loc};
  Processor all{builder.getIndexAttr(0), builder.getIndexAttr(1)};
  for (unsigned dim = 3; dim-- > 0;) {
    OpFoldResult id = makeId(builder, loc, isOfGrid, dim);
    OpFoldResult count = makeCount(builder, loc, isOfGrid, dim);
    all.id = isConstantIntValue(all.id, 0)
                 ? id
                 : index.add(index.multiply(all.id, count), id);
    all.count = index.multiply(all.count, count);
  }
  return all;
}

OpFoldResult ProcessorGrid::getId(OpBuilder &builder, Location loc,
                                  ProcessorLevel level, unsigned dim) const {
  OpFoldResult id = makeId(builder, loc, level == ProcessorLevel::Blocks, dim);
  if (level != ProcessorLevel::Warps || dim != 0)
    return id;
  SignedIndexBuilder index{builder, loc};
  return index.divide(id, builder.getIndexAttr(kWarpSize));
}

Processor ProcessorGrid::get(OpBuilder &builder, Location loc,
                             ProcessorLevel level, unsigned dim) const {
  OpFoldResult id = getId(builder, loc, level, dim);
  if (auto count = getCount(level, dim))
    return {id, builder.getIndexAttr(*count)};
  // Of warps, only the number of rows may not be known.
  return {id, makeCount(builder, loc, level == ProcessorLevel::Blocks, dim)};
}

Processor ProcessorGrid::getLinear(OpBuilder &builder, Location loc,
                                   ProcessorLevel level) const {
  SignedIndexBuilder index{builder, loc};
  Processor all = getAll(builder, loc, level == ProcessorLevel::Blocks);
  OpFoldResult size = builder.getIndexAttr(kWarpSize);
  if (level == ProcessorLevel::Warps)
    return {index.divide(all.id, size), index.divideUp(all.count, size)};
  if (level != ProcessorLevel::Lanes)
    return all;
  OpFoldResult lane = index.remainder(all.id, size);
  if (auto count = getLinearCount(level))
    return {lane, builder.getIndexAttr(*count)};
  // The lanes that the warp has.
  OpFoldResult behind = index.subtract(all.count, index.subtract(all.id, lane));
  return {lane, index.minimum(size, behind)};
}

} // namespace mlir::workgroup
