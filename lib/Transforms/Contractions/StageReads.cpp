//===- StageReads.cpp - What a block reads more than once -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageReads.h"
#include "Support/Remarks.h"
#include "Support/Views.h"
#include "Transforms/Threads/TileLoops.h"
#include "Transforms/Utils/BufferTypes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

/// An extent below which reading across the order costs little.
static constexpr int64_t kShortExtent = 8;

/// So many windows that share an element are worth a copy of it.
static constexpr int64_t kFewWindows = 3;

namespace {

/// A tile that goes to workgroup memory.
struct StagedTile {
  memref::SubViewOp tile;
  SmallVector<int64_t> extents; // the largest ones
  int64_t bytes;
  StringRef reason;
};

} // namespace

/// The largest extents of `tile`; nothing if one of them has no bound.
static std::optional<SmallVector<int64_t>> getExtents(memref::SubViewOp tile) {
  SmallVector<int64_t> extents;
  llvm::SmallBitVector dropped = getDroppedDims(tile);
  for (auto [dim, size] : llvm::enumerate(tile.getMixedSizes())) {
    if (dropped[dim])
      continue;
    std::optional<int64_t> bound = getUpperBound(size);
    if (!bound || *bound <= 0)
      return std::nullopt;
    extents.push_back(*bound);
  }
  return extents;
}

static std::optional<int64_t> getBytes(MemRefType type,
                                       ArrayRef<int64_t> extents) {
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8)
    return std::nullopt;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  for (int64_t extent : extents)
    if (llvm::MulOverflow(bytes, extent, bytes))
      return std::nullopt;
  return bytes;
}

/// The operations of the block that read `tile`; none if anything else is done
/// to it.
static SmallVector<linalg::LinalgOp> getReaders(memref::SubViewOp tile) {
  SmallVector<linalg::LinalgOp> readers;
  for (OpOperand &use : tile->getUses()) {
    auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!reader || !reader.isDpsInput(&use) ||
        reader->getBlock() != tile->getBlock())
      return {};
    if (!llvm::is_contained(readers, reader))
      readers.push_back(reader);
  }
  return readers;
}

/// True if `op` sums up, or the like, along a dimension of `tile`.
static bool reduces(linalg::LinalgOp op, Value tile) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return input->get() == tile &&
           llvm::any_of(map.getResults(), [&](AffineExpr index) {
             auto dim = dyn_cast<AffineDimExpr>(index);
             return dim &&
                    kinds[dim.getPosition()] == utils::IteratorType::reduction;
           });
  });
}

/// True if neighbours in the result of `op` are no neighbours in `tile`, and
/// there are enough of both.
static bool readsAcross(linalg::LinalgOp op, Value tile,
                        ArrayRef<int64_t> extents) {
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (op.getNumReductionLoops() || written.getNumResults() == 0)
    return false;
  auto fastest = dyn_cast<AffineDimExpr>(written.getResults().back());
  return fastest && llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *in) {
           if (in->get() != tile)
             return false;
           ArrayRef<AffineExpr> indices =
               op.getMatchingIndexingMap(in).getResults();
           const auto *it = llvm::find(indices, fastest);
           return it != indices.end() && it != std::prev(indices.end()) &&
                  extents[it - indices.begin()] >= kShortExtent &&
                  extents.back() >= kShortExtent;
         });
}

/// True if `op` reads `tile`, of `extents`, in windows that share most of their
/// elements, as a depthwise convolution or a pooling does.
static bool readsWindows(linalg::LinalgOp op, Value tile,
                         ArrayRef<int64_t> extents) {
  if (op.getNumReductionLoops() == 0)
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (input->get() != tile || map.isProjectedPermutation())
      return false;
    int64_t reads = 1, elements = llvm::product_of(extents);
    for (auto [loop, range] : llvm::enumerate(ranges))
      if (map.isFunctionOfDim(loop) && (ShapedType::isDynamic(range) ||
                                        llvm::MulOverflow(reads, range, reads)))
        return false;
    return reads / kFewWindows >= elements;
  });
}

/// All that the operations of `loop` may write to; nothing if that is not
/// known.
static std::optional<SmallVector<Value>> getWritten(scf::ForallOp loop) {
  SmallVector<Value> written;
  WalkResult result = loop.getBody()->walk([&](Operation *op) {
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    if (!interface)
      return WalkResult(
          success(isMemoryEffectFree(op) || isa<scf::InParallelOp>(op) ||
                  op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()));
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects<MemoryEffects::Write>(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      if (!effect.getValue())
        return WalkResult::interrupt();
      written.push_back(effect.getValue());
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return written;
}

/// Why `tile` is worth staging; empty if it is not.
static StringRef getReason(memref::SubViewOp tile, ArrayRef<int64_t> extents) {
  SmallVector<linalg::LinalgOp> readers = getReaders(tile);
  auto isReduced = [&](linalg::LinalgOp op) { return reduces(op, tile); };
  if (readers.size() > 1 && llvm::any_of(readers, isReduced))
    return "is reduced and read again";
  if (llvm::any_of(readers, [&](linalg::LinalgOp op) {
        return readsAcross(op, tile, extents);
      }))
    return "is read across the order of the result";
  if (llvm::any_of(readers, [&](linalg::LinalgOp op) {
        return readsWindows(op, tile, extents);
      }))
    return "is read in windows that overlap";
  return "";
}

static std::optional<StagedTile> findStaged(memref::SubViewOp tile,
                                            ArrayRef<Value> written,
                                            const ArgumentAliases &aliases) {
  MemRefType type = tile.getType();
  if (type.getMemorySpace() || type.getRank() == 0 ||
      getRootBuffer(tile).getParentBlock() == tile->getBlock() ||
      llvm::any_of(written, [&](Value target) {
        return aliases.mayAlias(tile, target);
      }))
    return std::nullopt;
  std::optional<SmallVector<int64_t>> extents = getExtents(tile);
  if (!extents)
    return std::nullopt;
  std::optional<int64_t> bytes = getBytes(type, *extents);
  StringRef reason = bytes ? getReason(tile, *extents) : "";
  if (reason.empty())
    return std::nullopt;
  return StagedTile{tile, std::move(*extents), *bytes, reason};
}

static void stage(const StagedTile &staged) {
  memref::SubViewOp tile = staged.tile;
  OpBuilder builder(tile.getContext());
  builder.setInsertionPointAfter(tile);
  Location loc = tile.getLoc();
  MemRefType type = tile.getType();
  auto bufferType = MemRefType::get(staged.extents, type.getElementType(),
                                    MemRefLayoutAttrInterface(),
                                    getWorkgroupSpace(tile.getContext()));
  Value buffer = memref::AllocOp::create(
      builder, loc, bufferType, builder.getI64IntegerAttr(kMinBufferAlignment));
  Value copy = buffer;
  if (!type.hasStaticShape()) {
    SmallVector<OpFoldResult> sizes;
    llvm::SmallBitVector dropped = getDroppedDims(tile);
    for (auto [dim, size] : llvm::enumerate(tile.getMixedSizes()))
      if (!dropped[dim])
        sizes.push_back(size);
    SmallVector<OpFoldResult> zeros(sizes.size(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(sizes.size(), builder.getIndexAttr(1));
    copy = memref::SubViewOp::create(builder, loc, buffer, zeros, sizes, ones);
  }
  auto copyOp = memref::CopyOp::create(builder, loc, tile, copy);
  tile.getResult().replaceAllUsesExcept(copy, copyOp);
  recordRemark(RemarkId::StageOperands_StagedTile, tile)
      << "a tile is copied to workgroup memory once: it " << staged.reason
      << remark::metric("Bytes", staged.bytes);
}

/// The bytes of what a block of `loop` allocates; nothing if that is not known.
static std::optional<int64_t> getAllocatedBytes(scf::ForallOp loop) {
  int64_t total = 0;
  WalkResult result = loop.walk([&](memref::AllocOp op) {
    std::optional<int64_t> span = getBufferSpan(op);
    std::optional<int64_t> bytes =
        span ? getBytes(op.getType(), *span) : std::nullopt;
    return WalkResult(
        success(bytes && !llvm::AddOverflow(total, *bytes, total)));
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return total;
}

void stageReads(Operation *scope, const ArgumentAliases &aliases,
                int64_t maxBytes) {
  for (scf::ForallOp loop : collectBlockLoops(scope)) {
    std::optional<SmallVector<Value>> written = getWritten(loop);
    std::optional<int64_t> allocated = getAllocatedBytes(loop);
    if (!written || !allocated)
      continue;
    SmallVector<StagedTile> tiles;
    int64_t left = maxBytes - *allocated;
    for (auto tile : loop.getOps<memref::SubViewOp>())
      if (std::optional<StagedTile> staged =
              findStaged(tile, *written, aliases))
        if (staged->bytes <= left) {
          left -= staged->bytes;
          tiles.push_back(std::move(*staged));
        }
    for (const StagedTile &staged : tiles)
      stage(staged);
  }
}

} // namespace mlir::workgroup
