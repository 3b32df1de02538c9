//===- MapLoops.cpp - Parallel loops to blocks and threads ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If an iteration is the work of one thread, blocks get tiles of the loop, and
// threads the iterations of a tile. Otherwise each iteration is a block: loops
// in it go to its threads where their iterations are the work of one,
// structured operations are left to workgroup-map-to-threads, and what is
// stored besides is stored by one thread.
//
//===----------------------------------------------------------------------===//

#include "Support/BlockLoops.h"
#include "ThreadLoops.h"
#include "Transforms/Loops/HostLoops.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Transforms/Threads.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_MAPLOOPSPASS
#include "workgroup/Transforms/Threads.h.inc"

namespace {

class LoopMapper {
public:
  LoopMapper(IRRewriter &rewriter, ArrayRef<int64_t> sizes)
      : rewriter(rewriter), sizes(sizes) {}

  LogicalResult map(scf::ForallOp loop);

private:
  void mapPoints(scf::ForallOp loop);
  LogicalResult mapTile(scf::ForallOp loop);
  LogicalResult shareOut(Region &region);
  LogicalResult shareOut(Operation *op);
  void mapToThreads(scf::ForallOp loop);
  void shareOutToThreads(scf::ForallOp loop, ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> extents);
  LogicalResult storeOnce(Operation *op);
  bool isOfEachThread(Value memory) const;

  IRRewriter &rewriter;
  ArrayRef<int64_t> sizes;
  scf::ForallOp tile;
};

} // namespace

//===----------------------------------------------------------------------===//
// Forms of loops
//===----------------------------------------------------------------------===//

/// `op`, which has no results, as an `scf.forall`.
static scf::ForallOp makeForall(IRRewriter &rewriter, Operation *op) {
  auto parallel = dyn_cast<scf::ParallelOp>(op);
  if (!parallel)
    return cast<scf::ForallOp>(op);
  rewriter.setInsertionPoint(parallel);
  auto forall = scf::ForallOp::create(
      rewriter, parallel.getLoc(), getAsOpFoldResult(parallel.getLowerBound()),
      getAsOpFoldResult(parallel.getUpperBound()),
      getAsOpFoldResult(parallel.getStep()), ValueRange(), std::nullopt);
  rewriter.eraseOp(parallel.getBody()->getTerminator());
  rewriter.inlineBlockBefore(parallel.getBody(),
                             forall.getBody()->getTerminator(),
                             forall.getInductionVars());
  rewriter.eraseOp(parallel);
  return forall;
}

/// Puts the body of `loop`, whose induction variables are `ivs`, to where
/// `rewriter` stands.
static void moveBody(IRRewriter &rewriter, scf::ForallOp loop, ValueRange ivs) {
  rewriter.eraseOp(loop.getBody()->getTerminator());
  rewriter.inlineBlockBefore(loop.getBody(), rewriter.getInsertionBlock(),
                             rewriter.getInsertionPoint(), ivs);
}

/// The numbers of iterations of `loop`, negative ones for none.
static SmallVector<OpFoldResult> countIterations(IRRewriter &rewriter,
                                                 scf::ForallOp loop) {
  Location loc = loop.getLoc();
  SmallVector<OpFoldResult> counts;
  for (auto [count, lower, upper, step] :
       llvm::zip_equal(getStaticCounts(loop), loop.getMixedLowerBound(),
                       loop.getMixedUpperBound(), loop.getMixedStep())) {
    if (count) {
      counts.push_back(rewriter.getIndexAttr(*count));
      continue;
    }
    Value number = getValueOrCreateConstantIndexOp(rewriter, loc, upper);
    if (!isZeroInteger(lower))
      number = arith::SubIOp::create(
          rewriter, loc, number,
          getValueOrCreateConstantIndexOp(rewriter, loc, lower));
    if (!isOneInteger(step))
      number = arith::CeilDivSIOp::create(
          rewriter, loc, number,
          getValueOrCreateConstantIndexOp(rewriter, loc, step));
    counts.push_back(number);
  }
  return counts;
}

/// The value of the induction variable in iteration `first` + `more`.
static Value getIndex(OpBuilder &builder, Location loc, OpFoldResult lower,
                      OpFoldResult step, OpFoldResult first, Value more) {
  auto get = [&](OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(builder, loc, value);
  };
  Value index = more;
  if (!isZeroInteger(first))
    index = arith::AddIOp::create(builder, loc, get(first), index);
  if (!isOneInteger(step))
    index = arith::MulIOp::create(builder, loc, index, get(step));
  if (!isZeroInteger(lower))
    index = arith::AddIOp::create(builder, loc, get(lower), index);
  return index;
}

static ArrayAttr makeLinearBlocks(Builder &builder, unsigned numDims) {
  auto first = static_cast<unsigned>(gpu::MappingId::LinearDim0);
  SmallVector<Attribute> mapping;
  for (unsigned dim = numDims; dim-- > 0;)
    mapping.push_back(gpu::GPUBlockMappingAttr::get(
        builder.getContext(), static_cast<gpu::MappingId>(first + dim)));
  return builder.getArrayAttr(mapping);
}

/// Takes what a thread allocates from its stack.
static void useStack(IRRewriter &rewriter, Operation *loop) {
  SmallVector<memref::AllocOp> allocs;
  loop->walk([&](memref::AllocOp op) {
    if (!op.getType().getMemorySpace())
      allocs.push_back(op);
  });
  for (memref::AllocOp op : allocs) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      if (isa<memref::DeallocOp>(user))
        rewriter.eraseOp(user);
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<memref::AllocaOp>(
        op, op.getType(), op.getDynamicSizes(), op.getSymbolOperands(),
        op.getAlignmentAttr());
  }
}

/// Makes sequential loops of the parallel ones in `loop`.
static void serializeInside(IRRewriter &rewriter, Operation *loop) {
  SmallVector<Operation *> inner;
  loop->walk([&](Operation *op) { // the innermost first
    if (op != loop && isUnmappedLoop(op))
      inner.push_back(op);
  });
  for (Operation *op : inner)
    serialize(rewriter, op);
}

//===----------------------------------------------------------------------===//
// Iterations that are the work of a thread
//===----------------------------------------------------------------------===//

/// A loop over tiles of `sizes`, 0 for all of a dimension, mapped to blocks.
static scf::ForallOp makeBlocks(IRRewriter &rewriter, Location loc,
                                ArrayRef<OpFoldResult> counts,
                                ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> first, past, steps;
  for (auto [count, size] : llvm::zip_equal(counts, sizes)) {
    if (size == 0)
      continue;
    first.push_back(rewriter.getIndexAttr(0));
    past.push_back(count);
    steps.push_back(rewriter.getIndexAttr(size));
  }
  if (first.empty()) {
    first.push_back(rewriter.getIndexAttr(0));
    past.push_back(rewriter.getIndexAttr(1));
    steps.push_back(rewriter.getIndexAttr(1));
  }
  return scf::ForallOp::create(rewriter, loc, first, past, steps, ValueRange(),
                               makeLinearBlocks(rewriter, first.size()));
}

/// The iterations of a tile of `size`, 0 for all, that begins at `offset`.
static OpFoldResult getExtent(IRRewriter &rewriter, Location loc,
                              OpFoldResult count, int64_t size,
                              OpFoldResult offset) {
  std::optional<int64_t> known = getConstantIntValue(count);
  if (size == 0)
    return count;
  if (known && *known % size == 0)
    return rewriter.getIndexAttr(size);
  AffineExpr first, past;
  bindDims(rewriter.getContext(), first, past);
  auto map =
      AffineMap::get(2, 0, {rewriter.getAffineConstantExpr(size), past - first},
                     rewriter.getContext());
  return affine::makeComposedFoldedAffineMin(rewriter, loc, map,
                                             {offset, count});
}

/// Puts a loop over threads where `rewriter` stands, of `extents` iterations of
/// `loop` from `offsets` on.
void LoopMapper::shareOutToThreads(scf::ForallOp loop,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> extents) {
  Location loc = loop.getLoc();
  SmallVector<OpFoldResult> lower = loop.getMixedLowerBound(),
                            step = loop.getMixedStep();
  createThreadLoop(rewriter, loc, extents, [&](ValueRange ivs) {
    SmallVector<Value> indices;
    for (auto [dim, iv] : llvm::enumerate(ivs))
      indices.push_back(
          getIndex(rewriter, loc, lower[dim], step[dim], offsets[dim], iv));
    moveBody(rewriter, loop, indices);
  });
  rewriter.eraseOp(loop);
}

void LoopMapper::mapPoints(scf::ForallOp loop) {
  Location loc = loop.getLoc();
  useStack(rewriter, loop);
  rewriter.setInsertionPoint(loop);
  SmallVector<OpFoldResult> counts = countIterations(rewriter, loop);
  SmallVector<int64_t> tiles(sizes);
  tiles.resize(counts.size(), 0);
  scf::ForallOp blocks = makeBlocks(rewriter, loc, counts, tiles);
  rewriter.setInsertionPointToStart(blocks.getBody());
  SmallVector<OpFoldResult> offsets, extents;
  SmallVector<Value> ids = blocks.getInductionVars();
  auto next = ids.begin();
  for (auto [count, size] : llvm::zip_equal(counts, tiles)) {
    offsets.push_back(rewriter.getIndexAttr(0));
    if (size)
      offsets.back() = *next++;
    extents.push_back(getExtent(rewriter, loc, count, size, offsets.back()));
  }
  shareOutToThreads(loop, offsets, extents);
}

//===----------------------------------------------------------------------===//
// Iterations that are the work of a block
//===----------------------------------------------------------------------===//

/// Gives the iterations of `loop` to threads.
void LoopMapper::mapToThreads(scf::ForallOp loop) {
  serializeInside(rewriter, loop);
  useStack(rewriter, loop);
  rewriter.setInsertionPoint(loop);
  SmallVector<OpFoldResult> counts = countIterations(rewriter, loop);
  SmallVector<OpFoldResult> offsets(counts.size(), rewriter.getIndexAttr(0));
  shareOutToThreads(loop, offsets, counts);
}

/// True if each thread of the block has `memory` for itself.
bool LoopMapper::isOfEachThread(Value memory) const {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  Operation *alloca = memory.getDefiningOp<memref::AllocaOp>();
  return alloca && tile->isProperAncestor(alloca);
}

/// Lets one thread do `op` if all would write the same memory by it.
LogicalResult LoopMapper::storeOnce(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return success();
  SmallVector<MemoryEffects::EffectInstance> writes;
  effects.getEffects(writes);
  bool isShared =
      llvm::any_of(writes, [&](const MemoryEffects::EffectInstance &effect) {
        Value memory = effect.getValue();
        return isa<MemoryEffects::Write>(effect.getEffect()) && memory &&
               isa<BaseMemRefType>(memory.getType()) && !isOfEachThread(memory);
      });
  if (!isShared)
    return success();
  if (!op->use_empty())
    return op->emitOpError("writes memory, and hands a value to all threads of "
                           "a block; put it in an scf.forall");
  rewriter.setInsertionPoint(op);
  createThreadLoop(rewriter, op->getLoc(), {}, [&](ValueRange) {
    rewriter.moveOpBefore(op, rewriter.getInsertionBlock(),
                          rewriter.getInsertionPoint());
  });
  return success();
}

LogicalResult LoopMapper::shareOut(Operation *op) {
  if (isa<linalg::LinalgOp, memref::CopyOp>(op))
    return success();
  if (!isUnmappedLoop(op)) {
    for (Region &region : op->getRegions())
      if (failed(shareOut(region)))
        return failure();
    return op->getNumRegions() ? success() : storeOnce(op);
  }
  if (op->getNumResults() == 0 && !hasStructuredWork(op)) {
    mapToThreads(makeForall(rewriter, op));
    return success();
  }
  // What is in it is of the block.
  Block *block = op->getBlock();
  Operation *before = op->getPrevNode();
  serialize(rewriter, op);
  Operation *next = before ? before->getNextNode() : &block->front();
  for (; !isa<scf::ForOp>(next); next = next->getNextNode())
    continue;
  return shareOut(next->getRegion(0));
}

LogicalResult LoopMapper::shareOut(Region &region) {
  for (Block &block : region)
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(shareOut(&op)))
        return failure();
  return success();
}

/// Takes from memory that threads share what operations for several threads
/// are on.
static void shareStacks(IRRewriter &rewriter, scf::ForallOp tile) {
  SmallVector<memref::AllocaOp> allocas;
  auto isShared = [&](auto &self, Value memory, Operation *alloca) -> bool {
    return llvm::any_of(memory.getUsers(), [&](Operation *user) {
      if (isa<linalg::LinalgOp, memref::CopyOp>(user))
        return true;
      for (Operation *around = user->getParentOp();
           around != alloca->getParentOp(); around = around->getParentOp())
        if (isUnmappedLoop(around))
          return true;
      auto view = dyn_cast<ViewLikeOpInterface>(user);
      return view && view.getViewSource() == memory &&
             self(self, user->getResult(0), alloca);
    });
  };
  tile.walk([&](memref::AllocaOp op) {
    bool isOfLoop = op->getParentOfType<scf::ForallOp>() == tile &&
                    !op->getParentOfType<scf::ParallelOp>();
    if (isOfLoop && !op.getType().getMemorySpace() &&
        isShared(isShared, op, op))
      allocas.push_back(op);
  });
  for (memref::AllocaOp op : allocas) {
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<memref::AllocOp>(
        op, op.getType(), op.getDynamicSizes(), op.getSymbolOperands(),
        op.getAlignmentAttr());
  }
}

LogicalResult LoopMapper::mapTile(scf::ForallOp loop) {
  tile = loop;
  shareStacks(rewriter, loop);
  if (failed(shareOut(loop.getRegion())))
    return failure();
  loop.setMappingAttr(makeLinearBlocks(rewriter, loop.getRank()));
  return success();
}

LogicalResult LoopMapper::map(scf::ForallOp loop) {
  if (!isWorkOfThreads(loop))
    return mapTile(loop);
  mapPoints(loop);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult checkMappable(Operation *loop, ArrayRef<int64_t> sizes) {
  auto isTensor = llvm::IsaPred<TensorType>;
  if (llvm::any_of(loop->getResultTypes(), isTensor))
    return loop->emitOpError("has results of tensors, which blocks cannot put "
                             "together; bufferize it");
  if (loop->getNumResults())
    return loop->emitOpError(
        "has results, which blocks would have to combine; run "
        "workgroup-serialize-loops, or store what each iteration has");
  constexpr unsigned kMaxDims = 10;
  unsigned rank = getNumDims(loop);
  if (rank == 0 || rank > kMaxDims)
    return loop->emitOpError("has ")
           << rank << " dimensions, but blocks have from 1 to " << kMaxDims
           << "; make a loop of some of them";
  if (sizes.size() > rank)
    return loop->emitOpError("has ")
           << rank << " dimensions, but 'block' gives " << sizes.size()
           << " sizes; give one for each at most";
  for (int64_t size : sizes)
    if (size < 0)
      return loop->emitOpError("cannot be in tiles of ")
             << size << "; sizes in 'block' are positive, or 0 for all";
  return success();
}

LogicalResult mapLoops(Operation *root, const MapLoopsOptions &options) {
  SmallVector<Operation *> loops = collectHostLoops(root);
  for (Operation *loop : loops)
    if (failed(checkMappable(loop, options.block)))
      return failure();
  IRRewriter rewriter(root->getContext());
  for (Operation *loop : loops)
    if (failed(LoopMapper(rewriter, options.block)
                   .map(makeForall(rewriter, loop))))
      return failure();
  return success();
}

namespace {

struct MapLoopsPass : impl::MapLoopsPassBase<MapLoopsPass> {
  using MapLoopsPassBase::MapLoopsPassBase;

  void runOnOperation() override {
    if (failed(mapLoops(getOperation(), {llvm::to_vector(block)})))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
