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

#include "Analysis/Conflict/BlockRaces.h"
#include "Support/Remarks.h"
#include "TileOrder.h"
#include "Transforms/Copies/MemoryAccesses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Target/LaunchLimits.h"
#include "workgroup/Transforms/Rings.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_PERSISTGRIDPASS
#include "workgroup/Transforms/Rings.h.inc"

std::string getBlocksObstacle(int64_t blocks) {
  if (blocks >= 1 && blocks <= kMaxPersistentBlocks)
    return "";
  return llvm::formatv("persistent blocks must be from 1 to {0}, not {1}",
                       kMaxPersistentBlocks, blocks)
      .str();
}

namespace {
/// A kernel whose blocks are to go through tiles.
struct PersistentKernel {
  gpu::LaunchOp launch;
  SpecializeOp warps;
  int64_t numBlocks = 0;
  /// Of the grid along x, y and z, before.
  TileOrder::Place counts = {};
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

/// How many tiles blocks go through, at a place in front of their loop. Of a
/// number that only the launch knows it is seen that it is no more than 32 bits
/// take: as many tiles would fill more memory than there is, and a grid had no
/// more blocks.
static Value makeNumTiles(const PersistentKernel &kernel,
                          const TileOrder &order, IndexBuilder index) {
  OpFoldResult tiles = order.getNumTiles(index);
  if (!getConstantIntValue(tiles))
    tiles = index.create<arith::MinSIOp>(
        tiles, index.builder.getIndexAttr(kMaxGridSizes[0] - kernel.numBlocks));
  return index.value(tiles);
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
static void wrap(Region &region, const PersistentKernel &kernel,
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
  IndexBuilder index{rewriter, loc};
  TileOrder order(kernel.counts);
  Value numTiles = makeNumTiles(kernel, order, index);
  Value step = arith::ConstantIndexOp::create(rewriter, loc, kernel.numBlocks);
  auto loop =
      scf::ForOp::create(rewriter, loc, launch.getBlockIds().x, numTiles, step);
  rewriter.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> ids, counts;
  for (OpFoldResult id : order.getPlace(index, loop.getInductionVar()))
    ids.push_back(index.value(id));
  for (OpFoldResult count : kernel.counts)
    counts.push_back(index.value(count));
  for (Operation *op : ops)
    rewriter.moveOpBefore(op, loop.getBody()->getTerminator());
  replaceIds(ops, launch, ids, counts, rewriter);
}

/// Lets the blocks of a kernel go through its tiles.
static void apply(const PersistentKernel &kernel, RewriterBase &rewriter) {
  gpu::LaunchOp launch = kernel.launch;
  rewriter.setInsertionPoint(launch);
  IndexBuilder index{rewriter, launch.getLoc()};
  Value numBlocks = index.value(rewriter.getIndexAttr(kernel.numBlocks));
  Value one = index.value(rewriter.getIndexAttr(1));
  SpecializeOp warps = kernel.warps;
  for (Region *region : {&warps.getConsumer(), &warps.getProducer()})
    wrap(*region, kernel, rewriter);
  rewriter.modifyOpInPlace(launch, [&] {
    launch.getGridSizeXMutable().assign(numBlocks);
    launch.getGridSizeYMutable().assign(one);
    launch.getGridSizeZMutable().assign(one);
  });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Makes a kernel persistent, unless it is not proved then that its blocks
/// write different elements, and was before: whether it does.
static bool tryApply(PersistentKernel &kernel, const ArgumentAliases &arguments,
                     RewriterBase &rewriter) {
  gpu::LaunchOp before = kernel.launch;
  rewriter.setInsertionPoint(before);
  IRMapping copies;
  kernel.launch = cast<gpu::LaunchOp>(rewriter.clone(*before, copies));
  kernel.warps = cast<SpecializeOp>(copies.lookup(kernel.warps.getOperation()));
  apply(kernel, rewriter);
  size_t numRaces = countBlockRaces(kernel.launch, arguments);
  if (numRaces > 0 && numRaces > countBlockRaces(before, arguments)) {
    rewriter.eraseOp(std::exchange(kernel.launch, before));
    return false;
  }
  rewriter.replaceOp(before, kernel.launch);
  return true;
}

static void remarkNotPersistent(gpu::LaunchOp launch, StringRef why) {
  recordRemark(RemarkId::PersistGrid_NotPersistent, launch)
      << "blocks of a kernel have one tile each" << remark::reason("{0}", why);
}

static void remarkPersistent(const PersistentKernel &kernel) {
  auto remark = recordRemark(RemarkId::PersistGrid_Persistent, kernel.launch);
  remark << "blocks of a kernel go through several tiles"
         << remark::metric("Blocks", kernel.numBlocks);
  if (std::optional<int64_t> number = countTiles(kernel))
    remark << remark::metric("Tiles", *number);
}

void persistGrid(Operation *root, const PersistGridOptions &options) {
  SmallVector<PersistentKernel> kernels = collectGrids(root, options.blocks);
  ArgumentAliases arguments(root, options.assumeDistinctArguments);
  IRRewriter rewriter(root->getContext());
  for (PersistentKernel &kernel : kernels) {
    if (std::string why = describe(kernel); !why.empty()) {
      remarkNotPersistent(kernel.launch, why);
      continue;
    }
    if (tryApply(kernel, arguments, rewriter))
      remarkPersistent(kernel);
    else
      remarkNotPersistent(kernel.launch,
                          "it is not proved that blocks with several tiles "
                          "write different elements");
  }
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
    persistGrid(getOperation(), {blocks, assumeDistinctArguments});
  }
};
} // namespace

} // namespace mlir::workgroup
