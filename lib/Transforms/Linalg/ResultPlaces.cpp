//===- ResultPlaces.cpp - Where operations write their results ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultPlaces.h"
#include "LinalgClasses.h"
#include "LinalgMaps.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace mlir::workgroup {

bool ResultPlaces::isWhole() const {
  return llvm::all_of(dims, [](const ResultPlace &dim) { return dim.isWhole; });
}

bool ResultPlaces::isPlain() const {
  return isWhole() && llvm::all_of(dims, [](const ResultPlace &dim) {
           return dim.loops.size() <= 1;
         });
}

//===----------------------------------------------------------------------===//
// One dimension
//===----------------------------------------------------------------------===//

static std::string print(AffineExpr index) {
  std::string text;
  llvm::raw_string_ostream(text) << index;
  return text;
}

namespace {

/// A loop of which `factor` times the value is a part of an index.
struct IndexTerm {
  unsigned loop;
  int64_t factor;
};

} // namespace

/// The loops in `index`, those in the longest steps first, and what is added;
/// nothing if it is no sum of that kind.
static std::optional<std::pair<SmallVector<IndexTerm>, int64_t>>
getTerms(AffineExpr index, unsigned numLoops) {
  SmallVector<int64_t> factors;
  if (failed(getFlattenedAffineExpr(index, numLoops, /*numSymbols=*/0,
                                    &factors)) ||
      factors.size() != numLoops + 1)
    return std::nullopt;
  SmallVector<IndexTerm> terms;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (factors[loop] != 0)
      terms.push_back({loop, factors[loop]});
  llvm::stable_sort(terms, [](const IndexTerm &lhs, const IndexTerm &rhs) {
    return lhs.factor > rhs.factor;
  });
  return std::pair(terms, factors.back());
}

/// What the loops of `index` write of a dimension of `size` elements; says
/// `why` if some of its elements may be written twice, or between others.
static std::optional<ResultPlace> getPlace(AffineExpr index, int64_t size,
                                           ArrayRef<int64_t> extents,
                                           std::string &why) {
  ResultPlace place;
  auto terms = getTerms(index, extents.size());
  if (!terms || (!terms->first.empty() && terms->first.back().factor < 0)) {
    why = "its index " + print(index) +
          " is no sum of loops in steps that are positive and constant";
    return std::nullopt;
  }
  place.offset = terms->second;
  place.stride = terms->first.empty() ? 1 : terms->first.back().factor;
  int64_t next = place.stride;
  for (auto [loop, factor] : llvm::reverse(terms->first)) {
    if (factor != next || ShapedType::isDynamic(next)) {
      why = "its index " + print(index) +
            " may reach an element twice, or leave some out, as the steps of "
            "one loop are not as long as what the next ones go through";
      return std::nullopt;
    }
    place.loops.insert(place.loops.begin(), loop);
    bool isKnown = !ShapedType::isDynamic(extents[loop]);
    next = isKnown ? factor * extents[loop] : ShapedType::kDynamic;
  }
  place.isWhole = place.offset == 0 && place.stride == 1 &&
                  !ShapedType::isDynamic(next) && next == size;
  return place;
}

//===----------------------------------------------------------------------===//
// All of a result
//===----------------------------------------------------------------------===//

std::optional<ResultPlaces> getResultPlaces(linalg::LinalgOp op,
                                            OpOperand &init, std::string *why) {
  SmallVector<AffineExpr> iterations = getIterations(op);
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  ResultPlaces places;
  places.loops.resize(op.getNumLoops());
  std::string reason;
  for (auto [index, size] : llvm::zip_equal(
           op.getMatchingIndexingMap(&init).getResults(), op.getShape(&init))) {
    auto place = getPlace(index.replaceDims(iterations), size, extents, reason);
    if (place && llvm::any_of(place->loops, [&](unsigned loop) {
          return places.loops.test(loop);
        })) {
      reason = "a loop is in two of its indices";
      place.reset();
    }
    if (!place) {
      if (why)
        *why = reason;
      return std::nullopt;
    }
    for (unsigned loop : place->loops)
      places.loops.set(loop);
    place->isWhole |= isa<AffineDimExpr>(index); // or it would be no operation
    places.dims.push_back(std::move(*place));
  }
  return places;
}

bool isWrittenWhole(linalg::LinalgOp op, OpOperand &init) {
  std::optional<ResultPlaces> places = getResultPlaces(op, init);
  return places && places->isWhole();
}

/// The first of the loops of `op` that `isWrong`; nothing if there is none.
static std::optional<unsigned>
findLoop(linalg::LinalgOp op,
         function_ref<bool(unsigned, utils::IteratorType)> isWrong) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (extents[loop] != 1 && isWrong(loop, kind))
      return loop;
  return std::nullopt;
}

static LogicalResult checkResultMap(linalg::LinalgOp op, OpOperand &init) {
  auto refuse = [&](const Twine &why) {
    return op->emitOpError("does not write each element of its result #")
           << op.getTiedOpResult(&init).getResultNumber() << " once: " << why;
  };
  std::string why;
  std::optional<ResultPlaces> places = getResultPlaces(op, init, &why);
  if (!places)
    return refuse(why + "; let loops of their own go through its dimensions, "
                        "with a condition in the body, or tensor.extract of "
                        "what is read");
  if (auto sum = findLoop(op, [&](unsigned loop, utils::IteratorType kind) {
        return kind == utils::IteratorType::reduction && places->loops[loop];
      }))
    return refuse("it goes along the reduction d" + Twine(*sum) +
                  ", and reads what another result has up to there; compute "
                  "these one after the other, by scf.for");
  if (auto lost = findLoop(op, [&](unsigned loop, utils::IteratorType kind) {
        return kind == utils::IteratorType::parallel && !places->loops[loop];
      }))
    return refuse("the iterations of the parallel loop d" + Twine(*lost) +
                  " write to the same place; make it a reduction");
  return success();
}

LogicalResult checkResultMaps(linalg::LinalgOp op) {
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!isEmpty(op) && failed(checkResultMap(op, init)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Laying out
//===----------------------------------------------------------------------===//

namespace {

/// Gives one result of an operation a dimension for each of its loops.
class ResultLayout {
public:
  ResultLayout(RewriterBase &rewriter, linalg::GenericOp op, OpOperand &init,
               ResultPlaces places)
      : rewriter(rewriter), op(op), init(init), places(std::move(places)) {}

  /// False if the number of iterations is that of no dimension of an operand.
  bool findExtents();
  /// What the loops write to, and by which map.
  std::pair<Value, AffineMap> makeStart();
  /// The whole result, of what the loops have `written`.
  Value makeResult(Value written);

private:
  bool isFull(unsigned dim);
  OpFoldResult multiply(ArrayRef<unsigned> loops);

  RewriterBase &rewriter;
  linalg::GenericOp op;
  OpOperand &init;
  ResultPlaces places;
  DenseMap<unsigned, OpFoldResult> extents;
  SmallVector<ReassociationIndices> groups;
  /// Of the part that is written.
  SmallVector<OpFoldResult> offsets, sizes, strides;
  RankedTensorType part;
};

} // namespace

bool ResultLayout::findExtents() {
  rewriter.setInsertionPoint(op);
  for (unsigned loop : places.loops.set_bits()) {
    std::optional<OpFoldResult> extent = findExtent(rewriter, op, loop);
    if (!extent)
      return false;
    extents[loop] = *extent;
  }
  return true;
}

/// The number of iterations of `loops` together.
OpFoldResult ResultLayout::multiply(ArrayRef<unsigned> loops) {
  OpFoldResult product = rewriter.getIndexAttr(1);
  AffineExpr lhs = rewriter.getAffineSymbolExpr(0),
             rhs = rewriter.getAffineSymbolExpr(1);
  for (unsigned loop : loops)
    product = affine::makeComposedFoldedAffineApply(
        rewriter, op.getLoc(), lhs * rhs, {product, extents[loop]});
  return product;
}

/// True if what is written along `dim` is known to be all of it.
bool ResultLayout::isFull(unsigned dim) {
  const ResultPlace &place = places.dims[dim];
  if (place.isWhole)
    return true;
  if (place.offset != 0 || place.stride != 1)
    return false;
  FailureOr<bool> isEqual = ValueBoundsConstraintSet::areEqual(
      ValueBoundsConstraintSet::Variable(init.get(), dim),
      ValueBoundsConstraintSet::Variable(sizes[dim]));
  return succeeded(isEqual) && *isEqual;
}

std::pair<Value, AffineMap> ResultLayout::makeStart() {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> inner;
  SmallVector<AffineExpr> indices;
  bool isAll = true;
  for (auto [dim, place] : llvm::enumerate(places.dims)) {
    sizes.push_back(multiply(place.loops));
    isAll &= isFull(dim);
    offsets.push_back(rewriter.getIndexAttr(place.offset));
    strides.push_back(rewriter.getIndexAttr(place.stride));
    ReassociationIndices &group = groups.emplace_back();
    for (unsigned loop : place.loops) {
      group.push_back(indices.size());
      inner.push_back(extents[loop]);
      indices.push_back(rewriter.getAffineDimExpr(loop));
    }
    if (!place.loops.empty())
      continue;
    group.push_back(indices.size());
    inner.push_back(rewriter.getIndexAttr(1));
    indices.push_back(rewriter.getAffineConstantExpr(0));
  }
  Value start = init.get();
  if (!isAll)
    start = tensor::ExtractSliceOp::create(rewriter, loc, start, offsets, sizes,
                                           strides);
  else
    sizes.clear();
  part = cast<RankedTensorType>(start.getType());
  if (indices.size() > groups.size()) {
    auto type = RankedTensorType::get(
        llvm::map_to_vector(inner,
                            [](OpFoldResult size) {
                              return getConstantIntValue(size).value_or(
                                  ShapedType::kDynamic);
                            }),
        part.getElementType());
    start = tensor::ExpandShapeOp::create(rewriter, loc, type, start, groups,
                                          inner);
  }
  return {start,
          AffineMap::get(op.getNumLoops(), 0, indices, rewriter.getContext())};
}

Value ResultLayout::makeResult(Value written) {
  Location loc = op.getLoc();
  if (cast<RankedTensorType>(written.getType()).getRank() != part.getRank())
    written =
        tensor::CollapseShapeOp::create(rewriter, loc, part, written, groups);
  if (!sizes.empty())
    written = tensor::InsertSliceOp::create(rewriter, loc, written, init.get(),
                                            offsets, sizes, strides);
  return written;
}

void layOutResults(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<Value> starts(op.getOutputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  std::vector<std::pair<unsigned, ResultLayout>> layouts;
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    std::optional<ResultPlaces> places = getResultPlaces(op, init);
    if (!places || places->isPlain())
      continue;
    ResultLayout layout(rewriter, op, init, std::move(*places));
    if (!layout.findExtents())
      continue;
    std::tie(starts[number], maps[init.getOperandNumber()]) =
        layout.makeStart();
    layouts.emplace_back(number, std::move(layout));
  }
  if (layouts.empty())
    return;
  auto replacement = linalg::GenericOp::create(
      rewriter, op.getLoc(), ValueRange(starts).getTypes(), op.getInputs(),
      starts, maps, op.getIteratorTypesArray());
  replacement->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  replacement.getRegion().takeBody(op.getRegion());
  SmallVector<Value> results(replacement.getResults());
  for (auto &[number, layout] : layouts)
    results[number] = layout.makeResult(results[number]);
  rewriter.replaceOp(op, results);
}

} // namespace mlir::workgroup
