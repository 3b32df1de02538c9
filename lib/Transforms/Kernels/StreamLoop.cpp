//===- StreamLoop.cpp - A loop over columns of a chain --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The largest element starts from the lowest finite number instead of -inf, so
// that exp(largest - largest) is 1 before the first column that is not masked,
// not NaN. Rows of which all columns are -inf have weights of zero then, and
// sums of zero, the quotient of which is NaN as it was.
//
//===----------------------------------------------------------------------===//

#include "StreamLoop.h"
#include "MaskedColumns.h"
#include "StreamEnd.h"
#include "StreamTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::workgroup {

namespace {

using Link = ChainStream::Link;

/// Makes the loop of one chain.
class StreamTiler {
public:
  StreamTiler(RewriterBase &rewriter, const ContractionChain &chain,
              const ChainStream &stream, int64_t columns)
      : rewriter(rewriter), chain(chain), stream(stream), columns(columns),
        loc(linalg::LinalgOp(chain.second).getLoc()),
        tile(rewriter, chain, stream, columns) {}

  LogicalResult run();
  FailureOr<StreamPart> runPart(Value first, Value last);

private:
  LogicalResult makeLoop(Value first, Value last);
  Value makeStart(const Link &link, TypedAttr start);
  SmallVector<Value> makeStarts();
  void enter(scf::ForOp newLoop);

  LogicalResult makeColumns(const Link &link);
  Value copy(Value from, Value to);
  LogicalResult fold(const Link &link, Value by);
  Value makeReference(const Link &link, Value largest);
  Value makeRows(ValueRange inputs, Type type,
                 function_ref<Value(OpBuilder &, Location, ValueRange)> body);
  Value makeScale(Value before, Value now);
  Value makePowers(Value before, Value now);
  Value scale(Value value, const ChainDims &dims, Value by);
  Value narrow(Value weights);
  FailureOr<Value> foldLargest(const Link &link);
  FailureOr<Value> addProducts(Value before);
  LogicalResult makeBody();
  Value finish(Value last);

  RewriterBase &rewriter;
  const ContractionChain &chain;
  const ChainStream &stream;
  int64_t columns;
  Location loc;
  StreamTile tile;
  scf::ForOp loop;
  /// If weights are powers of two: what makes them, and what they are made
  /// with.
  std::optional<WeightPowers> powers;
  Value offsets, factors;
  /// The operand that an operation puts its result in the place of.
  DenseMap<Operation *, OpOperand *> replaced;
  /// What the loop carries of each operation, and what that becomes; of the
  /// largest elements also those from their own start, if they are needed.
  DenseMap<Operation *, Value> carried, folded;
  Value ownLargest;
};

} // namespace

//===----------------------------------------------------------------------===//
// What the loop starts from
//===----------------------------------------------------------------------===//

/// `start` in a tile of what `link` makes.
Value StreamTiler::makeStart(const Link &link, TypedAttr start) {
  Value constant = arith::ConstantOp::create(rewriter, loc, start);
  return linalg::FillOp::create(rewriter, loc, constant, tile.makeEmpty(link))
      .getResult(0);
}

/// The least number that is no infinity for `start`, if that is less, or NaN.
static TypedAttr getFinite(TypedAttr start) {
  APFloat value = cast<FloatAttr>(start).getValue();
  if (!value.isNaN() && !(value.isInfinity() && value.isNegative()))
    return start;
  return FloatAttr::get(
      start.getType(),
      APFloat::getLargest(value.getSemantics(), /*Negative=*/true));
}

/// What the loop carries: folds, the largest elements from their own start, and
/// the products.
SmallVector<Value> StreamTiler::makeStarts() {
  SmallVector<Value> starts;
  for (const Link &link : stream.links) {
    TypedAttr start = link.isFold() ? getStart(link.op) : TypedAttr();
    if (start)
      starts.push_back(makeStart(
          link, link.op == stream.largest ? getFinite(start) : start));
  }
  if (stream.needsLargest)
    starts.push_back(
        makeStart(*stream.find(stream.largest), getStart(stream.largest)));
  linalg::LinalgOp second = chain.second;
  TypedAttr start = getStart(second);
  if (!start) {
    starts.push_back(tile.pad(second.getDpsInits()[0], getResultDims(chain)));
    return starts;
  }
  Value constant = arith::ConstantOp::create(rewriter, loc, start);
  starts.push_back(
      linalg::FillOp::create(rewriter, loc, constant, tile.makeEmptyResult())
          .getResult(0));
  return starts;
}

void StreamTiler::enter(scf::ForOp newLoop) {
  loop = newLoop;
  unsigned number = 0;
  for (const Link &link : stream.links)
    if (link.isFold())
      carried[link.op] = loop.getRegionIterArg(number++);
  if (stream.needsLargest)
    ownLargest = loop.getRegionIterArg(number++);
  tile.enter(loop);
}

//===----------------------------------------------------------------------===//
// The columns at hand
//===----------------------------------------------------------------------===//

/// Makes what `link` is of the columns at hand, in the place of what it reads
/// if nothing else does.
LogicalResult StreamTiler::makeColumns(const Link &link) {
  OpOperand *read = replaced.lookup(link.op);
  Value init = read ? tile.made.lookup(read->get()) : Value();
  linalg::LinalgOp tiled = tile.make(link, init);
  if (tiled && powers && link.op == stream.weights)
    powers->rewrite(rewriter, cast<linalg::GenericOp>(tiled.getOperation()),
                    offsets, factors);
  return success(static_cast<bool>(tiled));
}

/// `from`, put into `to`.
Value StreamTiler::copy(Value from, Value to) {
  return linalg::CopyOp::create(rewriter, loc, from, to).getResult(0);
}

/// Goes on with what `link` sums up, from what it was, times `by`.
LogicalResult StreamTiler::fold(const Link &link, Value by) {
  Value before = carried.lookup(link.op);
  if (link.role == StreamRole::ScaledFold)
    before = scale(before, getRowDims(link), by);
  // What was the largest is needed besides.
  if (link.op == stream.largest)
    before = copy(before, tile.makeEmpty(link));
  linalg::LinalgOp tiled = tile.make(link, before);
  if (!tiled)
    return failure();
  folded[link.op] = tiled->getResult(0);
  return success();
}

/// What weights are computed by, of the largest elements, which `link` finds.
Value StreamTiler::makeReference(const Link &link, Value largest) {
  Value reference = stream.body.reference->get();
  llvm::SmallPtrSet<Operation *, 4> needed;
  needed.insert(reference.getDefiningOp());
  for (const Link &other : llvm::reverse(stream.links))
    if (needed.contains(other.op) && other.role == StreamRole::Reference)
      for (Value operand : other.op->getOperands())
        needed.insert(operand.getDefiningOp());
  tile.made.map(link.op->getResult(0), largest);
  for (const Link &other : stream.links)
    if (needed.contains(other.op) && other.role == StreamRole::Reference)
      tile.make(other);
  return tile.made.lookup(reference);
}

/// What `body` makes of each row, of type `type`.
Value StreamTiler::makeRows(
    ValueRange inputs, Type type,
    function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  int64_t rank = cast<RankedTensorType>(inputs.front().getType()).getRank();
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              rewriter.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  Operation *reference = stream.body.reference->get().getDefiningOp();
  Value empty = tile.makeEmptyRows(getRowDims(*stream.find(reference)), type);
  auto emit = [&](OpBuilder &builder, Location loc, ValueRange values) {
    linalg::YieldOp::create(builder, loc, body(builder, loc, values));
  };
  return linalg::GenericOp::create(rewriter, loc, empty.getType(), inputs,
                                   empty, maps, kinds, emit)
      .getResult(0);
}

/// The weight that what was the reference `before` has by that of `now`.
Value StreamTiler::makeScale(Value before, Value now) {
  Type type = stream.body.chain.back()->getResult(0).getType();
  return makeRows({before, now}, type,
                  [&](OpBuilder &builder, Location loc, ValueRange values) {
                    return makeWeightOf(builder, loc, stream, std::nullopt,
                                        values[0], values[1]);
                  });
}

/// Makes what powers are computed with by the reference `now`. The power that
/// what was the reference `before` has by that.
Value StreamTiler::makePowers(Value before, Value now) {
  Type type = rewriter.getF32Type();
  if (powers->hasFactors())
    factors = makeRows(
        now, type, [&](OpBuilder &builder, Location loc, ValueRange values) {
          return powers->makeFactor(builder, loc, values[0]);
        });
  offsets = makeRows(
      now, type, [&](OpBuilder &builder, Location loc, ValueRange values) {
        return powers->makeOffset(builder, loc, values[0],
                                  powers->makeFactor(builder, loc, values[0]));
      });
  return makeRows({before, now, offsets}, type,
                  [&](OpBuilder &builder, Location loc, ValueRange values) {
                    return makePowerOf(builder, loc, *powers, values[0],
                                       values[1], values[2]);
                  });
}

/// `value`, the dimensions of which go along `dims`, times what rows have in
/// `by`.
Value StreamTiler::scale(Value value, const ChainDims &dims, Value by) {
  Operation *reference = stream.body.reference->get().getDefiningOp();
  AffineMap read =
      mapDims(rewriter.getContext(), getRowDims(*stream.find(reference)), dims);
  AffineMap map = rewriter.getMultiDimIdentityMap(dims.size());
  SmallVector<utils::IteratorType> kinds(dims.size(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             rewriter, loc, value.getType(), by, value,
             ArrayRef<AffineMap>{read, map}, kinds,
             [](OpBuilder &builder, Location loc, ValueRange values) {
               Value factor =
                   convertFloat(builder, loc, values[0], values[1].getType());
               Value product =
                   arith::MulFOp::create(builder, loc, values[1], factor);
               linalg::YieldOp::create(builder, loc, product);
             })
      .getResult(0);
}

/// `weights` in the type in which the second contraction multiplies them.
Value StreamTiler::narrow(Value weights) {
  SmallVector<Operation *> casts;
  for (const Link &link : stream.links)
    for (Operation *step : link.steps)
      if (isa<arith::ExtFOp, arith::TruncFOp>(step))
        casts.push_back(step);
  if (casts.empty())
    return weights;
  int64_t rank = cast<RankedTensorType>(weights.getType()).getRank();
  AffineMap map = rewriter.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, getSizes(rewriter, weights),
                              casts.back()->getResult(0).getType());
  return linalg::GenericOp::create(
             rewriter, loc, empty.getType(), weights, empty,
             ArrayRef<AffineMap>{map, map}, kinds,
             [&](OpBuilder &builder, Location loc, ValueRange values) {
               Value value = values[0];
               for (Operation *step : casts)
                 value = convertFloat(builder, loc, value,
                                      step->getResult(0).getType());
               linalg::YieldOp::create(builder, loc, value);
             })
      .getResult(0);
}

/// The largest elements, and what changes by them.
FailureOr<Value> StreamTiler::foldLargest(const Link &link) {
  if (stream.needsLargest) {
    linalg::LinalgOp own = tile.make(link, ownLargest);
    if (!own)
      return failure();
    ownLargest = own->getResult(0);
  }
  if (failed(fold(link, Value())))
    return failure();
  Value before = makeReference(link, carried.lookup(link.op));
  Value now = makeReference(link, folded.lookup(link.op));
  return powers ? makePowers(before, now) : makeScale(before, now);
}

/// The products of the columns at hand, added to what they were.
FailureOr<Value> StreamTiler::addProducts(Value before) {
  linalg::LinalgOp second = chain.second;
  OpOperand *factor =
      *llvm::find_if(second.getDpsInputOperands(), [&](OpOperand *input) {
        return stream.find(input->get().getDefiningOp());
      });
  const Link *between = stream.find(factor->get().getDefiningOp());
  const Link *weights = between;
  while (weights->role == StreamRole::Share)
    weights = stream.find(weights->weight->get().getDefiningOp());
  if (weights != between)
    tile.made.map(factor->get(),
                  narrow(tile.made.lookup(weights->op->getResult(0))));
  linalg::LinalgOp tiled = tile.makeSecond(before);
  if (!tiled)
    return failure();
  return tiled->getResult(0);
}

LogicalResult StreamTiler::makeBody() {
  Value by, products = loop.getRegionIterArgs().back();
  for (const Link &link : stream.links) {
    if (link.role == StreamRole::Columns && failed(makeColumns(link)))
      return failure();
    if (link.op == stream.largest) {
      FailureOr<Value> scale = foldLargest(link);
      if (failed(scale))
        return failure();
      by = *scale;
    } else if (link.isFold() && failed(fold(link, by))) {
      return failure();
    }
  }
  SmallVector<Value> results;
  for (const Link &link : stream.links)
    if (link.op == stream.largest)
      results.push_back(copy(folded.lookup(link.op), carried.lookup(link.op)));
    else if (link.isFold())
      results.push_back(folded.lookup(link.op));
  if (stream.needsLargest)
    results.push_back(ownLargest);
  if (by)
    products = scale(products, getResultDims(chain), by);
  FailureOr<Value> sums = addProducts(products);
  if (failed(sums))
    return failure();
  results.push_back(*sums);
  scf::YieldOp::create(rewriter, loc, results);
  return success();
}

/// What the loop leaves of rows that are there goes into the results.
Value StreamTiler::finish(Value last) {
  IRMapping ends;
  unsigned number = 0;
  for (const Link &link : stream.links)
    if (link.isFold())
      ends.map(link.op->getResult(0),
               tile.cut(loop.getResult(number++), getRowDims(link)));
  if (stream.needsLargest)
    ends.map(stream.largest->getResult(0),
             tile.cut(loop.getResult(number++),
                      getRowDims(*stream.find(stream.largest))));
  Value products = tile.cut(loop.getResults().back(), getResultDims(chain));
  // What starts from the results is in their place already.
  if (!getStart(chain.second) && products == loop.getResults().back())
    return products;
  return finishStream(rewriter, chain, stream, last, products, std::move(ends));
}

/// Lets weights be approximated if they are rounded to 16 bits for the second
/// contraction, which is a thousand times coarser. False if they are not.
static bool approximateWeights(RewriterBase &rewriter,
                               const ContractionChain &chain,
                               const ChainStream &stream) {
  constexpr unsigned kNarrowBits = 16;
  linalg::LinalgOp second = chain.second;
  for (Value factor : second.getDpsInputs())
    if (stream.find(factor.getDefiningOp()) &&
        getElementTypeOrSelf(factor).getIntOrFloatBitWidth() > kNarrowBits)
      return false;
  auto flags = arith::FastMathFlagsAttr::get(rewriter.getContext(),
                                             arith::FastMathFlags::afn);
  for (Operation *op : stream.body.chain)
    if (auto power = dyn_cast<math::ExpOp>(op))
      rewriter.modifyOpInPlace(power, [&] { power.setFastmathAttr(flags); });
    else if (auto power = dyn_cast<math::Exp2Op>(op))
      rewriter.modifyOpInPlace(power, [&] { power.setFastmathAttr(flags); });
  return true;
}

/// Goes through the columns from `first` to `last`.
LogicalResult StreamTiler::makeLoop(Value first, Value last) {
  if (approximateWeights(rewriter, chain, stream))
    powers = WeightPowers::find(rewriter, stream);
  if (powers)
    tile.masked = WeightPowers::findScores(stream);
  auto isKept = [&](Operation *op) { return stream.find(op); };
  for (const Link &link : stream.links)
    replaced[link.op] = findReplaced(link.op, isKept);
  Value step = arith::ConstantIndexOp::create(rewriter, loc, columns);
  SmallVector<Value> starts = makeStarts();
  ColumnRange range{first, last};
  if (stream.skipsMasked)
    range = findUnmasked(rewriter, stream, columns, range).value_or(range);
  enter(
      scf::ForOp::create(rewriter, loc, range.first, range.last, step, starts));
  if (failed(makeBody()))
    return linalg::LinalgOp(chain.second)
        .emitOpError("cannot go through its sums in steps; give no 'stream'");
  tile.fuseSlices();
  rewriter.setInsertionPointAfter(loop);
  return success();
}

LogicalResult StreamTiler::run() {
  linalg::LinalgOp second = chain.second;
  Value first = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value last = getValueOrCreateConstantIndexOp(rewriter, loc, tile.getExtent());
  if (failed(makeLoop(first, last)))
    return failure();
  Value result = finish(last);
  rewriter.replaceAllUsesWith(second->getResult(0), result);
  fuseIntoUser(rewriter, result);
  return success();
}

FailureOr<StreamPart> StreamTiler::runPart(Value first, Value last) {
  if (failed(makeLoop(first, last)))
    return failure();
  StreamPart part;
  part.powers = powers;
  auto add = [&](Value value, ChainDims dims) {
    part.values.push_back(tile.cut(value, dims));
    part.dims.push_back(std::move(dims));
  };
  unsigned number = 0;
  Value largest;
  for (const Link &link : stream.links) {
    if (!link.isFold())
      continue;
    if (link.op == stream.largest)
      largest = loop.getResult(number);
    add(loop.getResult(number++), getRowDims(link));
  }
  const Link &ofLargest = *stream.find(stream.largest);
  if (stream.needsLargest)
    add(loop.getResult(number), getRowDims(ofLargest));
  Operation *reference = stream.body.reference->get().getDefiningOp();
  if (reference != stream.largest)
    add(makeReference(ofLargest, largest), getRowDims(*stream.find(reference)));
  add(loop.getResults().back(), getResultDims(chain));
  return part;
}

LogicalResult streamChain(RewriterBase &rewriter, const ContractionChain &chain,
                          const ChainStream &stream, int64_t columns) {
  rewriter.setInsertionPoint(chain.second);
  return StreamTiler(rewriter, chain, stream, columns).run();
}

FailureOr<StreamPart> streamPart(RewriterBase &rewriter,
                                 const ContractionChain &chain,
                                 const ChainStream &stream, int64_t columns,
                                 Value first, Value last) {
  rewriter.setInsertionPoint(chain.second);
  return StreamTiler(rewriter, chain, stream, columns).runPart(first, last);
}

} // namespace mlir::workgroup
