//===- PersistGrid.cpp - Blocks that go through several tiles -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What was a block is a tile now, and a block goes through the tiles that are
// as many apart as there are blocks. Producers and consumers each have a loop
// of their own: so the ones fill slots for the next tile while the others store
// the sums of this one.
//
//===----------------------------------------------------------------------===//

#include "Support/Remarks.h"
#include "Transforms/Copies/MemoryAccesses.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms/Rings.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_PERSISTGRIDPASS
#include "workgroup/Transforms/Rings.h.inc"

/// Rows of tiles that are gone through together, column by column, or about as
/// many: what blocks read at a time is of few rows and few columns then, and
/// stays in the cache.
constexpr int64_t kGroupRows = 8;

std::string getBlocksObstacle(int64_t blocks) {
  constexpr int64_t kMost = 65535;
  if (blocks >= 1 && blocks <= kMost)
    return "";
  return llvm::formatv("persistent blocks must be from 1 to {0}, not {1}",
                       kMost, blocks)
      .str();
}

namespace {
/// A kernel whose blocks are to go through tiles.
struct PersistentKernel {
  gpu::LaunchOp launch;
  SpecializeOp warps;
  int64_t numBlocks = 0;
  /// Of the grid along x, y and z, before.
  std::array<OpFoldResult, 3> counts = {};
};
} // namespace

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// True if blocks go through tiles already.
static bool isPersistent(gpu::LaunchOp launch) {
  return launch.getBody()
      .walk([&](scf::ForOp loop) {
        return loop.getLowerBound() == launch.getBlockIds().x
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The kernels whose rings, or `numBlocks` unless 0, ask for it.
static SmallVector<PersistentKernel> collectGrids(Operation *root,
                                                  int64_t numBlocks) {
  SmallVector<PersistentKernel> kernels;
  root->walk([&](gpu::LaunchOp launch) {
    PersistentKernel kernel{launch, /*warps=*/{}, numBlocks};
    for (Operation &op : launch.getBody().front()) {
      if (auto warps = dyn_cast<SpecializeOp>(op))
        kernel.warps = warps;
      auto ring = dyn_cast<RingOp>(op);
      if (ring && numBlocks == 0)
        kernel.numBlocks =
            std::max<int64_t>(kernel.numBlocks, ring.getBlocks().value_or(0));
    }
    if (kernel.warps && kernel.numBlocks > 0 && !isPersistent(launch))
      kernels.push_back(kernel);
  });
  return kernels;
}

/// True for an operation that may tell blocks apart, and is not followed: other
/// ids, functions and assembly.
static bool isOtherId(Operation *op) {
  if (isa<CallOpInterface, LLVM::InlineAsmOp, NVVM::InlinePtxOp>(op))
    return true;
  bool isKnown = isa<gpu::ThreadIdOp, gpu::BlockDimOp, gpu::BlockIdOp,
                     gpu::GridDimOp, gpu::LaneIdOp, gpu::SubgroupIdOp,
                     gpu::NumSubgroupsOp, gpu::SubgroupSizeOp, RingOp>(op);
  return op->getNumOperands() == 0 && op->getNumRegions() == 0 &&
         op->getNumResults() != 0 && !op->hasTrait<OpTrait::ConstantLike>() &&
         !isKnown && !isa<memref::AllocaOp, memref::AllocOp>(op);
}

/// The number of all tiles; nothing if only the launch knows it.
static std::optional<int64_t> countTiles(const PersistentKernel &kernel) {
  int64_t total = 1;
  for (OpFoldResult count : kernel.counts) {
    std::optional<int64_t> number = getConstantIntValue(count);
    if (!number || *number < 0 || llvm::MulOverflow(total, *number, total))
      return std::nullopt;
  }
  return total;
}

/// Why `kernel` stays as it is; empty if it need not.
static std::string describe(PersistentKernel &kernel) {
  gpu::LaunchOp launch = kernel.launch;
  gpu::KernelDim3 sizes = launch.getGridSizeOperandValues();
  kernel.counts = {getAsOpFoldResult(sizes.x), getAsOpFoldResult(sizes.y),
                   getAsOpFoldResult(sizes.z)};
  if (launch.hasClusterSize())
    return "blocks are in clusters";
  for (Operation &op : launch.getBody().front()) {
    bool isApart =
        isa<RingOp, SpecializeOp, memref::AllocOp, gpu::TerminatorOp>(op) ||
        op.hasTrait<OpTrait::ConstantLike>();
    if (!isApart)
      return nameInRemark(&op) + " is for all warps";
  }
  std::string why;
  launch.getBody().walk([&](Operation *op) {
    if (why.empty() && isOtherId(op))
      why = nameInRemark(op) + " may tell blocks apart";
  });
  std::optional<int64_t> tiles = countTiles(kernel);
  if (why.empty() && tiles && *tiles <= kernel.numBlocks)
    return llvm::formatv("{0} tiles are no more than blocks", *tiles).str();
  return why;
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

/// The height of groups of rows. All are as high, so that whoever proves that
/// blocks differ in their tiles has divisors that do not vary: about as high as
/// wanted or, where that does not come out even, a row or all of them.
static int64_t chooseHeight(const std::array<OpFoldResult, 3> &counts) {
  std::optional<int64_t> columns = getConstantIntValue(counts[0]);
  std::optional<int64_t> rows = getConstantIntValue(counts[1]);
  if (!rows)
    return 1;
  if (*rows <= kGroupRows)
    return *rows;
  for (int64_t gap = 0; gap <= kGroupRows / 2; ++gap)
    for (int64_t height : {kGroupRows + gap, kGroupRows - gap})
      if (*rows % height == 0)
        return height;
  return columns && *columns > *rows ? *rows : 1;
}

/// The place along x, y and z of a tile by its number: groups of rows are gone
/// through column by column.
static std::array<OpFoldResult, 3>
makePlace(IndexBuilder index, OpFoldResult tile,
          const std::array<OpFoldResult, 3> &counts) {
  OpFoldResult most = index.builder.getIndexAttr(chooseHeight(counts));
  OpFoldResult groups = index.div(counts[1], most);
  OpFoldResult row = index.rem(tile, most), rest = index.div(tile, most);
  bool isLast =
      getConstantIntValue(counts[2]) == 1 && getConstantIntValue(groups) == 1;
  OpFoldResult column = isLast ? rest : index.rem(rest, counts[0]);
  OpFoldResult number =
      isLast ? index.builder.getIndexAttr(0) : index.div(rest, counts[0]);
  if (getConstantIntValue(counts[2]) == 1)
    return {column, index.add(index.mul(number, most), row),
            index.builder.getIndexAttr(0)};
  return {column, index.add(index.mul(index.rem(number, groups), most), row),
          index.div(number, groups)};
}

/// Replaces ids of blocks in `ops` by `ids`, and sizes of the grid by `counts`.
static void replaceIds(ArrayRef<Operation *> ops, gpu::LaunchOp launch,
                       ValueRange ids, ValueRange counts,
                       RewriterBase &rewriter) {
  auto isInside = [&](OpOperand &use) {
    return llvm::any_of(
        ops, [&](Operation *op) { return op->isAncestor(use.getOwner()); });
  };
  gpu::KernelDim3 blocks = launch.getBlockIds(), grid = launch.getGridSize();
  Value oldIds[] = {blocks.x, blocks.y, blocks.z};
  Value oldCounts[] = {grid.x, grid.y, grid.z};
  for (unsigned dim = 0; dim < 3; ++dim) {
    rewriter.replaceUsesWithIf(oldIds[dim], ids[dim], isInside);
    rewriter.replaceUsesWithIf(oldCounts[dim], counts[dim], isInside);
  }
  SmallVector<Operation *> queries;
  for (Operation *op : ops)
    op->walk([&](Operation *inner) {
      if (isa<gpu::BlockIdOp, gpu::GridDimOp>(inner))
        queries.push_back(inner);
    });
  for (Operation *op : queries)
    if (auto id = dyn_cast<gpu::BlockIdOp>(op))
      rewriter.replaceOp(id, ids[unsigned(id.getDimension())]);
    else if (auto size = dyn_cast<gpu::GridDimOp>(op))
      rewriter.replaceOp(size, counts[unsigned(size.getDimension())]);
}

/// Lets the warps that execute `region` go through all tiles of their block.
static void wrap(Region &region, const PersistentKernel &kernel, Value numTiles,
                 RewriterBase &rewriter) {
  if (region.empty())
    return;
  Block &block = region.front();
  gpu::LaunchOp launch = kernel.launch;
  Location loc = launch.getLoc();
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  // What stores of all tiles are waited for by stays behind the loop.
  if (isa_and_nonnull<NVVM::CpAsyncBulkWaitGroupOp>(ops.back()))
    rewriter.setInsertionPoint(ops.pop_back_val());
  else
    rewriter.setInsertionPointToEnd(&block);
  // As many as there are blocks, or more than tiles.
  Value step = arith::ConstantIndexOp::create(rewriter, loc, kernel.numBlocks);
  auto loop =
      scf::ForOp::create(rewriter, loc, launch.getBlockIds().x, numTiles, step);
  rewriter.setInsertionPointToStart(loop.getBody());
  IndexBuilder index{rewriter, loop.getLoc()};
  SmallVector<Value> ids, counts;
  for (OpFoldResult id :
       makePlace(index, loop.getInductionVar(), kernel.counts))
    ids.push_back(index.value(id));
  for (OpFoldResult count : kernel.counts)
    counts.push_back(index.value(count));
  for (Operation *op : ops)
    rewriter.moveOpBefore(op, loop.getBody()->getTerminator());
  replaceIds(ops, launch, ids, counts, rewriter);
}

static void apply(const PersistentKernel &kernel, RewriterBase &rewriter) {
  gpu::LaunchOp launch = kernel.launch;
  Location loc = launch.getLoc();
  rewriter.setInsertionPoint(launch);
  IndexBuilder index{rewriter, loc};
  OpFoldResult tiles = rewriter.getIndexAttr(1);
  for (OpFoldResult count : kernel.counts)
    tiles = index.mul(tiles, count);
  auto remark = recordRemark(RemarkId::PersistGrid_Persistent, launch);
  remark << "blocks of a kernel go through several tiles"
         << remark::metric("Blocks", kernel.numBlocks);
  if (std::optional<int64_t> number = getConstantIntValue(tiles))
    remark << remark::metric("Tiles", *number);
  OpFoldResult blocks = rewriter.getIndexAttr(kernel.numBlocks);
  if (!getConstantIntValue(tiles))
    blocks = index.create<arith::MinUIOp>(tiles, blocks);
  Value numTiles = index.value(tiles), numBlocks = index.value(blocks);
  Value one = index.value(rewriter.getIndexAttr(1));
  SpecializeOp warps = kernel.warps;
  for (Region *region : {&warps.getConsumer(), &warps.getProducer()})
    wrap(*region, kernel, numTiles, rewriter);
  rewriter.modifyOpInPlace(launch, [&] {
    launch.getGridSizeXMutable().assign(numBlocks);
    launch.getGridSizeYMutable().assign(one);
    launch.getGridSizeZMutable().assign(one);
  });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void persistGrid(Operation *root, int64_t blocks) {
  SmallVector<PersistentKernel> kernels = collectGrids(root, blocks);
  llvm::erase_if(kernels, [&](PersistentKernel &kernel) {
    std::string why = describe(kernel);
    if (!why.empty())
      recordRemark(RemarkId::PersistGrid_NotPersistent, kernel.launch)
          << "blocks of a kernel have one tile each"
          << remark::reason("{0}", why);
    return !why.empty();
  });
  IRRewriter rewriter(root->getContext());
  for (const PersistentKernel &kernel : kernels)
    apply(kernel, rewriter);
}

namespace {
struct PersistGridPass final : impl::PersistGridPassBase<PersistGridPass> {
  using PersistGridPassBase::PersistGridPassBase;

  void runOnOperation() override {
    std::string why = blocks == 0 ? "" : getBlocksObstacle(blocks);
    if (!why.empty()) {
      getOperation()->emitError() << why;
      return signalPassFailure();
    }
    persistGrid(getOperation(), blocks);
  }
};
} // namespace

} // namespace mlir::workgroup
