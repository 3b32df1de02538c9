//===- StreamTile.cpp - The rows and columns at hand ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations are tiled by upstream's interface. What they read of each other is
// the tile at hand; what they read of other tensors is a slice, which is put
// into zeros where it is smaller than the tile.
//
//===----------------------------------------------------------------------===//

#include "StreamTile.h"
#include "ChainLimits.h"
#include "Combiners.h"
#include "StreamEnd.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace mlir::workgroup {

using Link = ChainStream::Link;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

StreamTile::StreamTile(RewriterBase &rewriter, const ContractionChain &chain,
                       const ChainStream &stream, int64_t columns)
    : rewriter(rewriter), chain(chain), stream(stream), columns(columns),
      loc(linalg::LinalgOp(chain.second).getLoc()), isPadded(canPad()) {
  auto getDomain = [&](linalg::LinalgOp op) {
    return cast<TilingInterface>(op.getOperation())
        .getIterationDomain(rewriter);
  };
  extent = getDomain(chain.first)[chain.firstColumn].size;
  for (const Range &range : getDomain(chain.second)) {
    rowSizes.push_back(range.size);
    tileSizes.push_back(range.size);
    if (!isPadded || getConstantIntValue(range.size))
      continue;
    FailureOr<int64_t> most = ValueBoundsConstraintSet::computeConstantBound(
        presburger::BoundType::UB, range.size, /*stopCondition=*/nullptr,
        /*closedUB=*/true);
    if (succeeded(most))
      tileSizes.back() = rewriter.getIndexAttr(*most);
  }
  if (isPadded && hasFewRows(chain) && isForMatrices(chain))
    tileSizes[chain.row] = rewriter.getIndexAttr(kChainRows);
  tileSizes[chain.secondSum] = rewriter.getIndexAttr(columns);
}

/// True if nothing is amiss where operations are done on padding.
bool StreamTile::canPad() const {
  return llvm::all_of(stream.links, [](const Link &link) {
    linalg::LinalgOp op = link.op;
    bool isHarmless =
        llvm::all_of(op.getBlock()->without_terminator(), [](Operation &in) {
          return isPure(&in) && in.getNumRegions() == 0 &&
                 !isa<tensor::ExtractOp>(in);
        });
    return isHarmless &&
           llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
             return map.isProjectedPermutation();
           });
  });
}

void StreamTile::enter(scf::ForOp newLoop) {
  loop = newLoop;
  rewriter.setInsertionPointToStart(loop.getBody());
  offset = loop.getInductionVar();
  size = rewriter.getIndexAttr(columns);
  std::optional<int64_t> known = getConstantIntValue(extent);
  if (known && *known % columns == 0)
    return;
  AffineExpr at, end;
  bindDims(rewriter.getContext(), at);
  bindSymbols(rewriter.getContext(), end);
  AffineMap rest =
      AffineMap::get(1, 1, {rewriter.getAffineConstantExpr(columns), end - at},
                     rewriter.getContext());
  size = affine::makeComposedFoldedAffineMin(rewriter, loc, rest,
                                             {offset, extent});
  if (!isPadded) {
    tileSizes[chain.secondSum] = size;
    return;
  }
  Value past = getValueOrCreateConstantIndexOp(rewriter, loc, size);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, ArrayRef<int64_t>{columns}, rewriter.getF32Type());
  presence =
      linalg::GenericOp::create(
          rewriter, loc, empty.getType(), ValueRange(), empty,
          rewriter.getMultiDimIdentityMap(1), utils::IteratorType::parallel,
          [&](OpBuilder &builder, Location at, ValueRange) {
            Value column = linalg::IndexOp::create(builder, at, 0);
            Value isThere = arith::CmpIOp::create(
                builder, at, arith::CmpIPredicate::ult, column, past);
            auto number = [&](float value) -> Value {
              return arith::ConstantOp::create(builder, at,
                                               builder.getF32FloatAttr(value));
            };
            Value made = arith::SelectOp::create(builder, at, isThere,
                                                 number(1), number(-1));
            linalg::YieldOp::create(builder, at, made);
          })
          .getResult(0);
}

/// What a tile has of a loop with `size` iterations.
OpFoldResult StreamTile::getTileSize(const Loops &rows, unsigned loop,
                                     OpFoldResult size,
                                     std::optional<unsigned> column) const {
  if (loop == column)
    return tileSizes[chain.secondSum];
  return rows[loop] ? tileSizes[*rows[loop]] : size;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// An empty tile along loops `dims` of the second contraction.
Value StreamTile::makeTile(ArrayRef<unsigned> dims, Type type) {
  SmallVector<OpFoldResult> sizes =
      llvm::map_to_vector(dims, [&](unsigned dim) { return tileSizes[dim]; });
  return tensor::EmptyOp::create(rewriter, loc, sizes, type);
}

Value StreamTile::makeEmptyRows(ArrayRef<unsigned> dims, Type type) {
  return makeTile(dims, type);
}

Value StreamTile::makeEmptyResult() {
  linalg::LinalgOp second = chain.second;
  return makeTile(getResultDims(chain),
                  getElementTypeOrSelf(second->getResult(0)));
}

Value StreamTile::makeEmpty(const Link &link) {
  linalg::LinalgOp op = link.op;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  ChainDims dims = llvm::map_to_vector(map.getResults(), [&](AffineExpr at) {
    unsigned loop = cast<AffineDimExpr>(at).getPosition();
    return loop == link.column ? chain.secondSum : *link.rows[loop];
  });
  return makeTile(dims, getElementTypeOrSelf(op->getResult(0)));
}

Value StreamTile::cut(Value tile, ArrayRef<unsigned> dims) {
  SmallVector<OpFoldResult> sizes, zeros, ones;
  bool isWhole = true;
  for (unsigned dim : dims) {
    sizes.push_back(rowSizes[dim]);
    isWhole &= rowSizes[dim] == tileSizes[dim];
    zeros.push_back(rewriter.getIndexAttr(0));
    ones.push_back(rewriter.getIndexAttr(1));
  }
  if (isWhole)
    return tile;
  return tensor::ExtractSliceOp::create(rewriter, loc, tile, zeros, sizes,
                                        ones);
}

/// The part of `source` at `offsets`, of `sizes`, in zeros of `tile`.
Value StreamTile::padSlice(Value source, ArrayRef<OpFoldResult> offsets,
                           ArrayRef<OpFoldResult> sizes,
                           ArrayRef<OpFoldResult> tile) {
  SmallVector<OpFoldResult> ones(sizes.size(), rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> zeros(sizes.size(), rewriter.getIndexAttr(0));
  auto part = tensor::ExtractSliceOp::create(rewriter, loc, source, offsets,
                                             sizes, ones);
  pending.push_back(part);
  Type type = getElementTypeOrSelf(source);
  Value empty = tensor::EmptyOp::create(rewriter, loc, tile, type);
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
  Value clear = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
  return tensor::InsertSliceOp::create(rewriter, loc, part, clear, zeros, sizes,
                                       ones);
}

Value StreamTile::pad(Value tensor, ArrayRef<unsigned> dims) {
  SmallVector<OpFoldResult> sizes, tile;
  for (unsigned dim : dims) {
    sizes.push_back(rowSizes[dim]);
    tile.push_back(tileSizes[dim]);
  }
  if (sizes == tile)
    return tensor;
  SmallVector<OpFoldResult> zeros(sizes.size(), rewriter.getIndexAttr(0));
  return padSlice(tensor, zeros, sizes, tile);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Has a tiled operation read `to`, for what `op` reads by `from`, in zeros if
/// there is less of it than the tile has. `sizes` are those of the loops.
void StreamTile::padOperand(linalg::LinalgOp op, OpOperand &from, OpOperand &to,
                            ArrayRef<OpFoldResult> sizes,
                            std::optional<unsigned> column) {
  auto slice = to.get().getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return;
  SmallVector<OpFoldResult> tile = slice.getMixedSizes(), there = tile;
  bool isOfColumns = false;
  AffineMap map = op.getMatchingIndexingMap(&from);
  for (auto [dim, at] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(at);
    if (!loop)
      continue;
    bool isColumn = loop.getPosition() == column;
    isOfColumns |= isColumn;
    there[dim] = isColumn ? size : sizes[loop.getPosition()];
  }
  if (there == tile) {
    pending.push_back(slice);
    return;
  }
  OpBuilder::InsertionGuard guard(rewriter);
  if (!isOfColumns)
    rewriter.setInsertionPoint(loop);
  Value padded =
      padSlice(slice.getSource(), slice.getMixedOffsets(), there, tile);
  rewriter.modifyOpInPlace(to.getOwner(), [&] { to.set(padded); });
}

/// The tile at hand of `op`, with `rows` as loops of the second contraction,
/// and its loop `column`.
linalg::LinalgOp StreamTile::tile(linalg::LinalgOp op, const Loops &rows,
                                  std::optional<unsigned> column) {
  auto tiling = cast<TilingInterface>(op.getOperation());
  SmallVector<OpFoldResult> offsets, there, sizes;
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(loop);
    for (auto [number, range] :
         llvm::enumerate(tiling.getIterationDomain(rewriter))) {
      offsets.push_back(number == column ? offset : range.offset);
      there.push_back(range.size);
      sizes.push_back(getTileSize(rows, number, range.size, column));
    }
  }
  FailureOr<TilingResult> result =
      tiling.getTiledImplementation(rewriter, offsets, sizes);
  if (failed(result))
    return {};
  auto tiled = cast<linalg::LinalgOp>(result->tiledOps.front());
  rewriter.setInsertionPoint(tiled);
  for (auto [from, to] :
       llvm::zip_equal(op->getOpOperands(), tiled->getOpOperands())) {
    if (Value value = made.lookupOrNull(from.get()))
      rewriter.modifyOpInPlace(tiled, [&] { to.set(value); });
    else if (op.isDpsInput(&from))
      padOperand(op, from, to, there, column);
  }
  rewriter.setInsertionPointAfter(tiled);
  llvm::append_range(pending, result->generatedSlices);
  return tiled;
}

/// Has `tiled` make nothing of columns that are not there: the neutral element
/// of its sum, if it is one, minus infinity, or zeros.
linalg::LinalgOp StreamTile::guard(linalg::LinalgOp tiled, unsigned column,
                                   bool isFold, bool isMasked) {
  if (!presence)
    return tiled;
  if (!isa<linalg::GenericOp>(tiled)) {
    rewriter.setInsertionPoint(tiled);
    auto generic = linalg::generalizeNamedOp(rewriter, tiled);
    assert(succeeded(generic) && "operations of chains have bodies");
    tiled = *generic;
    rewriter.setInsertionPointAfter(tiled);
  }
  auto op = cast<linalg::GenericOp>(tiled.getOperation());
  unsigned number = op.getNumDpsInputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.insert(maps.begin() + number,
              AffineMap::get(op.getNumLoops(), 0,
                             rewriter.getAffineDimExpr(column),
                             op.getContext()));
  Block *body = op.getBody();
  Operation *user = isFold ? getCombiner(tiled) : body->getTerminator();
  BlockArgument there;
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputsMutable().append(presence);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    there = body->insertArgument(number, rewriter.getF32Type(), loc);
  });
  unsigned place =
      isFold && user->getOperand(0) == body->getArguments().back() ? 1 : 0;
  Value term = user->getOperand(place);
  TypedAttr nothing = isFold ? *arith::getNeutralElement(user)
                             : TypedAttr(rewriter.getZeroAttr(term.getType()));
  if (isMasked)
    nothing = rewriter.getFloatAttr(term.getType(),
                                    -std::numeric_limits<double>::infinity());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(user);
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(0));
  Value isThere = arith::CmpFOp::create(rewriter, loc,
                                        arith::CmpFPredicate::OGT, there, zero);
  Value other = arith::ConstantOp::create(rewriter, loc, nothing);
  Value chosen = arith::SelectOp::create(rewriter, loc, isThere, term, other);
  rewriter.modifyOpInPlace(user, [&] { user->setOperand(place, chosen); });
  return tiled;
}

/// Has `tiled`, of `link`, make nothing of columns that are not there, if it is
/// the one that has to.
linalg::LinalgOp StreamTile::guardLink(const Link &link,
                                       linalg::LinalgOp tiled) {
  bool isMasked = masked && link.op == masked;
  bool seesMasked =
      masked && (link.op == stream.largest || link.op == stream.weights);
  bool isFold = link.role == StreamRole::Fold;
  if (seesMasked || !(isMasked || isFold || link.op == stream.guarded))
    return tiled;
  return guard(tiled, *link.column, isFold, isMasked);
}

linalg::LinalgOp StreamTile::make(const Link &link, Value init) {
  linalg::LinalgOp tiled = tile(link.op, link.rows, link.column);
  if (!tiled)
    return {};
  OpOperand *output = tiled.getDpsInitOperand(0);
  if (!init && !tiled.payloadUsesValueFromOperand(output)) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(tiled);
    init = makeEmpty(link);
  } else if (!init) {
    // The first contraction starts from a fill.
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(tiled);
    Value start = arith::ConstantOp::create(rewriter, loc, getStart(link.op));
    init = linalg::FillOp::create(rewriter, loc, start, makeEmpty(link))
               .getResult(0);
  }
  rewriter.modifyOpInPlace(tiled,
                           [&] { tiled.getDpsInitOperand(0)->set(init); });
  tiled->getResult(0).setType(cast<RankedTensorType>(init.getType()));
  tiled = guardLink(link, tiled);
  made.map(link.op->getResult(0), tiled->getResult(0));
  return tiled;
}

linalg::LinalgOp StreamTile::makeSecond(Value init) {
  linalg::LinalgOp second = chain.second;
  Loops rows(second.getNumLoops());
  for (unsigned loop = 0; loop < second.getNumLoops(); ++loop)
    rows[loop] = loop;
  linalg::LinalgOp tiled = tile(second, rows, chain.secondSum);
  rewriter.modifyOpInPlace(tiled,
                           [&] { tiled.getDpsInitOperand(0)->set(init); });
  tiled->getResult(0).setType(cast<RankedTensorType>(init.getType()));
  return tiled;
}

void StreamTile::fuseSlices() {
  SmallVector<LoopLikeOpInterface> loops(1, loop);
  llvm::SmallPtrSet<Operation *, 8> seen;
  for (unsigned next = 0; next < pending.size(); ++next) {
    if (!seen.insert(pending[next]).second)
      continue;
    auto slice = dyn_cast<tensor::ExtractSliceOp>(pending[next]);
    if (!slice)
      continue;
    if (slice->use_empty()) {
      rewriter.eraseOp(slice);
      continue;
    }
    bool isOfColumns = llvm::is_contained(slice.getMixedOffsets(), offset);
    if (!isOfColumns || !getTensorOp(slice.getSource().getDefiningOp()))
      continue;
    auto fused = scf::tileAndFuseProducerOfSlice(rewriter, slice, loops);
    if (!fused)
      continue;
    rewriter.replaceOp(slice, fused->tiledAndFusedProducer);
    llvm::append_range(pending, fused->generatedSlices);
  }
}

} // namespace mlir::workgroup
