//===- KeptBuffers.cpp - Tiles that a block keeps -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptBuffers.h"
#include "Transforms/Threads/BlockBuffers.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::workgroup {

Value KeptBuffers::makeTile(RewriterBase &rewriter, Value view,
                            ArrayRef<int64_t> shape, Operation *user) {
  memref::SubViewOp tile = makeRoom(rewriter, view, shape, user);
  if (!tile)
    return nullptr;
  whole.insert(tile.getSource().getDefiningOp());
  return tile;
}

namespace {

/// The dimension of an operand that is summed up.
struct SumDim {
  int64_t dim;
  /// Elements that are there, and past the last tile.
  int64_t kept, past;
};

} // namespace

/// The sums of `view`, at `offsets` of its buffer, in tiles of `shape`; nothing
/// if it is not known how many there are.
static std::optional<SumDim> findSums(Value view, int64_t dim,
                                      OpFoldResult offset, int64_t size,
                                      linalg::LinalgOp op, Operation *root) {
  if (root == op) {
    int64_t kept = cast<MemRefType>(view.getType()).getDimSize(dim);
    if (!isZeroInteger(offset) || ShapedType::isDynamic(kept))
      return std::nullopt;
    return SumDim{dim, kept, size};
  }
  auto loop = dyn_cast<scf::ForOp>(root);
  if (!loop || op->getParentOp() != root ||
      offset != OpFoldResult(loop.getInductionVar()) ||
      !isZeroInteger(OpFoldResult(loop.getLowerBound())) ||
      getConstantIntValue(loop.getStep()) != size)
    return std::nullopt;
  std::optional<int64_t> kept = getConstantIntValue(loop.getUpperBound());
  if (!kept)
    return std::nullopt;
  return SumDim{dim, *kept, int64_t(llvm::alignTo(*kept, size))};
}

/// Puts zeros behind the sums in `buffer`, for tiles of `shape`.
static void clear(RewriterBase &rewriter, Value buffer, const SumDim &sums,
                  ArrayRef<int64_t> shape, Operation *root) {
  Location loc = root->getLoc();
  rewriter.setInsertionPoint(root);
  SmallVector<OpFoldResult> offsets(shape.size(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(shape.size(), rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(rewriter.getContext(), shape);
  offsets[sums.dim] = rewriter.getIndexAttr(sums.kept);
  sizes[sums.dim] = rewriter.getIndexAttr(sums.past - sums.kept);
  Value padding =
      memref::SubViewOp::create(rewriter, loc, buffer, offsets, sizes, ones);
  Value zero = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(getElementTypeOrSelf(buffer)));
  linalg::FillOp::create(rewriter, loc, zero, padding);
}

Value KeptBuffers::findTile(RewriterBase &rewriter, Contraction &contraction,
                            OpOperand *operand, ArrayRef<int64_t> shape,
                            Operation *root) {
  linalg::LinalgOp op = contraction.op;
  Value view = operand->get();
  SmallVector<OpFoldResult> offsets;
  memref::AllocOp alloc = findBlockBuffer(view, offsets);
  if (!alloc || !contraction.isZeroNeutral)
    return nullptr;
  bool isWhole = whole.contains(alloc);
  AffineMap map = contraction.getMap(operand);
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  std::optional<SumDim> sums;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    bool isSum =
        kinds[map.getDimPosition(dim)] == utils::IteratorType::reduction;
    // Rows that nobody has written are not read.
    if (!isSum && !(isZeroInteger(offsets[dim]) &&
                    (isWhole ||
                     size == cast<MemRefType>(view.getType()).getDimSize(dim))))
      return nullptr;
    if (!isSum)
      continue;
    if (sums)
      return nullptr;
    sums = findSums(view, dim, offsets[dim], size, op, root);
    if (!sums)
      return nullptr;
  }
  memref::SubViewOp tile =
      sums ? makeRoom(rewriter, view, shape, op) : memref::SubViewOp();
  if (!tile)
    return nullptr;
  Value buffer = tile.getSource();
  if (isWhole)
    whole.insert(buffer.getDefiningOp());
  if (sums->kept < sums->past)
    clear(rewriter, buffer, *sums, shape, root);
  return tile;
}

} // namespace mlir::workgroup
