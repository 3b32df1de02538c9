//===- GatherIndices.cpp - Where a gather reads ---------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GatherIndices.h"
#include "Copy.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

namespace {
struct PlaceRange {
  int64_t least, most;
};
} // namespace

static std::optional<PlaceRange> getRange(AffineExpr expr,
                                          ArrayRef<int64_t> shape);

/// The range of `expr`, the operands of which have the ranges `lhs` and `rhs`;
/// nothing if it is not known.
static std::optional<PlaceRange> combine(AffineBinaryOpExpr expr,
                                         PlaceRange lhs, PlaceRange rhs) {
  int64_t by = rhs.least;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return PlaceRange{lhs.least + rhs.least, lhs.most + rhs.most};
  case AffineExprKind::Mul:
    if (by < 0)
      std::swap(lhs.least, lhs.most);
    return PlaceRange{lhs.least * by, lhs.most * by};
  case AffineExprKind::FloorDiv:
    if (by <= 0)
      return std::nullopt;
    return PlaceRange{llvm::divideFloorSigned(lhs.least, by),
                      llvm::divideFloorSigned(lhs.most, by)};
  case AffineExprKind::CeilDiv:
    if (by <= 0)
      return std::nullopt;
    return PlaceRange{llvm::divideCeilSigned(lhs.least, by),
                      llvm::divideCeilSigned(lhs.most, by)};
  case AffineExprKind::Mod:
    if (by <= 0)
      return std::nullopt;
    if (lhs.least >= 0 && lhs.most < by)
      return lhs;
    return PlaceRange{0, by - 1};
  default:
    return std::nullopt;
  }
}

/// The values of `expr` on a tile of `shape`; nothing if they are not known.
static std::optional<PlaceRange> getRange(AffineExpr expr,
                                          ArrayRef<int64_t> shape) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return PlaceRange{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return PlaceRange{0, shape[dim.getPosition()] - 1};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<PlaceRange> lhs = getRange(binary.getLHS(), shape);
  std::optional<PlaceRange> rhs = getRange(binary.getRHS(), shape);
  bool isSum = binary.getKind() == AffineExprKind::Add;
  if (!lhs || !rhs || (!isSum && rhs->least != rhs->most))
    return std::nullopt;
  return combine(binary, *lhs, *rhs);
}

GatherIndices::GatherIndices(GatherOp op) : op(op), map(op.getMap()) {
  auto source = cast<MemRefType>(op.getSource().getType());
  ArrayRef<int64_t> tile = cast<MemRefType>(op.getTile().getType()).getShape();
  for (auto [place, extent] :
       llvm::zip_equal(map.getResults(), source.getShape())) {
    std::optional<PlaceRange> range = getRange(place, tile);
    bool isKnown = range && !ShapedType::isDynamic(extent);
    bounds.push_back(
        {!range || range->least < 0, !isKnown || range->most >= extent});
  }
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

bool GatherIndices::hasRuns(int64_t length) const {
  unsigned last = map.getNumDims() - 1;
  if (map.getNumDims() == 0 || map.getNumResults() == 0)
    return false;
  for (AffineExpr place : map.getResults().drop_back())
    if (place.isFunctionOfDim(last))
      return false;
  AffineExpr start = simplifyAffineExpr(
      map.getResults().back() - getAffineDimExpr(last, map.getContext()),
      map.getNumDims(), map.getNumSymbols());
  return !start.isFunctionOfDim(last) && start.isMultipleOf(length);
}

bool GatherIndices::isInside() const {
  return op.getExtents().empty() && llvm::none_of(bounds, [](Bounds of) {
           return of.mayBeBelow || of.mayBeAbove;
         });
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

SmallVector<Value> GatherIndices::getSource(IndexBuilder &index,
                                            ArrayRef<OpFoldResult> indices,
                                            bool isClamped) const {
  SmallVector<OpFoldResult> operands(indices);
  llvm::append_range(operands, op.getSymbols());
  SmallVector<Value> places;
  for (auto [place, of] : llvm::zip_equal(map.getResults(), bounds)) {
    AffineMap single =
        AffineMap::get(map.getNumDims(), map.getNumSymbols(), place);
    Value found = index.value(affine::makeComposedFoldedAffineApply(
        index.builder, index.loc, single, operands));
    if (isClamped && of.mayBeBelow)
      found =
          arith::MaxSIOp::create(index.builder, index.loc, found,
                                 index.value(index.builder.getIndexAttr(0)));
    places.push_back(found);
  }
  return places;
}

/// The elements of a run that are left of `extent` behind `first`, from none to
/// `count`.
static Value countLeft(IndexBuilder &index, Value extent, Value first,
                       Value count) {
  Value zero = index.value(index.builder.getIndexAttr(0));
  Value left = arith::SubIOp::create(index.builder, index.loc, extent, first);
  left = arith::MaxSIOp::create(index.builder, index.loc, left, zero);
  return arith::MinSIOp::create(index.builder, index.loc, left, count);
}

/// `count` if `lhs` and `rhs` compare as `predicate` says, else none.
static Value countIf(IndexBuilder &index, arith::CmpIPredicate predicate,
                     Value lhs, Value rhs, Value count) {
  Value isIn =
      arith::CmpIOp::create(index.builder, index.loc, predicate, lhs, rhs);
  return arith::SelectOp::create(index.builder, index.loc, isIn, count,
                                 index.value(index.builder.getIndexAttr(0)));
}

Value GatherIndices::getCount(IndexBuilder &index,
                              ArrayRef<OpFoldResult> indices,
                              ArrayRef<OpFoldResult> available,
                              int64_t length) const {
  Value count = index.value(index.builder.getIndexAttr(length));
  SmallVector<Value> places = getSource(index, indices);
  for (auto [dim, of] : llvm::enumerate(bounds)) {
    Value extent = index.value(available[dim]);
    bool isRun = dim + 1 == bounds.size();
    if (isRun && of.mayBeAbove)
      count = countLeft(index, extent, places[dim], count);
    // A run begins at a multiple of its length: none lies on both sides of 0.
    if (isRun && of.mayBeBelow)
      count = countIf(index, arith::CmpIPredicate::sge, places[dim],
                      index.value(index.builder.getIndexAttr(0)), count);
    if (!isRun && (of.mayBeAbove || of.mayBeBelow))
      count =
          countIf(index, arith::CmpIPredicate::ult, places[dim], extent, count);
  }
  ArrayRef<int64_t> tile = cast<MemRefType>(op.getTile().getType()).getShape();
  for (auto [dim, extent] : llvm::enumerate(op.getExtents())) {
    if (getConstantIntValue(extent) == tile[dim])
      continue;
    Value at = index.value(indices[dim]);
    count = dim + 1 == indices.size()
                ? countLeft(index, extent, at, count)
                : countIf(index, arith::CmpIPredicate::ult, at, extent, count);
  }
  return count;
}

Copy makeGather(GatherOp op) {
  Copy copy{op, op.getSource(), op.getTile()};
  copy.gather = op;
  copy.isPadded = !GatherIndices(op).isInside();
  return copy;
}

} // namespace mlir::workgroup
