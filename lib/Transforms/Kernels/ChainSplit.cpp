//===- ChainSplit.cpp - Columns of a chain that blocks share --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What parts come to is in tensors the first dimension of which is the number
// of the part. It is put together by operations on these tensors, which the
// pass tiles as it does those of any kernel.
//
//===----------------------------------------------------------------------===//

#include "ChainSplit.h"
#include "BlockTiles.h"
#include "Combiners.h"
#include "StreamLoop.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/CSE.h"

namespace mlir::workgroup {

namespace {

using Link = ChainStream::Link;

/// Splits one chain.
class ChainSplitter {
public:
  ChainSplitter(RewriterBase &rewriter, const ContractionChain &chain,
                const ChainStream &stream, ArrayRef<int64_t> sizes,
                int64_t columns)
      : rewriter(rewriter), chain(chain), stream(stream), columns(columns),
        loc(linalg::LinalgOp(chain.second).getLoc()),
        tiles(rewriter, chain.second, sizes) {}

  FailureOr<scf::ForallOp> run();

private:
  SmallVector<ChainDims> getDims() const;
  SmallVector<Value> makeDestinations();
  linalg::LinalgOp makeTile(scf::ForallOp blocks);
  LogicalResult makePart(scf::ForallOp blocks);
  void insert(scf::ForallOp blocks, unsigned number, Value value);

  Value makeFill(TypedAttr start, const ChainDims &dims);
  SmallVector<OpFoldResult> getExtents(const ChainDims &dims) const;
  Value combine(linalg::LinalgOp op, unsigned number, ValueRange inputs,
                ArrayRef<AffineMap> maps,
                function_ref<Value(OpBuilder &, Location, ValueRange)> weigh);
  AffineMap addPart(AffineMap map) const;
  Value combineFold(linalg::LinalgOp op, unsigned number);
  Value combineScaled(linalg::LinalgOp op, unsigned number);
  Value makeReference(IRMapping &ends);
  Value combineParts();

  RewriterBase &rewriter;
  const ContractionChain &chain;
  const ChainStream &stream;
  int64_t columns;
  Location loc;
  BlockTiles tiles;
  /// The extents of the second contraction's loops.
  SmallVector<OpFoldResult> extents;
  /// What parts come to: the values of a StreamPart, with their dimensions.
  SmallVector<ChainDims> dims;
  SmallVector<Value> partials;
  /// Of a part, what computes weights of references.
  ContractionChain partChain;
  ChainStream partStream;
  std::optional<WeightPowers> powers;
  /// The reference of each row by all columns, and the number of those by some.
  Value reference;
  unsigned referenceNumber = 0;
};

} // namespace

/// What weights of `stream` are computed by.
static Operation *getReference(const ChainStream &stream) {
  return stream.body.reference->get().getDefiningOp();
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// `size`, as it is known where the tensor is made that is asked for it.
static OpFoldResult resolve(RewriterBase &rewriter, OpFoldResult size) {
  auto value = dyn_cast<Value>(size);
  auto dim = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  std::optional<int64_t> number = dim ? dim.getConstantIndex() : std::nullopt;
  if (!number || !getTensorOp(dim.getSource().getDefiningOp()))
    return size;
  return getSizes(rewriter, dim.getSource())[*number];
}

/// Has nobody in `block` ask an operation how large its result is.
static void resolveSizes(RewriterBase &rewriter, Block &block) {
  for (auto dim : llvm::make_early_inc_range(block.getOps<tensor::DimOp>())) {
    rewriter.setInsertionPoint(dim);
    OpFoldResult size = resolve(rewriter, dim.getResult());
    if (size != OpFoldResult(dim.getResult()))
      rewriter.replaceOp(
          dim, getValueOrCreateConstantIndexOp(rewriter, dim.getLoc(), size));
  }
}

/// The dimensions of what a part comes to, as a StreamPart has them.
SmallVector<ChainDims> ChainSplitter::getDims() const {
  SmallVector<ChainDims> all;
  for (const Link &link : stream.links)
    if (link.isFold())
      all.push_back(getRowDims(link));
  if (stream.needsLargest)
    all.push_back(getRowDims(*stream.find(stream.largest)));
  if (getReference(stream) != stream.largest)
    all.push_back(getRowDims(*stream.find(getReference(stream))));
  all.push_back(getResultDims(chain));
  return all;
}

SmallVector<OpFoldResult>
ChainSplitter::getExtents(const ChainDims &dims) const {
  return llvm::map_to_vector(dims, [&](unsigned dim) { return extents[dim]; });
}

/// A tensor for each value that parts come to.
SmallVector<Value> ChainSplitter::makeDestinations() {
  SmallVector<Type> types;
  for (const Link &link : stream.links)
    if (link.isFold())
      types.push_back(getElementTypeOrSelf(link.op->getResult(0)));
  if (stream.needsLargest)
    types.push_back(getElementTypeOrSelf(stream.largest->getResult(0)));
  if (getReference(stream) != stream.largest)
    types.push_back(getElementTypeOrSelf(stream.body.reference->get()));
  types.push_back(getElementTypeOrSelf(chain.second->getResult(0)));
  SmallVector<Value> destinations;
  for (auto [type, dims] : llvm::zip_equal(types, dims)) {
    SmallVector<OpFoldResult> sizes = getExtents(dims);
    sizes.insert(sizes.begin(), tiles.getNumTiles(rewriter, chain.secondSum));
    destinations.push_back(tensor::EmptyOp::create(rewriter, loc, sizes, type));
  }
  return destinations;
}

/// Has the block put `value` into destination `number`.
void ChainSplitter::insert(scf::ForallOp blocks, unsigned number, Value value) {
  SmallVector<OpFoldResult> offsets(1,
                                    tiles.getNumber(rewriter, chain.secondSum));
  SmallVector<OpFoldResult> sizes(1, rewriter.getIndexAttr(1));
  for (unsigned dim : dims[number]) {
    offsets.push_back(tiles.getOffsets()[dim]);
    sizes.push_back(tiles.getSizes()[dim]);
  }
  SmallVector<OpFoldResult> strides(offsets.size(), rewriter.getIndexAttr(1));
  Value whole = blocks.getRegionOutArgs()[number];
  auto slice = tensor::ExtractSliceOp::create(
      rewriter, loc, cast<RankedTensorType>(value.getType()), whole, offsets,
      sizes, strides);
  Value copy = linalg::CopyOp::create(rewriter, loc, value, slice.getResult())
                   .getResult(0);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(blocks.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(rewriter, loc, copy, whole, offsets,
                                        sizes, strides);
}

/// The rows of a block's tile of the second contraction, with all columns, and
/// what is before it.
linalg::LinalgOp ChainSplitter::makeTile(scf::ForallOp blocks) {
  rewriter.setInsertionPoint(blocks.getTerminator());
  tiles.enter(rewriter, blocks.getInductionVars());
  auto offsets = llvm::to_vector(tiles.getOffsets());
  auto sizes = llvm::to_vector(tiles.getSizes());
  offsets[chain.secondSum] = rewriter.getIndexAttr(0);
  sizes[chain.secondSum] = extents[chain.secondSum];
  linalg::LinalgOp second = chain.second;
  FailureOr<TilingResult> tile =
      cast<TilingInterface>(second.getOperation())
          .getTiledImplementation(rewriter, offsets, sizes);
  if (failed(tile))
    return {};
  auto tiled = cast<linalg::LinalgOp>(tile->tiledOps.front());
  fuseProducers(rewriter, tile->generatedSlices, blocks);
  return tiled;
}

/// Erases what nobody uses in `block`.
static void eraseDeadOps(RewriterBase &rewriter, Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

/// Makes the work of a block.
LogicalResult ChainSplitter::makePart(scf::ForallOp blocks) {
  linalg::LinalgOp tiled = makeTile(blocks);
  if (!tiled)
    return failure();
  unsigned last = dims.size() - 1;
  rewriter.setInsertionPoint(blocks.getTerminator());
  insert(blocks, last, tiled->getResult(0));
  // What is fused for several users becomes one operation.
  resolveSizes(rewriter, *blocks.getBody());
  eraseDeadOps(rewriter, *blocks.getBody());
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, blocks);
  std::optional<ContractionChain> found = findChain(tiled);
  std::optional<ChainStream> foundStream =
      found ? findStream(*found) : std::nullopt;
  if (!foundStream || !foundStream->largest)
    return failure();
  partChain = std::move(*found);
  partStream = std::move(*foundStream);
  partStream.skipsMasked = stream.skipsMasked;
  rewriter.setInsertionPoint(tiled);
  tiles.enter(rewriter, blocks.getInductionVars());
  OpFoldResult first = tiles.getOffsets()[chain.secondSum];
  AffineExpr from, size;
  bindDims(rewriter.getContext(), from);
  bindSymbols(rewriter.getContext(), size);
  OpFoldResult end = affine::makeComposedFoldedAffineApply(
      rewriter, loc, from + size, {first, tiles.getSizes()[chain.secondSum]});
  FailureOr<StreamPart> part =
      streamPart(rewriter, partChain, partStream, columns,
                 getValueOrCreateConstantIndexOp(rewriter, loc, first),
                 getValueOrCreateConstantIndexOp(rewriter, loc, end));
  if (failed(part))
    return failure();
  powers = part->powers;
  rewriter.replaceAllUsesWith(tiled->getResult(0), part->values.back());
  rewriter.setInsertionPoint(blocks.getTerminator());
  for (unsigned number = 0; number < last; ++number)
    insert(blocks, number, part->values[number]);
  return success();
}

//===----------------------------------------------------------------------===//
// Putting them together
//===----------------------------------------------------------------------===//

/// A tensor along `dims` filled with `start`.
Value ChainSplitter::makeFill(TypedAttr start, const ChainDims &dims) {
  Value constant = arith::ConstantOp::create(rewriter, loc, start);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, getExtents(dims), start.getType());
  return linalg::FillOp::create(rewriter, loc, constant, empty).getResult(0);
}

/// What `op` comes to by all parts, from values `number` of these, each times
/// what `weigh` makes of it, in a body with values for `inputs` in front.
Value ChainSplitter::combine(
    linalg::LinalgOp op, unsigned number, ValueRange inputs,
    ArrayRef<AffineMap> maps,
    function_ref<Value(OpBuilder &, Location, ValueRange)> weigh) {
  MLIRContext *context = rewriter.getContext();
  unsigned rank = dims[number].size();
  AffineMap result = AffineMap::get(
      rank + 1, 0, rewriter.getMultiDimIdentityMap(rank).getResults(), context);
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  SmallVector<Value> values(inputs);
  values.push_back(partials[number]);
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(addPart(result));
  allMaps.push_back(result);
  Value start = makeFill(getStart(op), dims[number]);
  Operation *combiner = getCombiner(op);
  bool isFirst = combiner->getOperand(0) == op.getRegionOutputArgs().front();
  auto emit = [&](OpBuilder &builder, Location at, ValueRange arguments) {
    Value part = weigh(builder, at, arguments.drop_back());
    IRMapping mapping;
    mapping.map(combiner->getOperand(isFirst ? 0 : 1), arguments.back());
    mapping.map(combiner->getOperand(isFirst ? 1 : 0), part);
    linalg::YieldOp::create(builder, at,
                            builder.clone(*combiner, mapping)->getResults());
  };
  return linalg::GenericOp::create(rewriter, loc, start.getType(), values,
                                   start, allMaps, kinds, emit)
      .getResult(0);
}

/// What indexes the partial results of what `map` indexes: the last loop goes
/// through parts.
AffineMap ChainSplitter::addPart(AffineMap map) const {
  SmallVector<AffineExpr> indices(map.getResults());
  indices.insert(indices.begin(),
                 rewriter.getAffineDimExpr(map.getNumDims() - 1));
  return AffineMap::get(map.getNumDims(), 0, indices, rewriter.getContext());
}

/// What `op` comes to, which goes on from what it was.
Value ChainSplitter::combineFold(linalg::LinalgOp op, unsigned number) {
  return combine(
      op, number, {}, {},
      [](OpBuilder &, Location, ValueRange values) { return values.back(); });
}

/// What `op` comes to, a sum of weights by the references of parts.
Value ChainSplitter::combineScaled(linalg::LinalgOp op, unsigned number) {
  const ChainDims &own = dims[number];
  AffineMap rows = mapDims(rewriter.getContext(), dims[referenceNumber], own);
  AffineMap now = AffineMap::get(own.size() + 1, 0, rows.getResults(),
                                 rewriter.getContext());
  auto weigh = [&](OpBuilder &builder, Location at, ValueRange values) {
    Value weight =
        makeWeightOf(builder, at, partStream, powers, values[0], values[1]);
    Value part = values.back();
    return arith::MulFOp::create(
               builder, at, part,
               convertFloat(builder, at, weight, part.getType()))
        .getResult();
  };
  return combine(op, number, {partials[referenceNumber], reference},
                 {addPart(now), now}, weigh);
}

/// The references of rows: what is computed of the largest elements.
Value ChainSplitter::makeReference(IRMapping &ends) {
  for (const Link &link : stream.links) {
    if (link.role != StreamRole::Reference)
      continue;
    auto copy = cast<linalg::LinalgOp>(rewriter.clone(*link.op, ends));
    ends.map(link.op->getResult(0), copy->getResult(0));
  }
  return ends.lookup(stream.body.reference->get());
}

/// The results of the second contraction, by all parts.
Value ChainSplitter::combineParts() {
  IRMapping ends;
  unsigned number = 0;
  bool isOther = getReference(stream) != stream.largest;
  referenceNumber = dims.size() - 2;
  for (const Link &link : stream.links)
    if (link.isFold()) {
      if (link.op == stream.largest) {
        if (!isOther)
          referenceNumber = number;
        ends.map(link.op->getResult(0), combineFold(link.op, number));
      }
      ++number;
    }
  reference = makeReference(ends);
  number = 0;
  for (const Link &link : stream.links) {
    if (!link.isFold())
      continue;
    if (link.op != stream.largest)
      ends.map(link.op->getResult(0), link.role == StreamRole::Fold
                                          ? combineFold(link.op, number)
                                          : combineScaled(link.op, number));
    ++number;
  }
  if (stream.needsLargest)
    ends.map(stream.largest->getResult(0), combineFold(stream.largest, number));
  Value products = combineScaled(chain.second, dims.size() - 1);
  Value end =
      getValueOrCreateConstantIndexOp(rewriter, loc, extents[chain.secondSum]);
  return finishStream(rewriter, chain, stream, end, products, std::move(ends));
}

FailureOr<scf::ForallOp> ChainSplitter::run() {
  linalg::LinalgOp second = chain.second;
  rewriter.setInsertionPoint(second);
  for (const Range &range : cast<TilingInterface>(second.getOperation())
                                .getIterationDomain(rewriter))
    extents.push_back(resolve(rewriter, range.size));
  dims = getDims();
  scf::ForallOp blocks = tiles.makeLoop(rewriter, makeDestinations());
  if (failed(makePart(blocks)))
    return second.emitOpError("cannot be split; give no 'split'");
  llvm::append_range(partials, blocks.getResults());
  rewriter.setInsertionPoint(second);
  Value result = combineParts();
  rewriter.replaceAllUsesWith(second->getResult(0), result);
  fuseIntoUser(rewriter, result);
  return blocks;
}

FailureOr<scf::ForallOp> splitChain(RewriterBase &rewriter,
                                    const ContractionChain &chain,
                                    ArrayRef<int64_t> sizes, int64_t columns,
                                    bool skipsMasked) {
  linalg::LinalgOp second = chain.second;
  std::optional<ChainStream> stream = findStream(chain);
  if (!stream || !stream->largest)
    return second.emitOpError("multiplies no softmax of scores, parts of which "
                              "could be put together; give no 'split'");
  stream->skipsMasked = skipsMasked;
  if (columns == 0 || sizes[chain.secondSum] % columns != 0)
    return second.emitOpError("goes through parts of ")
           << sizes[chain.secondSum] << " columns, " << columns
           << " at a time; let 'split' be a multiple of 'stream' along loop "
           << chain.secondSum;
  return ChainSplitter(rewriter, chain, *stream, sizes, columns).run();
}

} // namespace mlir::workgroup
