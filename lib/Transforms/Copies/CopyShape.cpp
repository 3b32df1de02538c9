//===- CopyShape.cpp - The simple form of a copy --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyShape.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

std::optional<CopyOperands> getCopyOperands(Operation *op) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return CopyOperands{copy.getSource(), copy.getTarget()};
  auto copy = dyn_cast<linalg::CopyOp>(op);
  if (!copy || !copy.hasPureBufferSemantics())
    return std::nullopt;
  return CopyOperands{copy.getInputs()[0], copy.getOutputs()[0]};
}

SmallVector<int64_t> getStrides(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  return strides;
}

bool CopyShape::isEmpty() const {
  return llvm::any_of(extents, [](OpFoldResult extent) {
    return getConstantIntValue(extent) == 0;
  });
}

/// The number of values that are followed to find an extent.
static constexpr unsigned kMaxBoundValues = 32;

/// The extent of dimension `dim` of `memref` if it is constant, be it in the
/// type or by way of the values that it comes from.
static std::optional<int64_t> getConstantExtent(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  // Solving takes longer than linear time in the number of values.
  unsigned numValues = 0;
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::EQ, {memref, dim},
      [&](Value, std::optional<int64_t>, ValueBoundsConstraintSet &) {
        return ++numValues > kMaxBoundValues;
      });
  return succeeded(bound) ? std::optional(*bound) : std::nullopt;
}

StringRef getShapeObstacle(Value source, Value target) {
  auto type = cast<MemRefType>(target.getType());
  if (cast<MemRefType>(source.getType()).getRank() != type.getRank())
    return "operands of different ranks; cast them back to one shape";
  for (auto [dim, stride] : llvm::enumerate(getStrides(type))) {
    std::optional<int64_t> from = getConstantExtent(source, dim);
    std::optional<int64_t> to = getConstantExtent(target, dim);
    if (from && to && from != to)
      return "operands of different extents; copy between slices of one shape";
    if (stride == 0 && !(to && *to <= 1))
      return "elements of the target share an address by a stride of 0; copy "
             "the one that is to last";
  }
  return "";
}

bool isZero(Value value) {
  return matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat());
}

StringRef getPaddingObstacle(MemRefType source, MemRefType tile) {
  if (source.getShape() == tile.getShape() ||
      tile.getElementType().isIntOrIndexOrFloat())
    return "";
  return "only tiles of numbers can be filled with zeros";
}

SmallVector<int64_t> getConstantExtents(Value source, Value target) {
  SmallVector<int64_t> extents;
  int64_t rank = cast<MemRefType>(source.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    std::optional<int64_t> extent = getConstantExtent(source, dim);
    if (!extent)
      extent = getConstantExtent(target, dim);
    extents.push_back(extent.value_or(ShapedType::kDynamic));
  }
  return extents;
}

static SmallVector<OpFoldResult> computeExtents(RewriterBase &rewriter,
                                                Location loc, Value source,
                                                Value target) {
  SmallVector<OpFoldResult> extents;
  for (auto [dim, extent] :
       llvm::enumerate(getConstantExtents(source, target))) {
    if (!ShapedType::isDynamic(extent))
      extents.push_back(rewriter.getIndexAttr(extent));
    else
      extents.push_back(getAsOpFoldResult(
          rewriter.createOrFold<memref::DimOp>(loc, source, dim)));
  }
  return extents;
}

static SmallVector<int64_t> getStaticShape(ArrayRef<OpFoldResult> extents) {
  SmallVector<int64_t> shape;
  for (OpFoldResult extent : extents)
    shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
  return shape;
}

Value castToShape(RewriterBase &rewriter, Location loc, Value memref,
                  ArrayRef<int64_t> shape) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getShape() == shape)
    return memref;
  MemRefLayoutAttrInterface layout;
  if (!type.getLayout().isIdentity()) {
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)type.getStridesAndOffset(strides, offset);
    layout = StridedLayoutAttr::get(rewriter.getContext(), offset, strides);
  }
  auto known = MemRefType::get(shape, type.getElementType(), layout,
                               type.getMemorySpace());
  return memref::CastOp::create(rewriter, loc, known, memref);
}

/// Makes both sides the views that `getView` makes of a memref if `makesViews`,
/// and of the types that `getType` makes of theirs.
template <typename GetType, typename GetView>
static void replaceSides(CopyShape &shape, bool makesViews, GetType getType,
                         GetView getView) {
  auto replace = [&](Value &memref, MemRefType &type) {
    type = getType(type);
    if (makesViews)
      memref = getView(memref, type);
  };
  replace(shape.source, shape.sourceType);
  replace(shape.target, shape.targetType);
}

static void dropUnitDims(RewriterBase &rewriter, Location loc, CopyShape &shape,
                         bool makesViews) {
  SmallVector<OpFoldResult> kept;
  for (OpFoldResult extent : shape.extents)
    if (getConstantIntValue(extent) != 1)
      kept.push_back(extent);
  unsigned rank = shape.extents.size();
  if (kept.size() == rank)
    return;
  SmallVector<OpFoldResult> zeros(rank, rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(rank, rewriter.getIndexAttr(1));
  auto getType = [&](MemRefType type) {
    return memref::SubViewOp::inferRankReducedResultType(
        getStaticShape(kept), type, zeros, shape.extents, ones);
  };
  replaceSides(shape, makesViews, getType, [&](Value memref, MemRefType type) {
    return memref::SubViewOp::create(rewriter, loc, type, memref, zeros,
                                     shape.extents, ones);
  });
  shape.extents = kept;
}

/// The order of dimensions in which `strides` fall, as far as they are known:
/// by size, or with the dimension of stride one last.
static SmallVector<unsigned> getFallingOrder(ArrayRef<int64_t> strides) {
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, strides.size()));
  bool isKnown = llvm::none_of(strides, ShapedType::isDynamic);
  llvm::stable_sort(order, [&](unsigned lhs, unsigned rhs) {
    return isKnown ? strides[lhs] > strides[rhs]
                   : strides[lhs] != 1 && strides[rhs] == 1;
  });
  return order;
}

/// The type of a memref of `type`, which is strided, with its dimensions in
/// `order`.
static MemRefType getOrdered(MemRefType type, ArrayRef<unsigned> order) {
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  SmallVector<int64_t> orderedStrides, shape;
  for (unsigned dim : order) {
    orderedStrides.push_back(strides[dim]);
    shape.push_back(type.getDimSize(dim));
  }
  auto layout =
      StridedLayoutAttr::get(type.getContext(), offset, orderedStrides);
  return MemRefType::get(shape, type.getElementType(), layout,
                         type.getMemorySpace());
}

/// Orders the dimensions so that memory is walked along on one side.
static void orderDims(RewriterBase &rewriter, Location loc, CopyShape &shape,
                      bool followTarget, bool makesViews) {
  SmallVector<int64_t> ofSource = getStrides(shape.sourceType);
  SmallVector<int64_t> ofTarget = getStrides(shape.targetType);
  bool targetHasUnit = llvm::is_contained(ofTarget, 1);
  bool sourceHasUnit = llvm::is_contained(ofSource, 1);
  bool useTarget = followTarget ? targetHasUnit || !sourceHasUnit
                                : targetHasUnit && !sourceHasUnit;
  SmallVector<unsigned> order =
      getFallingOrder(useTarget ? ofTarget : ofSource);
  if (llvm::is_sorted(order))
    return;
  AffineMap permutation =
      AffineMap::getPermutationMap(order, rewriter.getContext());
  auto getType = [&](MemRefType type) { return getOrdered(type, order); };
  replaceSides(shape, makesViews, getType, [&](Value memref, MemRefType type) {
    return memref::TransposeOp::create(rewriter, loc, type, memref,
                                       AffineMapAttr::get(permutation));
  });
  SmallVector<OpFoldResult> ordered;
  for (unsigned dim : order)
    ordered.push_back(shape.extents[dim]);
  shape.extents = ordered;
}

/// Merges neighbouring dimensions that both sides hold contiguously.
static void mergeDims(RewriterBase &rewriter, Location loc, CopyShape &shape,
                      bool makesViews) {
  using memref::CollapseShapeOp;
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0, rank = shape.extents.size(); dim < rank; ++dim)
    groups.push_back({dim});
  for (unsigned i = groups.size(); i-- > 1;) {
    SmallVector<ReassociationIndices> merged = groups;
    llvm::append_range(merged[i - 1], merged[i]);
    merged.erase(merged.begin() + i);
    if (CollapseShapeOp::isGuaranteedCollapsible(shape.sourceType, merged) &&
        CollapseShapeOp::isGuaranteedCollapsible(shape.targetType, merged))
      groups = merged;
  }
  if (groups.size() == shape.extents.size())
    return;
  auto getType = [&](MemRefType type) {
    return CollapseShapeOp::computeCollapsedType(type, groups);
  };
  replaceSides(shape, makesViews, getType, [&](Value memref, MemRefType) {
    return CollapseShapeOp::create(rewriter, loc, memref, groups);
  });
  IndexBuilder index{rewriter, loc};
  SmallVector<OpFoldResult> products;
  for (const ReassociationIndices &group : groups) {
    OpFoldResult product = rewriter.getIndexAttr(1);
    for (int64_t dim : group)
      product = index.mul(product, shape.extents[dim]);
    products.push_back(product);
  }
  shape.extents = products;
}

Value respellWorkgroupMemory(RewriterBase &rewriter, Location loc,
                             Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (nvgpu::NVGPUDialect::hasSharedMemoryAddressSpace(type))
    return memref;
  Attribute space = getWorkgroupSpace(rewriter.getContext());
  return memref::MemorySpaceCastOp::create(
      rewriter, loc, cast<MemRefType>(withMemorySpace(type, space)), memref);
}

CopyShape simplifyCopy(RewriterBase &rewriter, Location loc, Value source,
                       Value target, bool followTarget, bool makesViews) {
  CopyShape shape{source, target,
                  computeExtents(rewriter, loc, source, target)};
  if (shape.isEmpty())
    return shape;
  SmallVector<int64_t> extents = getStaticShape(shape.extents);
  shape = {castToShape(rewriter, loc, source, extents),
           castToShape(rewriter, loc, target, extents), shape.extents};
  dropUnitDims(rewriter, loc, shape, makesViews);
  orderDims(rewriter, loc, shape, followTarget, makesViews);
  mergeDims(rewriter, loc, shape, makesViews);
  return shape;
}

} // namespace mlir::workgroup
