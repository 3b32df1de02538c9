//===- TensorCopies.cpp - Copies of tiles by TMA --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The limits are those of `cuTensorMapEncodeTiled` (CUDA driver API) and of
// `cp.async.bulk.tensor` (PTX ISA).
//
//===----------------------------------------------------------------------===//

#include "TensorCopies.h"
#include "CopyShape.h"
#include "MemoryAccesses.h"
#include "Support/Views.h"
#include "TensorSwizzle.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

static constexpr size_t kMaxRank = 5;
static constexpr int64_t kMaxBoxExtent = 256;
/// The unit of the address of a tensor, of its strides, and of a box along the
/// innermost dimension; in bytes.
static constexpr int64_t kTensorUnit = 16;
static constexpr int64_t kMaxStrideBytes = int64_t(1) << 40;
/// Coordinates are of type s32.
static constexpr int64_t kMaxExtent = int64_t(1) << 31;
/// More of them, one after the other, take longer than the block would.
static constexpr int64_t kMaxLoads = 16;

int64_t TensorCopy::getNumLoads() const {
  return computeProduct(extents) / computeProduct(box);
}

int64_t TensorCopy::getSwizzleBytes() const {
  return layout ? layout.getSwizzleBytes(bytes / layout.getNumElements()) : 0;
}

int64_t TensorCopy::getAlignment() const {
  return layout ? getTensorPatternBytes(getSwizzleBytes())
                : kTensorCopyAlignment;
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

namespace {
/// Finds out whether TMA can copy a part of a tensor to a tile, or back. Each
/// step is false at an obstacle.
class Matcher {
public:
  /// `name` is what obstacles call the part of the tensor.
  Matcher(Value view, MemRefType tile, StringRef name, const TensorMaps &maps,
          AlignmentAnalysis &alignment, std::string &obstacle)
      : view(view), tile(tile), name(name), maps(maps), alignment(alignment),
        obstacle(obstacle) {}

  /// With a layout, `target` is not asked for.
  std::optional<TensorCopy> run(TileLayoutAttr layout, Value target) {
    copy.layout = layout;
    bool matches = matchElements() && matchShape(target) && traceView() &&
                   matchTensor() && chooseBox() && matchAlignment();
    return matches ? std::optional(std::move(copy)) : std::nullopt;
  }

private:
  bool matchElements();
  bool matchTile();
  bool matchShape(Value target);
  bool traceView();
  bool traceSlice(memref::SubViewOp slice);
  bool matchTensor();
  bool matchStride(int64_t stride, bool isInnermost);
  bool chooseBox();
  bool chooseSwizzledBox();
  bool matchAlignment();
  bool refuse(const Twine &why) {
    obstacle = why.str();
    return false;
  }
  bool refuseView(const Twine &why) {
    return refuse("the " + Twine(name) + " " + why);
  }

  Value view;
  MemRefType tile;
  StringRef name;
  const TensorMaps &maps;
  AlignmentAnalysis &alignment;
  std::string &obstacle;

  TensorCopy copy;
  int64_t elementBytes = 0;
  /// The tensor by the name that is closest to the view.
  Value nearest;
};
} // namespace

/// Any element of a size that a tensor map knows: TMA does not look inside. Not
/// `index`, of whose width upstream's operations ask the type.
bool Matcher::matchElements() {
  Type element = tile.getElementType();
  Operation *scope = view.getParentRegion()->getParentOp();
  elementBytes = getElementBytes(tile, scope).value_or(0);
  if (element.isIntOrFloat() &&
      element.getIntOrFloatBitWidth() == elementBytes * 8 &&
      llvm::is_contained({1, 2, 4, 8}, elementBytes))
    return true;
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return refuse("tensor maps have no elements like " + text);
}

/// A tile has the two dimensions of its layout, and others of one element.
bool Matcher::matchTile() {
  int64_t rows = copy.layout.getRows(), columns = copy.layout.getColumns();
  auto from = cast<MemRefType>(view.getType());
  copy.bytes = copy.layout.getNumElements() * elementBytes;
  if (from.getRank() == tile.getRank())
    copy.shape = llvm::to_vector(tile.getShape());
  else
    copy.shape = {rows, columns};
  if (copy.shape.size() != size_t(from.getRank()))
    return refuseView("has other dimensions than the tile");
  SmallVector<int64_t> extents;
  for (auto [extent, ofView] : llvm::zip_equal(copy.shape, from.getShape())) {
    if (extent != 1)
      extents.push_back(extent);
    else if (ofView != 1)
      return refuseView("may have no element along a dimension");
  }
  return extents == SmallVector<int64_t>{rows, columns} ||
         refuse("the layout of the tile is of another shape");
}

/// A box arrives whole and dense.
bool Matcher::matchShape(Value target) {
  if (copy.layout)
    return matchTile();
  copy.shape = getConstantExtents(view, target);
  if (llvm::any_of(copy.shape, ShapedType::isDynamic))
    return refuse("the extents are not constant");
  if (llvm::is_contained(copy.shape, 0))
    return refuse("there is nothing to copy");
  SmallVector<int64_t> strides = getStrides(tile);
  SmallVector<int64_t> dense = computeSuffixProduct(copy.shape);
  for (auto [extent, stride, expected] :
       llvm::zip_equal(copy.shape, strides, dense))
    if (extent != 1 && stride != expected)
      return refuse("the target is not contiguous");
  copy.bytes = computeProduct(copy.shape) * elementBytes;
  return true;
}

/// Goes from `slice` to what it is a slice of.
bool Matcher::traceSlice(memref::SubViewOp slice) {
  SmallVector<SmallVector<OpFoldResult, 2>> offsets;
  SmallVector<int64_t> extents;
  SmallVector<OpFoldResult> sizes;
  llvm::SmallBitVector dropped = getDroppedDims(slice);
  unsigned kept = 0;
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(),
                       slice.getMixedStrides())) {
    if (getConstantIntValue(stride) != 1 && getConstantIntValue(size) != 1)
      return refuseView("is a slice with steps other than one");
    offsets.push_back({offset});
    extents.push_back(1);
    sizes.push_back(size);
    if (dropped.test(dim))
      continue;
    llvm::append_range(offsets.back(), copy.offsets[kept]);
    if (copy.sizes[kept])
      sizes.back() = copy.sizes[kept];
    extents.back() = copy.extents[kept++];
  }
  copy.offsets = std::move(offsets);
  copy.extents = std::move(extents);
  copy.sizes = std::move(sizes);
  copy.tensor = nearest = slice.getSource();
  return true;
}

/// Follows views up to a memref that was not made in the kernel.
bool Matcher::traceView() {
  copy.tensor = nearest = view;
  copy.extents = copy.shape;
  copy.offsets.resize(copy.shape.size());
  for (int64_t size : cast<MemRefType>(view.getType()).getShape())
    copy.sizes.push_back(
        ShapedType::isDynamic(size)
            ? OpFoldResult()
            : IntegerAttr::get(IndexType::get(view.getContext()), size));
  while (Operation *op = copy.tensor.getDefiningOp()) {
    if (!isInDeviceCode(op))
      break;
    if (auto slice = dyn_cast<memref::SubViewOp>(op)) {
      if (!traceSlice(slice))
        return false;
      continue;
    }
    Value from = getViewSource(op);
    if (!from)
      break;
    if (!isa<memref::CastOp, memref::AssumeAlignmentOp,
             memref::MemorySpaceCastOp>(op) ||
        !isa<MemRefType>(from.getType()))
      return refuseView("is made by '" + op->getName().getStringRef() + "'");
    copy.tensor = from;
  }
  StringRef why = maps.getObstacle(copy.tensor);
  return why.empty() || refuse(why);
}

bool Matcher::matchStride(int64_t stride, bool isInnermost) {
  if (isInnermost)
    return stride == 1 ||
           refuseView("is not contiguous along its last dimension");
  if (ShapedType::isDynamic(stride))
    return refuse("a stride of the " + Twine(name) + " is not constant");
  int64_t bytes = stride * elementBytes;
  if (stride <= 0 || bytes % kTensorUnit != 0 || bytes >= kMaxStrideBytes)
    return refuse("the stride of " + Twine(bytes) + " bytes of the " + name +
                  " is no multiple of 16 below 2^40");
  return true;
}

/// Dimensions of one element, of the tile too, are left out; the others have to
/// suit a map.
bool Matcher::matchTensor() {
  auto type = cast<MemRefType>(copy.tensor.getType());
  SmallVector<int64_t> strides = getStrides(type);
  SmallVector<SmallVector<OpFoldResult, 2>> offsets;
  SmallVector<int64_t> extents;
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1 || copy.extents[dim] != 1) {
      copy.dims.push_back(dim);
      offsets.push_back(copy.offsets[dim]);
      extents.push_back(copy.extents[dim]);
      sizes.push_back(copy.sizes[dim]);
    }
  copy.offsets = std::move(offsets);
  copy.extents = std::move(extents);
  copy.sizes = std::move(sizes);
  if (copy.dims.empty())
    return refuseView("has one element");
  if (copy.dims.size() > kMaxRank)
    return refuseView("has " + Twine(copy.dims.size()) +
                      " dimensions, of which tensor maps have at most 5");
  for (unsigned dim : llvm::reverse(copy.dims)) {
    if (!matchStride(strides[dim], dim == copy.dims.back()))
      return false;
    if (type.getDimSize(dim) > kMaxExtent)
      return refuse("an extent of the " + Twine(name) + " is beyond 2^31");
  }
  return true;
}

/// The largest part of `extent` that boxes can have along a dimension if the
/// other ones of a box have `innerBytes` bytes; 0 if there is none. Parts that
/// begin where the pattern of a swizzle does are preferred.
static int64_t getBoxExtent(int64_t extent, int64_t innerBytes) {
  if (extent <= kMaxBoxExtent)
    return extent;
  constexpr int64_t kFewLoads = 8;
  auto find = [&](int64_t unit, int64_t least) -> int64_t {
    for (int64_t part = kMaxBoxExtent; part >= least; --part)
      if (extent % part == 0 && part * innerBytes % unit == 0)
        return part;
    return 0;
  };
  int64_t part = 0;
  if (getSwizzleKind(innerBytes))
    part = find(getTensorPatternBytes(innerBytes),
                llvm::divideCeil(extent, kFewLoads));
  return part > 0 ? part : find(kTensorCopyAlignment, 1);
}

/// Chooses the box of one load of a tile whose columns are cut into boxes.
bool Matcher::chooseSwizzledBox() {
  int64_t rowBytes = copy.layout.getSwizzleBytes(elementBytes);
  if (rowBytes == 0)
    return refuse("the layout of the tile is no swizzle of TMA");
  // Rows and columns are those dimensions of the tile that have more than one.
  if (copy.extents.back() != copy.layout.getColumns())
    return refuseView("is not contiguous along the columns of the tile");
  copy.box = copy.extents;
  copy.box.back() = copy.layout.getWidth();
  for (int64_t &extent : MutableArrayRef(copy.box).drop_back())
    if (extent > kMaxBoxExtent)
      extent = getBoxExtent(extent, rowBytes);
  if (copy.getNumLoads() > kMaxLoads)
    return refuse("it would take " + Twine(copy.getNumLoads()) + " loads");
  return true;
}

/// Chooses the box of one load, which is contiguous in the target: whole
/// dimensions, and maybe a part of one.
bool Matcher::chooseBox() {
  if (copy.layout)
    return chooseSwizzledBox();
  copy.box.assign(copy.extents.size(), 1);
  int64_t bytes = elementBytes;
  for (unsigned dim = copy.extents.size(); dim-- > 0;) {
    copy.box[dim] = getBoxExtent(copy.extents[dim], bytes);
    if (copy.box[dim] == 0)
      return refuse("an extent of " + Twine(copy.extents[dim]) +
                    " has no part of at most 256 that suits a box");
    bytes *= copy.box[dim];
    if (copy.box[dim] != copy.extents[dim])
      break;
  }
  if (int64_t rowBytes = copy.box.back() * elementBytes;
      rowBytes % kTensorUnit != 0)
    return refuse("a row of the tile has " + Twine(rowBytes) +
                  " bytes, no multiple of 16");
  if (copy.getNumLoads() > 1 && bytes % kTensorCopyAlignment != 0)
    return refuse("a part of the tile has " + Twine(bytes) +
                  " bytes, no multiple of 128");
  if (copy.getNumLoads() > kMaxLoads)
    return refuse("it would take " + Twine(copy.getNumLoads()) + " loads");
  return true;
}

bool Matcher::matchAlignment() {
  int64_t known = std::max(alignment.getAlignment(nearest),
                           maps.getAlignment(copy.tensor, alignment));
  if (known < kTensorUnit)
    return refuseView("is not known to be aligned to 16 bytes");
  return true;
}

std::string getProxyObstacle(Operation *writer) {
  return nameInRemark(writer) +
         " may have written its source before, by another proxy";
}

std::optional<TensorCopy> matchTensorCopy(Value source, Value target,
                                          const TensorMaps &maps,
                                          AlignmentAnalysis &alignment,
                                          std::string &obstacle,
                                          TileLayoutAttr layout) {
  auto tile = cast<MemRefType>(target.getType());
  std::optional<TensorCopy> copy =
      Matcher(source, tile, "source", maps, alignment, obstacle)
          .run(layout, target);
  if (!copy || alignment.getAlignment(target) >= copy->getAlignment())
    return copy;
  obstacle = "the target is not known to be aligned to " +
             std::to_string(copy->getAlignment()) + " bytes";
  return std::nullopt;
}

std::optional<TensorCopy> matchTensorStore(Value target, MemRefType tile,
                                           const TensorMaps &maps,
                                           AlignmentAnalysis &alignment,
                                           std::string &obstacle,
                                           TileLayoutAttr layout) {
  return Matcher(target, tile, "result", maps, alignment, obstacle)
      .run(layout, /*target=*/Value());
}

} // namespace mlir::workgroup
