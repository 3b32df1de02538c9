//===- AccessFootprint.cpp - What an access touches of its memref ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessFootprint.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

AccessShape AccessShape::ofElement(ValueRange indices) {
  AccessShape shape;
  for (Value index : indices)
    shape.dimensions.emplace_back().index.add(index, 1);
  return shape;
}

AccessShape AccessShape::ofMap(AffineMap map, ValueRange operands) {
  AccessShape shape;
  for (unsigned number = 0, e = map.getNumResults(); number != e; ++number)
    shape.dimensions.emplace_back().index.add(map.getSubMap(number), operands,
                                              1);
  return shape;
}

std::optional<AccessShape> AccessShape::ofAll(const MemRefAddress &address) {
  AccessShape shape;
  for (const MemRefAddress::Dimension &dimension : address.dimensions) {
    if (!dimension.extent)
      return std::nullopt;
    shape.dimensions.push_back({{}, dimension.extent, /*isInBounds=*/false});
  }
  return shape;
}

AccessShape AccessShape::ofTransfer(VectorTransferOpInterface transfer) {
  AccessShape shape = ofElement(transfer.getIndices());
  VectorType type = transfer.getVectorType();
  Builder builder(transfer.getContext());
  AffineMap map = transfer.getPermutationMap();
  for (auto [number, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      continue; // the same element again
    Dimension &dimension = shape.dimensions[dim.getPosition()];
    dimension.count = builder.getIndexAttr(type.getDimSize(number));
    dimension.isInBounds = transfer.isDimInBounds(number);
    dimension.isClipped = !dimension.isInBounds;
    shape.isPartial |= dimension.isClipped;
  }
  if (transfer.getMaskType())
    shape.setMasked();
  return shape;
}

bool AccessShape::setVector(Type vector, MemRefType memref) {
  auto type = dyn_cast<VectorType>(vector);
  if (vector == memref.getElementType() || !type)
    return true; // an element
  if (type.isScalable() || type.getElementType() != memref.getElementType() ||
      type.getRank() > int64_t(dimensions.size()))
    return false;
  Builder builder(memref.getContext());
  for (auto [dimension, extent] :
       llvm::zip(llvm::reverse(dimensions), llvm::reverse(type.getShape())))
    dimension.count = builder.getIndexAttr(extent);
  if (kept) {
    dimensions.back().count = kept;
    dimensions.back().limit = type.getShape().back();
  }
  return true;
}

void AccessShape::setRun(int64_t count, MLIRContext *context) {
  if (!dimensions.empty())
    dimensions.back().count = Builder(context).getIndexAttr(count);
}

void AccessShape::setMasked() {
  isPartial = true;
  for (Dimension &dimension : dimensions)
    dimension.isInBounds = false; // what is masked off may be anywhere
}

//===----------------------------------------------------------------------===//
// Footprints
//===----------------------------------------------------------------------===//

/// Takes runs of neighbours out of the box, the shortest steps first.
static void foldRuns(AccessFootprint &footprint) {
  llvm::stable_sort(footprint.box, [](auto &lhs, auto &rhs) {
    return std::abs(lhs.stride) < std::abs(rhs.stride);
  });
  unsigned last = footprint.coordinates.size() - 1;
  llvm::erase_if(footprint.box, [&](const AccessFootprint::Extent &extent) {
    std::optional<int64_t> count = getConstantIntValue(extent.count);
    if (count == 1 || (count && extent.stride == 0))
      return true;
    if (!count || extent.clip || extent.coordinate != last ||
        extent.stride != footprint.run)
      return false;
    footprint.run *= *count;
    return true;
  });
}

AccessFootprint getFootprint(const MemRefAddress &address,
                             const AccessShape &shape) {
  AccessFootprint footprint;
  footprint.basis = address.basis;
  footprint.coordinates = address.origin;
  footprint.bounds = address.bounds;
  footprint.run = address.basis ? 1 : address.elementBytes;
  footprint.isPartial = shape.isPartial;
  for (auto [at, along] :
       llvm::zip_equal(shape.dimensions, address.dimensions)) {
    footprint.coordinates[along.coordinate].add(at.index, along.stride);
    AccessFootprint::Bound bound{at.index, along.extent};
    if (at.isInBounds && along.extent && !at.index.isConstant() &&
        !llvm::is_contained(footprint.bounds, bound))
      footprint.bounds.push_back(std::move(bound));
    if (!at.count)
      continue;
    footprint.box.push_back(
        {at.count, along.stride, along.coordinate, at.limit});
    if (at.isClipped && along.extent)
      footprint.box.back().clip = {at.index, along.extent};
    std::optional<int64_t> count = getConstantIntValue(at.count);
    if (!at.isInBounds || !along.extent || !count || *count < 2)
      continue;
    AccessFootprint::Bound last{at.index, along.extent};
    last.index.constant += *count - 1;
    footprint.lastBounds.push_back(std::move(last));
  }
  foldRuns(footprint);
  return footprint;
}

/// The distance from the first place of `footprint` to the last one along a
/// coordinate; nothing if that is not known, or if some of it is before the
/// first.
static std::optional<int64_t> getReach(const AccessFootprint &footprint,
                                       unsigned coordinate) {
  bool isLast = coordinate + 1 == footprint.coordinates.size();
  int64_t reach = isLast ? footprint.run - 1 : 0;
  for (const AccessFootprint::Extent &extent : footprint.box) {
    if (extent.coordinate != coordinate)
      continue;
    std::optional<int64_t> count = getConstantIntValue(extent.count);
    if (!count && extent.limit != 0)
      count = extent.limit;
    int64_t length;
    if (!count || extent.stride < 0 ||
        llvm::MulOverflow(extent.stride, std::max<int64_t>(0, *count - 1),
                          length) ||
        llvm::AddOverflow(reach, length, reach))
      return std::nullopt;
  }
  return reach;
}

bool areApart(const AccessFootprint &lhs, const AccessFootprint &rhs) {
  if (lhs.basis != rhs.basis ||
      lhs.coordinates.size() != rhs.coordinates.size())
    return false;
  for (auto [i, left, right] :
       llvm::enumerate(lhs.coordinates, rhs.coordinates)) {
    int64_t distance;
    if (left.terms != right.terms || left.affineTerms != right.affineTerms ||
        llvm::SubOverflow(right.constant, left.constant, distance))
      continue;
    std::optional<int64_t> ofLeft = getReach(lhs, i),
                           ofRight = getReach(rhs, i);
    if ((ofLeft && ofRight) && (distance > *ofLeft || -distance > *ofRight))
      return true;
  }
  return false;
}

} // namespace mlir::workgroup
