//===- BlockBuffers.cpp - Buffers that blocks make for themselves ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockBuffers.h"
#include "Target/BankConflicts.h"
#include "TileLoops.h"
#include "Transforms/Utils/BufferTypes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

bool takesAnyLayout(Value buffer) {
  return llvm::all_of(buffer.getUsers(), [](Operation *user) {
    if (auto slice = dyn_cast<memref::SubViewOp>(user))
      return takesAnyLayout(slice);
    return isa<linalg::LinalgOp, memref::CopyOp, memref::LoadOp,
               memref::StoreOp, memref::DimOp, memref::DeallocOp>(user);
  });
}

void updateSlices(RewriterBase &rewriter, Value buffer) {
  for (Operation *user : buffer.getUsers()) {
    auto slice = dyn_cast<memref::SubViewOp>(user);
    if (!slice)
      continue;
    MemRefType type = memref::SubViewOp::inferRankReducedResultType(
        slice.getType().getShape(), cast<MemRefType>(buffer.getType()),
        slice.getMixedOffsets(), slice.getMixedSizes(),
        slice.getMixedStrides());
    rewriter.modifyOpInPlace(slice, [&] { slice.getResult().setType(type); });
    updateSlices(rewriter, slice);
  }
}

//===----------------------------------------------------------------------===//
// Room for whole tiles
//===----------------------------------------------------------------------===//

static std::optional<int64_t> getLargest(OpFoldResult offset) {
  if (std::optional<int64_t> constant = getConstantIntValue(offset))
    return constant;
  auto iteration = dyn_cast<BlockArgument>(cast<Value>(offset));
  auto loop = iteration
                  ? dyn_cast<scf::ForOp>(iteration.getOwner()->getParentOp())
                  : nullptr;
  if (!loop || iteration != loop.getInductionVar())
    return std::nullopt;
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> past = getConstantIntValue(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!first || !past || !step || *step <= 0 || *past <= *first)
    return std::nullopt;
  return *first + (*past - 1 - *first) / *step * *step;
}

memref::AllocOp findBlockBuffer(Value view,
                                SmallVectorImpl<OpFoldResult> &offsets) {
  int64_t rank = cast<MemRefType>(view.getType()).getRank();
  offsets.assign(rank, Builder(view.getContext()).getIndexAttr(0));
  while (auto slice = view.getDefiningOp<memref::SubViewOp>()) {
    bool isMoved = !areAllConstantIntValue(slice.getMixedOffsets(), 0);
    if (slice.getSourceType().getRank() != rank ||
        !areAllConstantIntValue(slice.getMixedStrides(), 1) ||
        (isMoved && !areAllConstantIntValue(offsets, 0)))
      return nullptr;
    if (isMoved)
      offsets = slice.getMixedOffsets();
    view = slice.getSource();
  }
  auto alloc = view.getDefiningOp<memref::AllocOp>();
  return alloc && !alloc.getType().getMemorySpace() &&
                 alloc.getType().getLayout().isIdentity() &&
                 isInBlockLoop(alloc)
             ? alloc
             : nullptr;
}

/// The elements from one row of `size` elements to the next, of which two side
/// by side are in different halves of the memory's banks: threads that store
/// vectors of both at once do not wait for each other.
static int64_t getPitch(int64_t size, int64_t elementBytes) {
  int64_t bytes = llvm::alignTo(size * elementBytes, kPassBytes / 2);
  if (bytes % kPassBytes == 0)
    bytes += kPassBytes / 2;
  return bytes / elementBytes;
}

/// The extents of `alloc` with room for tiles of `shape` at `offsets`.
static std::optional<SmallVector<int64_t>>
getExtents(memref::AllocOp alloc, ArrayRef<OpFoldResult> offsets,
           ArrayRef<int64_t> shape) {
  SmallVector<int64_t> extents;
  for (auto [size, offset, extent] :
       llvm::zip_equal(alloc.getMixedSizes(), offsets, shape)) {
    std::optional<int64_t> bound = getUpperBound(size);
    std::optional<int64_t> largest = getLargest(offset);
    if (!bound || !largest)
      return std::nullopt;
    extents.push_back(std::max(*bound, *largest + extent));
  }
  int64_t bits = alloc.getType().getElementTypeBitWidth();
  if (!extents.empty() && bits >= 8)
    extents.back() = getPitch(extents.back(), bits / 8);
  return extents;
}

Value enlarge(RewriterBase &rewriter, memref::AllocOp alloc, MemRefType type) {
  if (alloc.getType() == type)
    return alloc;
  Location loc = alloc.getLoc();
  rewriter.setInsertionPoint(alloc);
  Value whole =
      memref::AllocOp::create(rewriter, loc, type, alloc.getAlignmentAttr());
  SmallVector<OpFoldResult> zeros(type.getRank(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(type.getRank(), rewriter.getIndexAttr(1));
  Value part = memref::SubViewOp::create(rewriter, loc, whole, zeros,
                                         alloc.getMixedSizes(), ones);
  rewriter.replaceAllUsesWith(alloc, part);
  rewriter.eraseOp(alloc);
  updateSlices(rewriter, part);
  return whole;
}

memref::SubViewOp makeRoom(RewriterBase &rewriter, Value view,
                           ArrayRef<int64_t> shape, Operation *user) {
  SmallVector<OpFoldResult> offsets;
  memref::AllocOp alloc = findBlockBuffer(view, offsets);
  if (!alloc || !takesAnyLayout(alloc))
    return nullptr;
  std::optional<SmallVector<int64_t>> extents =
      getExtents(alloc, offsets, shape);
  if (!extents)
    return nullptr;
  Location loc = alloc.getLoc();
  Type element = alloc.getType().getElementType();
  Value whole = enlarge(rewriter, alloc, MemRefType::get(*extents, element));
  rewriter.setInsertionPoint(user);
  SmallVector<OpFoldResult> ones(shape.size(), rewriter.getIndexAttr(1));
  return memref::SubViewOp::create(
      rewriter, loc, whole, offsets,
      getAsIndexOpFoldResult(rewriter.getContext(), shape), ones);
}

} // namespace mlir::workgroup
