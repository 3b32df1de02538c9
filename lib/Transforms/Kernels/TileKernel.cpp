//===- TileKernel.cpp - Loops over blocks of kernels ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass works on the function of one kernel, step by step: recompute what no
// tile can hold, split sums that blocks are to share, tile the loops of the
// root (its last operation) and map the tiles to blocks, with the operations
// before it fused into the tile; then tile chained contractions by columns, and
// sums of contractions into steps. Upstream's
// `scf::tileConsumerAndFuseProducersUsingSCF` tiles and fuses.
//
//===----------------------------------------------------------------------===//

#include "BlockTiles.h"
#include "ChainSplit.h"
#include "ChainTiles.h"
#include "DefaultTiles.h"
#include "RecomputeOperands.h"
#include "SplitReduction.h"
#include "StreamEnd.h"
#include "Transforms/Linalg/TensorEncodings.h"
#include "Transforms/Linalg/TensorGenerics.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"
#include "workgroup/Transforms/Kernels.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_TILEKERNELPASS
#include "workgroup/Transforms/Kernels.h.inc"

namespace {

class KernelTiler {
public:
  KernelTiler(func::FuncOp function, TileKernelOptions options)
      : function(function), options(std::move(options)),
        rewriter(function.getContext()) {}

  LogicalResult run();

private:
  LogicalResult checkOptions(const KernelGroup &group);
  bool needsRecomputation(const KernelGroup &group) const;
  LogicalResult recompute(bool ofRows);
  LogicalResult split();
  LogicalResult splitChainOf(const KernelGroup &group);
  linalg::LinalgOp getRoot();
  Operation *getReturn() { return function.front().getTerminator(); }

  LogicalResult makeBlocks();
  void makeOneBlock();
  LogicalResult tileReductions();
  void eraseDeadOps();

  func::FuncOp function;
  TileKernelOptions options;
  IRRewriter rewriter;
  /// The loop over blocks that share the columns of a chain; null for others.
  scf::ForallOp parts;
};

} // namespace

linalg::LinalgOp KernelTiler::getRoot() {
  Operation *end = getReturn();
  return getTensorOp(end->getOperands().back().getDefiningOp());
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Checks what `option` gives for sizes along the loops of `op`, which blocks
/// share out.
static LogicalResult checkSizes(linalg::LinalgOp op, ArrayRef<int64_t> sizes,
                                StringRef option) {
  if (sizes.size() > op.getNumLoops())
    return op.emitOpError("has ")
           << op.getNumLoops() << " loops, but '" << option << "' gives "
           << sizes.size() << " sizes; give one for each loop at most";
  if (llvm::count_if(sizes, [](int64_t size) { return size != 0; }) >
      kMaxBlockDims)
    return op.emitOpError("would be shared out along more than ")
           << kMaxBlockDims << " loops; give some the size 0 in '" << option
           << "'";
  for (int64_t size : sizes)
    if (size < 0)
      return op.emitOpError("cannot be in tiles of ")
             << size << "; sizes in '" << option
             << "' are positive, or 0 for all";
  return success();
}

LogicalResult KernelTiler::checkOptions(const KernelGroup &group) {
  linalg::LinalgOp root = group.getRoot();
  if (failed(checkSizes(root, options.block, "block")))
    return failure();
  for (auto [loop, size] : llvm::enumerate(options.block)) {
    if (size == 0 || group.getRows()[loop])
      continue;
    bool isReduction =
        root.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
    return root.emitOpError("cannot share out its loop ")
           << loop << " to blocks: "
           << (isReduction ? "it is a sum"
                           : "operations of the kernel need all of it")
           << "; give it the size 0 in 'block'";
  }
  for (int64_t size : options.reduction)
    if (size < 0)
      return root.emitOpError("cannot be in tiles of ")
             << size << "; sizes in 'reduction' are positive, or 0 for all";
  if (options.columns < 0)
    return root.emitOpError("cannot be in tiles of ")
           << options.columns << "; 'columns' is positive, or 0 for all";
  if (options.stream < 0)
    return root.emitOpError("cannot be in tiles of ")
           << options.stream << "; 'stream' is positive, or 0 for whole rows";
  for (StringRef option : {"columns", "stream"})
    if ((option == "columns" ? options.columns : options.stream) != 0 &&
        !group.getChain())
      return root.emitOpError("belongs to a kernel without a contraction of "
                              "what another one makes; give no '")
             << option << "'";
  if (options.columns != 0 && options.stream != 0)
    return root.emitOpError("cannot both keep rows and go through them; give "
                            "no 'columns' or no 'stream'");
  return success();
}

//===----------------------------------------------------------------------===//
// Rows that no tile holds
//===----------------------------------------------------------------------===//

/// True if a block cannot keep what an element-wise operation makes for others,
/// as its size is not known.
bool KernelTiler::needsRecomputation(const KernelGroup &group) const {
  if (options.stream != 0)
    return false; // nothing keeps rows
  return options.recompute ||
         llvm::any_of(group.getOps(), [&](linalg::LinalgOp op) {
           if (op == group.getRoot() ||
               classify(op) != LinalgClass::Elementwise)
             return false;
           return llvm::any_of(
               llvm::zip_equal(group.getRowOf(op), op.getStaticLoopRanges()),
               [&](auto pair) {
                 auto [loop, size] = pair;
                 bool isRow = loop && group.getRows()[*loop];
                 return !isRow && ShapedType::isDynamic(size);
               });
         });
}

/// Lets readers of what generators make compute it for themselves and, if
/// `ofRows`, those of what element-wise operations make: this takes more passes
/// over what these read, but no memory.
LogicalResult KernelTiler::recompute(bool ofRows) {
  auto isRecomputed = [&](OpOperand &use) {
    linalg::LinalgOp producer = getTensorOp(use.get().getDefiningOp());
    linalg::LinalgOp consumer = getTensorOp(use.getOwner());
    if (!producer || !consumer || consumer.isDpsInit(&use))
      return false;
    LinalgClass from = classify(producer), to = classify(consumer);
    if (from == LinalgClass::Generator)
      return !isReadByTerms(consumer);
    return ofRows && from == LinalgClass::Elementwise &&
           to != LinalgClass::Contraction && to != LinalgClass::Window &&
           !llvm::is_contained(producer->getUsers(), getReturn());
  };
  if (!recomputeInputs(rewriter, function.front(), isRecomputed))
    return success();
  RewritePatternSet patterns(function.getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}

//===----------------------------------------------------------------------===//
// Sums that blocks share
//===----------------------------------------------------------------------===//

/// True if the kernel has nothing to do but to return what it starts from.
static bool isEmpty(const KernelGroup &group) {
  return llvm::any_of(group.getOps(), [](linalg::LinalgOp op) {
    return llvm::is_contained(op.getStaticLoopRanges(), 0);
  });
}

/// Splits the columns of chained contractions.
LogicalResult KernelTiler::splitChainOf(const KernelGroup &group) {
  const ContractionChain &chain = *group.getChain();
  linalg::LinalgOp second = chain.second;
  bool isRoot = second == group.getRoot();
  SmallVector<int64_t> sizes(options.split);
  if (failed(checkSizes(second, sizes, "split")))
    return failure();
  sizes.resize(second.getNumLoops());
  if (sizes[chain.secondSum] == 0)
    return second.emitOpError("has no parts of its sum, loop ")
           << chain.secondSum << ", in 'split'; give that a size";
  for (auto [loop, row] : llvm::enumerate(group.getRowOf(second)))
    if (loop != chain.secondSum && sizes[loop] != 0 &&
        !(row && group.getRows()[*row]))
      return second.emitOpError("cannot share out its loop ")
             << loop
             << " to blocks that share its sum: each needs all of it for what "
                "it has of a row; give it the size 0 in 'split'";
  SmallVector<int64_t> block(options.block);
  block.resize(group.getRoot().getNumLoops());
  ChainDims results = getResultDims(chain);
  FailureOr<scf::ForallOp> made =
      splitChain(rewriter, chain, sizes, options.stream, options.skipsMasked);
  if (failed(made))
    return failure();
  parts = *made;
  // The loops of what puts parts together are the dimensions of the result.
  if (isRoot)
    block =
        llvm::map_to_vector(results, [&](unsigned dim) { return block[dim]; });
  options.block = block;
  eraseDeadOps();
  return success();
}

LogicalResult KernelTiler::split() {
  KernelGroup group = groupOps(function.front()).front();
  if (llvm::all_of(options.split, [](int64_t size) { return size == 0; }) ||
      isEmpty(group))
    return success();
  if (group.getChain())
    return splitChainOf(group);
  linalg::LinalgOp sum = getSplittable(group);
  if (!sum)
    return group.getRoot().emitOpError(
        "belongs to a kernel that cannot be split: it has none or several "
        "sums, or one of which partial results cannot be put together, or of "
        "something that the kernel returns; give no 'split'");
  if (failed(checkSizes(sum, options.split, "split")))
    return failure();
  return splitReduction(rewriter, sum, options.split);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// A loop of one block around everything.
void KernelTiler::makeOneBlock() {
  Operation *end = getReturn();
  Location loc = getRoot().getLoc();
  SmallVector<Operation *> ops;
  for (Operation &op : function.front().without_terminator())
    if (getTensorOp(&op))
      ops.push_back(&op);
  auto results = llvm::to_vector(end->getOperands());
  auto destinations = llvm::map_to_vector(results, getDestination);
  rewriter.setInsertionPoint(end);
  auto blocks = scf::ForallOp::create(
      rewriter, loc, ArrayRef<OpFoldResult>{rewriter.getIndexAttr(1)},
      destinations, makeBlockMapping(rewriter, 1));
  for (Operation *op : ops)
    op->moveBefore(blocks.getTerminator());
  for (auto [destination, argument] :
       llvm::zip_equal(destinations, blocks.getRegionOutArgs()))
    rewriter.replaceUsesWithIf(destination, argument, [&](OpOperand &use) {
      return blocks->isProperAncestor(use.getOwner());
    });
  for (auto [result, argument, whole] : llvm::zip_equal(
           results, blocks.getRegionOutArgs(), blocks.getResults())) {
    rewriter.setInsertionPoint(blocks.getTerminator());
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, argument);
    SmallVector<OpFoldResult> zeros(sizes.size(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(sizes.size(), rewriter.getIndexAttr(1));
    rewriter.setInsertionPointToEnd(blocks.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(rewriter, loc, result, argument,
                                          zeros, sizes, ones);
    rewriter.replaceUsesWithIf(
        result, whole, [&](OpOperand &use) { return use.getOwner() == end; });
  }
}

/// Slices of slices, as producers are fused one after the other.
static FrozenRewritePatternSet getCleanupPatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, context);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  populateSliceStridePatterns(patterns);
  tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
  return FrozenRewritePatternSet(std::move(patterns));
}

/// Lets all that is put into a tile of a result of `blocks` be put into the
/// same tile. What is fused for several users becomes one operation by that.
static void shareDestinations(scf::ForallOp blocks) {
  auto isOnlyInit = [](OpOperand &use) {
    linalg::LinalgOp op = getTensorOp(use.getOwner());
    return op && op.isDpsInit(&use);
  };
  for (auto [whole, argument] :
       llvm::zip_equal(blocks.getOutputs(), blocks.getRegionOutArgs()))
    whole.replaceUsesWithIf(argument, [&](OpOperand &use) {
      auto tile = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
      return tile && blocks->isProperAncestor(tile) &&
             llvm::all_of(tile->getUses(), isOnlyInit);
    });
}

LogicalResult KernelTiler::makeBlocks() {
  linalg::LinalgOp root = getRoot();
  SmallVector<OpFoldResult> sizes(root.getNumLoops(), rewriter.getIndexAttr(0));
  unsigned numTiled = 0;
  for (auto [loop, size] : llvm::enumerate(options.block)) {
    int64_t extent = root.getStaticLoopRanges()[loop];
    bool isKnown = !ShapedType::isDynamic(extent) && extent > 0;
    sizes[loop] =
        rewriter.getIndexAttr(isKnown ? std::min(size, extent) : size);
    numTiled += size != 0;
  }
  if (numTiled == 0 || isEmpty(groupOps(function.front()).front())) {
    makeOneBlock();
    return success();
  }
  scf::SCFTilingOptions tiling;
  tiling.setTileSizes(sizes)
      .setLoopType(scf::SCFTilingOptions::LoopType::ForallOp)
      .setMapping(llvm::to_vector(makeBlockMapping(rewriter, numTiled)));
  Operation *end = getReturn();
  scf::SCFTileAndFuseOptions fusion;
  fusion.setTilingOptions(tiling);
  llvm::SmallPtrSet<Operation *, 4> yielded; // once, whoever else reads it
  fusion.setFusionControlFn(
      [&](tensor::ExtractSliceOp, OpResult producer, bool) {
        scf::SCFTileAndFuseOptions::ControlFnResult fused;
        fused.yieldProducerReplacement =
            llvm::is_contained(producer.getOwner()->getUsers(), end) &&
            yielded.insert(producer.getOwner()).second;
        return std::optional(fused);
      });
  fusion.cleanupPatterns = getCleanupPatterns(function.getContext());
  rewriter.setInsertionPoint(root);
  auto tiled = scf::tileConsumerAndFuseProducersUsingSCF(
      rewriter, cast<TilingInterface>(root.getOperation()), fusion);
  if (failed(tiled))
    return root.emitOpError("cannot be tiled; write it as a linalg.generic");
  shareDestinations(cast<scf::ForallOp>(tiled->loops.front()));
  for (auto [from, to] : tiled->replacements)
    rewriter.replaceUsesWithIf(
        from, to, [&](OpOperand &use) { return use.getOwner() == end; });
  return success();
}

/// Contractions and windows that go through their sums step by step.
LogicalResult KernelTiler::tileReductions() {
  SmallVector<linalg::LinalgOp> contractions;
  function.walk([&](linalg::LinalgOp op) {
    LinalgClass kind = classify(op);
    if (kind == LinalgClass::Contraction || kind == LinalgClass::Window)
      contractions.push_back(op);
  });
  for (linalg::LinalgOp op : contractions) {
    SmallVector<OpFoldResult> sizes(op.getNumLoops(), rewriter.getIndexAttr(0));
    SmallVector<unsigned> loops;
    op.getReductionDims(loops);
    for (auto [loop, size] : llvm::zip(loops, options.reduction)) {
      int64_t sum = op.getStaticLoopRanges()[loop];
      bool isOneStep =
          options.stream != 0 && !ShapedType::isDynamic(sum) && sum <= size;
      sizes[loop] = rewriter.getIndexAttr(isOneStep ? 0 : size);
    }
    if (llvm::all_of(sizes, isZeroInteger))
      continue;
    rewriter.setInsertionPoint(op);
    auto tiled =
        scf::tileUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()),
                          scf::SCFTilingOptions().setTileSizes(sizes));
    if (failed(tiled))
      return op.emitOpError("cannot go through its sums in steps; give no "
                            "sizes in 'reduction'");
    rewriter.replaceOp(op, tiled->replacements);
  }
  return success();
}

/// Erases what was tiled, and what only that used: bufferization would let the
/// host compute it. What is left of fusion inside of the loop still uses it.
void KernelTiler::eraseDeadOps() {
  // Sizes are asked of what was tiled as long as nobody knows better.
  RewritePatternSet patterns(function.getContext());
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  (void)applyPatternsGreedily(function, std::move(patterns));
  eraseUnusedOps(function);
  (void)runRegionDCE(rewriter, function->getRegions());
}

LogicalResult KernelTiler::run() {
  if (function.isDeclaration() || !function.getBody().hasOneBlock() ||
      getReturn()->getNumOperands() == 0)
    return success();
  std::vector<KernelGroup> groups = groupOps(function.front());
  if (groups.empty())
    return success(); // tiled already, or no kernel
  if (groups.size() > 1)
    return function.emitOpError("is not one kernel but ")
           << groups.size()
           << "; let workgroup-form-kernels make a function of each";
  const KernelGroup &group = groups.front();
  if (group.getRoot() != getRoot())
    return function.emitOpError(
        "does not return the result of its last operation last; let "
        "workgroup-form-kernels make it");
  if (options.defaultThreads)
    options = getDefaultTiles(group, options.defaultThreads);
  if (failed(checkOptions(group)) ||
      failed(recompute(needsRecomputation(group))) || failed(split()) ||
      failed(makeBlocks()))
    return failure();
  eraseDeadOps();
  DominanceInfo dominance;
  if (!parts)
    eliminateCommonSubExpressions(rewriter, dominance, function);
  // Tiles of one step of the parts are no others outside of the step.
  for (auto blocks : function.front().getOps<scf::ForallOp>())
    if (parts && blocks != parts)
      eliminateCommonSubExpressions(rewriter, dominance, blocks);
  if (!parts && failed(tileChain(rewriter, function, options)))
    return failure();
  if (options.stream != 0)
    eraseDeadOps();
  return tileReductions();
}

LogicalResult tileKernel(func::FuncOp function,
                         const TileKernelOptions &options) {
  if (failed(checkEncodings(function)))
    return failure();
  return KernelTiler(function, options).run();
}

namespace {

struct TileKernelPass : impl::TileKernelPassBase<TileKernelPass> {
  using TileKernelPassBase::TileKernelPassBase;

  void runOnOperation() override {
    TileKernelOptions options;
    llvm::append_range(options.block, block);
    llvm::append_range(options.reduction, reduction);
    llvm::append_range(options.split, split);
    options.columns = columns;
    options.stream = stream;
    options.skipsMasked = skipMasked;
    options.recompute = recompute;
    options.defaultThreads = defaultThreads;
    if (failed(tileKernel(getOperation(), options)))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
