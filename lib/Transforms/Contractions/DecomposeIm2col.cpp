//===- DecomposeIm2col.cpp - Convolutions to contractions of tiles --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution is the product of a matrix of filters with one that has, for
// each result, the window of the image that it is computed of. That matrix is
// larger than the image by the size of the filter. Here a block gathers the
// tile of it that it is going to multiply next, when the convolution is in
// tiles already: slices of the image were taken by the convolution's own maps,
// and are right for any sizes of tiles. (A tile of the matrix itself, whose
// indices are divided into those of the image, is no slice of the image.)
//
//===----------------------------------------------------------------------===//

#include "BlockContractions.h"
#include "SumLoops.h"
#include "Support/Remarks.h"
#include "Transforms/Utils/BufferViews.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "WindowMatrices.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Transforms/Contractions.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_DECOMPOSEIM2COLPASS
#include "workgroup/Transforms/Contractions.h.inc"

namespace {

/// A convolution of a block, and the tile of its image's windows.
struct Convolution {
  linalg::LinalgOp op;
  /// What is read in windows, and what it is multiplied with.
  OpOperand *image = nullptr, *filter = nullptr;
  /// The loops around that go on adding, or the convolution.
  Operation *root = nullptr;
  TileSizes tile = {};
  /// The loops of more than one iteration along the dimensions of the tile.
  SmallVector<unsigned> loops = {};

  AffineMap getMap(OpOperand *operand) {
    return op.getMatchingIndexingMap(operand);
  }
  bool isSum(unsigned loop) {
    return op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
  }
  MemRefType getTileType();
};

} // namespace

MemRefType Convolution::getTileType() {
  SmallVector<int64_t> shape;
  for (unsigned loop : loops)
    shape.push_back(tile.sizes[loop]);
  return MemRefType::get(shape, getElementTypeOrSelf(image->get()),
                         MemRefLayoutAttrInterface(),
                         getWorkgroupSpace(op.getContext()));
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// True if `op` reads an operand in windows, as sums of loops.
static bool hasWindows(linalg::LinalgOp op) {
  return op.getNumReductionLoops() > 0 && op.getNumDpsInits() == 1 &&
         op.hasPureBufferSemantics() &&
         llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           return !op.getMatchingIndexingMap(input).isProjectedPermutation();
         });
}

/// Finds the image and the filter. Returns why there are none, or empty.
static std::string findOperands(Convolution &convolution) {
  linalg::LinalgOp op = convolution.op;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(input->get().getType());
    if (!type || type.getRank() == 0)
      continue;
    bool isWindow = !convolution.getMap(input).isProjectedPermutation();
    OpOperand *&operand = isWindow ? convolution.image : convolution.filter;
    if (operand)
      return "it has more than an image and a filter";
    operand = input;
  }
  if (!convolution.filter || !convolution.image)
    return "it does not multiply windows of one operand with another";
  if (!convolution.getMap(op.getDpsInitOperand(0)).isProjectedPermutation())
    return "it writes its result otherwise than element by element";
  for (OpOperand &operand : op->getOpOperands())
    if (Type type = getElementTypeOrSelf(operand.get()); !isDenseElement(type))
      return llvm::formatv("vectors of {0} are not in memory as its elements",
                           type)
          .str();
  if (op.hasIndexSemantics())
    return "its body asks for the numbers of its iterations";
  Contraction contraction{op, convolution.image, convolution.filter};
  std::string why = describeBody(contraction);
  if (why.empty() && !contraction.isZeroNeutral)
    why = "its body does not sum up products";
  return why;
}

/// Finds the loops along the dimensions of the tile: those of the results and
/// those of the sum, of which those go last that go along the last dimension of
/// the image, so that neighbours stay neighbours. Returns why there is no tile,
/// or empty.
static std::string findLoops(Convolution &convolution) {
  AffineMap ofImage = convolution.getMap(convolution.image);
  AffineMap ofFilter = convolution.getMap(convolution.filter);
  SmallVector<unsigned> results, sums;
  bool hasFeatures = false;
  for (unsigned loop = 0; loop < ofImage.getNumDims(); ++loop) {
    if (convolution.tile.sizes[loop] == 1 || convolution.isSum(loop))
      continue;
    bool isOfFilter = ofFilter.isFunctionOfDim(loop);
    hasFeatures |= isOfFilter;
    if (isOfFilter == ofImage.isFunctionOfDim(loop))
      return llvm::formatv("its loop {0} of {1} iterations is one of {2} "
                           "operands; let blocks share it out, by tiles of "
                           "size 1",
                           loop, convolution.tile.sizes[loop],
                           isOfFilter ? "both" : "no")
          .str();
  }
  for (AffineExpr place : ofImage.getResults())
    for (unsigned loop = 0; loop < ofImage.getNumDims(); ++loop)
      if (place.isFunctionOfDim(loop) && convolution.tile.sizes[loop] != 1) {
        SmallVector<unsigned> &group = convolution.isSum(loop) ? sums : results;
        if (!llvm::is_contained(group, loop))
          group.push_back(loop);
      }
  if (results.empty() || !hasFeatures || sums.empty())
    return "it has one pixel, one feature or one product at a time only";
  AffineExpr last = ofImage.getResults().back();
  bool isAlongResults = llvm::any_of(
      results, [&](unsigned loop) { return last.isFunctionOfDim(loop); });
  convolution.loops = isAlongResults ? sums : results;
  llvm::append_range(convolution.loops, isAlongResults ? results : sums);
  return "";
}

static std::string decide(Convolution &convolution,
                          const ArgumentAliases &aliases) {
  linalg::LinalgOp op = convolution.op;
  std::string why = findOperands(convolution);
  if (why.empty())
    why = findTileSizes(op, convolution.tile);
  if (why.empty())
    why = findLoops(convolution);
  if (!why.empty())
    return why;
  convolution.root = findSumLoops(op);
  Value image = convolution.image->get();
  if (getMemorySpace(image) == MemorySpace::Private)
    return "each thread has an image of its own";
  if (!cast<MemRefType>(image.getType()).isStrided())
    return "the layout of its image has no strides";
  if (aliases.mayAlias(image, op.getDpsInits()[0]))
    return "its result may be the memory of its image; say that arguments are "
           "distinct by llvm.noalias or the option assume-distinct-arguments";
  return "";
}

//===----------------------------------------------------------------------===//
// Apply: one loop over the sums
//===----------------------------------------------------------------------===//

/// The iterations of `loop`, which starts from zero in constant steps, at the
/// insertion point; nothing if it does not, or they are not known there.
static std::optional<OpFoldResult>
countIterations(scf::ForOp loop, scf::ForOp outermost, IndexBuilder &index) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!loop.getInductionVar().getType().isIndex() || !step ||
      getConstantIntValue(loop.getLowerBound()) != 0 ||
      !outermost.isDefinedOutsideOfLoop(loop.getUpperBound()))
    return std::nullopt;
  OpFoldResult end = getAsOpFoldResult(loop.getUpperBound());
  Builder &builder = index.builder;
  return index.div(index.add(end, builder.getIndexAttr(*step - 1)),
                   builder.getIndexAttr(*step));
}

/// Makes one loop of those over the sums around `op`, the outermost of which is
/// `root`: copies to tiles then run ahead through all of them, not through the
/// innermost only. Returns the outermost loop, or `op`.
static Operation *joinLoops(Operation *op, Operation *root,
                            RewriterBase &rewriter) {
  SmallVector<scf::ForOp> loops;
  for (Operation *loop = op; loop != root;) {
    loop = loop->getParentOp();
    loops.insert(loops.begin(), cast<scf::ForOp>(loop));
  }
  if (loops.size() < 2)
    return root;
  Location loc = root->getLoc();
  IndexBuilder index{rewriter, loc};
  rewriter.setInsertionPoint(root);
  SmallVector<OpFoldResult> counts;
  OpFoldResult total = rewriter.getIndexAttr(1);
  for (scf::ForOp loop : loops) {
    std::optional<OpFoldResult> count =
        countIterations(loop, loops.front(), index);
    if (!count)
      return root;
    counts.push_back(*count);
    total = index.mul(total, *count);
  }
  auto joined = scf::ForOp::create(
      rewriter, loc, index.value(rewriter.getIndexAttr(0)), index.value(total),
      index.value(rewriter.getIndexAttr(1)));
  rewriter.setInsertionPointToStart(joined.getBody());
  OpFoldResult rest = joined.getInductionVar();
  for (size_t i = loops.size(); i-- > 0;) {
    OpFoldResult number = i == 0 ? rest : index.rem(rest, counts[i]);
    if (i > 0)
      rest = index.div(rest, counts[i]);
    OpFoldResult step = getAsOpFoldResult(loops[i].getStep());
    rewriter.replaceAllUsesWith(loops[i].getInductionVar(),
                                index.value(index.mul(number, step)));
  }
  for (auto [i, loop] : llvm::enumerate(loops)) {
    scf::ForOp inner = i + 1 < loops.size() ? loops[i + 1] : scf::ForOp();
    for (Operation &in :
         llvm::make_early_inc_range(loop.getBody()->without_terminator()))
      if (&in != inner.getOperation())
        rewriter.moveOpBefore(&in, joined.getBody()->getTerminator());
  }
  rewriter.eraseOp(loops.front());
  return joined;
}

//===----------------------------------------------------------------------===//
// Apply: the tile
//===----------------------------------------------------------------------===//

/// The iterations that `loop` of `convolution` has.
static OpFoldResult getIterations(Convolution &convolution, unsigned loop,
                                  OpBuilder &builder) {
  linalg::LinalgOp op = convolution.op;
  for (OpOperand *operand : {convolution.filter, op.getDpsInitOperand(0)}) {
    AffineMap map = convolution.getMap(operand);
    for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
      if (map.getDimPosition(dim) == loop)
        return getExtent(builder, op.getLoc(), operand->get(), dim);
  }
  llvm_unreachable("its loops go along the filter or the result");
}

/// The place in the image of each element of the tile.
static AffineMap getGatherMap(Convolution &convolution) {
  AffineMap map = convolution.getMap(convolution.image);
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> dims(map.getNumDims(),
                               getAffineConstantExpr(0, context));
  for (auto [dim, loop] : llvm::enumerate(convolution.loops))
    dims[loop] = getAffineDimExpr(dim, context);
  return simplifyAffineMap(map.replaceDimsAndSymbols(
      dims, {}, convolution.loops.size(), /*numResultSyms=*/0));
}

/// True if the tile may have more elements along a loop of the sum than there
/// are, which the image has nonetheless, as parts of later windows.
static bool needsExtents(Convolution &convolution,
                         ArrayRef<OpFoldResult> extents) {
  AffineMap map = convolution.getMap(convolution.image);
  for (auto [loop, extent] : llvm::zip_equal(convolution.loops, extents)) {
    AffineExpr dim = getAffineDimExpr(loop, map.getContext());
    bool isShared = llvm::any_of(map.getResults(), [&](AffineExpr place) {
      return place.isFunctionOfDim(loop) && place != dim;
    });
    if (convolution.isSum(loop) && isShared &&
        getConstantIntValue(extent) != convolution.tile.sizes[loop])
      return true;
  }
  return false;
}

/// The contraction that reads `tile` in place of windows of the image.
static linalg::GenericOp createContraction(Convolution &convolution, Value tile,
                                           RewriterBase &rewriter) {
  linalg::LinalgOp op = convolution.op;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<AffineExpr> dims;
  for (unsigned loop : convolution.loops)
    dims.push_back(rewriter.getAffineDimExpr(loop));
  unsigned number = convolution.image->getOperandNumber();
  maps[number] =
      AffineMap::get(op.getNumLoops(), 0, dims, rewriter.getContext());
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs[number] = tile;
  auto contraction = linalg::GenericOp::create(
      rewriter, op.getLoc(), TypeRange(), inputs, op.getDpsInits(), maps,
      op.getIteratorTypesArray());
  rewriter.cloneRegionBefore(op->getRegion(0), contraction.getRegion(),
                             contraction.getRegion().begin());
  return contraction;
}

/// Leaves out the loops of one iteration that only `filter` has, so that what
/// is contiguous in a tile of it is its last dimension. `linalg::dropUnitDims`
/// does that for memrefs of identity layout only, and this is a slice.
static void dropUnitLoops(linalg::GenericOp contraction, OpOperand &filter,
                          RewriterBase &rewriter) {
  SmallVector<AffineMap> maps = contraction.getIndexingMapsArray();
  AffineMap &ofFilter = maps[filter.getOperandNumber()];
  auto type = cast<MemRefType>(filter.get().getType());
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> places;
  llvm::SmallBitVector dropped(contraction.getNumLoops());
  for (auto [dim, place] : llvm::enumerate(ofFilter.getResults())) {
    unsigned loop = cast<AffineDimExpr>(place).getPosition();
    bool isShared = llvm::any_of(llvm::enumerate(maps), [&](auto pair) {
      return pair.index() != filter.getOperandNumber() &&
             pair.value().isFunctionOfDim(loop);
    });
    if (type.getDimSize(dim) == 1 && !isShared) {
      dropped.set(loop);
      continue;
    }
    shape.push_back(type.getDimSize(dim));
    places.push_back(place);
  }
  if (dropped.none() || places.empty())
    return;
  ofFilter =
      AffineMap::get(ofFilter.getNumDims(), 0, places, rewriter.getContext());
  SmallVector<utils::IteratorType> iterators;
  for (auto [loop, iterator] :
       llvm::enumerate(contraction.getIteratorTypesArray()))
    if (!dropped.test(loop))
      iterators.push_back(iterator);
  FailureOr<Value> reduced = memref::SubViewOp::rankReduceIfNeeded(
      rewriter, contraction.getLoc(), filter.get(), shape);
  if (failed(reduced))
    return;
  rewriter.modifyOpInPlace(contraction, [&] {
    filter.set(*reduced);
    for (AffineMap &map : maps)
      map = projectDims(map, dropped, /*compressDimsFlag=*/true);
    contraction.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    contraction.setIteratorTypesAttr(rewriter.getArrayAttr(
        llvm::map_to_vector(iterators, [&](utils::IteratorType iterator) {
          return cast<Attribute>(
              linalg::IteratorTypeAttr::get(rewriter.getContext(), iterator));
        })));
  });
}

/// Rounds the tile up as `workgroup-stage-operands` does for `contraction`.
static void roundUp(Convolution &convolution, linalg::LinalgOp op,
                    const Chip &chip) {
  Contraction contraction{op};
  TileSizes rounded = convolution.tile;
  if (describe(contraction, convolution.tile.sizes).empty() &&
      roundTileSizes(contraction, convolution.root != convolution.op, chip,
                     rounded)
          .empty())
    convolution.tile = rounded;
}

/// Allocates a tile for `convolution` before `op`.
static Value allocateTile(Convolution &convolution, Operation *op,
                          RewriterBase &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  return memref::AllocOp::create(rewriter, convolution.op.getLoc(),
                                 convolution.getTileType(),
                                 rewriter.getI64IntegerAttr(kSlotAlignment));
}

/// Has `contraction` read no more of `tile` than `extents`, where it has more.
static void readPart(Convolution &convolution, linalg::GenericOp contraction,
                     Value tile, ArrayRef<OpFoldResult> extents,
                     RewriterBase &rewriter) {
  ArrayRef<int64_t> shape = convolution.getTileType().getShape();
  bool isWhole = llvm::all_of(llvm::zip_equal(extents, shape), [](auto pair) {
    auto [extent, size] = pair;
    return getConstantIntValue(extent) == size;
  });
  if (isWhole)
    return;
  SmallVector<OpFoldResult> zeros(shape.size(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(shape.size(), rewriter.getIndexAttr(1));
  Value part = memref::SubViewOp::create(rewriter, convolution.op.getLoc(),
                                         tile, zeros, extents, ones);
  rewriter.modifyOpInPlace(contraction, [&] {
    contraction.getDpsInputOperand(convolution.image->getOperandNumber())
        ->set(part);
  });
}

static void apply(Convolution &convolution, const Chip &chip,
                  RewriterBase &rewriter) {
  linalg::LinalgOp op = convolution.op;
  Location loc = op.getLoc();
  hoistInvariants(op, convolution.root);
  Operation *root = joinLoops(op, convolution.root, rewriter);
  convolution.root = root;
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> extents;
  for (unsigned loop : convolution.loops)
    extents.push_back(getIterations(convolution, loop, rewriter));
  Value tile = allocateTile(convolution, root, rewriter);
  linalg::GenericOp contraction =
      createContraction(convolution, tile, rewriter);
  roundUp(convolution, contraction, chip);
  if (tile.getType() != convolution.getTileType()) {
    Value rounded = allocateTile(convolution, tile.getDefiningOp(), rewriter);
    rewriter.replaceOp(tile.getDefiningOp(), rounded);
    tile = rounded;
  }

  rewriter.setInsertionPoint(contraction);
  SmallVector<Value> limits;
  if (needsExtents(convolution, extents))
    limits = getValueOrCreateConstantIndexOp(rewriter, loc, extents);
  GatherOp::create(rewriter, loc, convolution.image->get(),
                   getGatherMap(convolution), ValueRange(), limits, tile);
  readPart(convolution, contraction, tile, extents, rewriter);
  dropUnitLoops(
      contraction,
      *contraction.getDpsInputOperand(convolution.filter->getOperandNumber()),
      rewriter);
  rewriter.eraseOp(op);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static void report(Convolution &convolution) {
  std::string shape;
  llvm::raw_string_ostream text(shape);
  llvm::interleave(convolution.getTileType().getShape(), text, "x");
  recordRemark(RemarkId::DecomposeIm2col_Decomposed, convolution.op)
      << "convolution made a contraction of tiles"
      << remark::metric("Tile", shape);
}

LogicalResult decomposeIm2col(Operation *root,
                              const DecomposeIm2colOptions &options) {
  const Chip *chip = resolveChip(root, options.chip);
  if (!chip)
    return failure();
  ArgumentAliases aliases(root, options.assumeDistinctArguments);
  IRRewriter rewriter(root->getContext());
  lookUpDivided(root, rewriter);
  std::vector<Convolution> convolutions;
  root->walk([&](linalg::LinalgOp op) {
    if (hasWindows(op) && isInBlock(op))
      convolutions.push_back({op});
  });
  for (Convolution &convolution : convolutions) {
    std::string why = decide(convolution, aliases);
    if (why.empty()) {
      report(convolution);
      apply(convolution, *chip, rewriter);
      continue;
    }
    recordRemark(RemarkId::DecomposeIm2col_NotDecomposed, convolution.op)
        << "operation that reads its windows where they are"
        << remark::reason("{0}", why);
  }
  return success();
}

namespace {

struct DecomposeIm2colPass
    : impl::DecomposeIm2colPassBase<DecomposeIm2colPass> {
  using DecomposeIm2colPassBase::DecomposeIm2colPassBase;

  void runOnOperation() override {
    if (failed(
            decomposeIm2col(getOperation(), {chip, assumeDistinctArguments})))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
