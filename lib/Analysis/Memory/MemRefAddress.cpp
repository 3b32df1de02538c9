//===- MemRefAddress.cpp - Where the elements of a memref are -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemRefAddress.h"
#include "PointerAddress.h"
#include "Support/Views.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

using Result = std::optional<MemRefAddress>;
using FixedQuery = MemRefAddress::FixedQuery;

/// The product modulo 2^64.
static int64_t multiplyWrapping(int64_t lhs, int64_t rhs) {
  return int64_t(uint64_t(lhs) * uint64_t(rhs));
}

static OpFoldResult getIndex(MLIRContext *context, int64_t number) {
  return IntegerAttr::get(IndexType::get(context), number);
}

static OpFoldResult getStaticExtent(MemRefType type, unsigned dim) {
  return type.isDynamicDim(dim)
             ? OpFoldResult()
             : getIndex(type.getContext(), type.getDimSize(dim));
}

/// The extents of `memref`, with the values that its definition says are the
/// dynamic ones.
static SmallVector<OpFoldResult> getExtents(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> extents;
  for (unsigned dim = 0, e = type.getRank(); dim != e; ++dim)
    extents.push_back(getStaticExtent(type, dim));
  Operation *definition = memref.getDefiningOp();
  if (!definition)
    return extents;
  ValueRange sizes = llvm::TypeSwitch<Operation *, ValueRange>(definition)
                         .Case<memref::AllocOp, memref::AllocaOp, gpu::AllocOp>(
                             [](auto op) { return op.getDynamicSizes(); })
                         .Case([](memref::ViewOp op) { return op.getSizes(); })
                         .Default([](Operation *) { return ValueRange(); });
  for (OpFoldResult &extent : extents)
    if (!extent && !sizes.empty()) {
      extent = sizes.front();
      sizes = sizes.drop_front();
    }
  return extents;
}

static bool isStatic(OpFoldResult extent, int64_t number) {
  return extent && getConstantIntValue(extent) == number;
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

/// The address of `memref` by its type, for a pointer to `base`: in bytes if
/// the strides are constants, else, if `isFixed`, by its own indices.
static Result getAddressAt(Value memref, std::optional<LinearIndex> base,
                           FixedQuery isFixed) {
  auto type = cast<MemRefType>(memref.getType());
  Operation *scope = memref.getParentRegion()->getParentOp();
  std::optional<int64_t> bytes = getElementBytes(type, scope);
  if (!bytes)
    return std::nullopt;
  MemRefAddress address;
  address.elementBytes = *bytes;
  address.base = base;
  SmallVector<OpFoldResult> extents = getExtents(memref);
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  bool isConstant = succeeded(type.getStridesAndOffset(strides, offset)) &&
                    !llvm::is_contained(strides, ShapedType::kDynamic);
  if (isConstant && base && !ShapedType::isDynamic(offset)) {
    address.origin.push_back(*base);
    address.origin.front().constant += multiplyWrapping(offset, *bytes);
    for (auto [stride, extent] : llvm::zip_equal(strides, extents))
      address.dimensions.push_back(
          {0, multiplyWrapping(stride, *bytes), extent});
    return address;
  }
  if (!isFixed())
    return std::nullopt;
  address.basis = memref;
  // The only element of a memref of rank 0 has a coordinate, too.
  size_t numCoordinates = std::max<size_t>(extents.size(), 1);
  address.origin.resize(numCoordinates);
  strides.resize(numCoordinates, ShapedType::kDynamic);
  address.coordinateBytes.clear();
  for (int64_t stride : strides)
    address.coordinateBytes.push_back(ShapedType::isDynamic(stride)
                                          ? stride
                                          : multiplyWrapping(stride, *bytes));
  for (auto [number, extent] : llvm::enumerate(extents))
    address.dimensions.push_back({unsigned(number), 1, extent});
  return address;
}

/// The address of a pointer: that of one byte, without an end.
static MemRefAddress getPointee(const LinearIndex &byte) {
  MemRefAddress address;
  address.origin.push_back(byte);
  address.base = byte;
  address.elementBytes = 1;
  return address;
}

std::optional<MemRefAddress> MemRefAddress::ofRoot(Value root,
                                                   FixedQuery isFixed) {
  if (auto group = dyn_cast<nvgpu::MBarrierGroupType>(root.getType())) {
    constexpr int64_t kMBarrierBytes = 8;
    MemRefAddress address;
    address.elementBytes = kMBarrierBytes;
    address.origin.emplace_back();
    address.dimensions.push_back(
        {0, kMBarrierBytes,
         getIndex(group.getContext(), group.getNumBarriers())});
    return address;
  }
  if (isa<LLVM::LLVMPointerType>(root.getType()))
    return getPointee(LinearIndex());
  if (!isa<MemRefType>(root.getType()))
    return std::nullopt;
  return getAddressAt(root, LinearIndex(), isFixed);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The address of `view`, a view of all of `source`, by its type: without a
/// layout its elements follow each other from where the pointer points to.
static Result getContiguous(Value view, const MemRefAddress &source,
                            FixedQuery isFixed) {
  if (!source.base ||
      !cast<MemRefType>(view.getType()).getLayout().isIdentity())
    return std::nullopt;
  Result address = getAddressAt(view, *source.base, isFixed);
  if (address)
    address->bounds = source.bounds;
  return address;
}

static MemRefAddress getLike(const MemRefAddress &source) {
  MemRefAddress address = source;
  address.dimensions.clear();
  return address;
}

/// Takes over what `type`, of a cast, says of strides: it holds of the memref
/// that the coordinates are indices into, too.
static void addStrides(MemRefAddress &address, MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return;
  for (auto [stride, dimension] :
       llvm::zip_equal(strides, address.dimensions)) {
    int64_t &bytes = address.coordinateBytes[dimension.coordinate];
    if (ShapedType::isDynamic(stride) || !ShapedType::isDynamic(bytes) ||
        dimension.stride == 0 || isStatic(dimension.extent, 1))
      continue;
    int64_t step = multiplyWrapping(stride, address.elementBytes);
    if (step % dimension.stride == 0)
      bytes = step / dimension.stride;
  }
}

static Result getCast(Value view, const MemRefAddress &source) {
  auto type = dyn_cast<MemRefType>(view.getType());
  if (!type || type.getRank() != int64_t(source.dimensions.size()))
    return std::nullopt;
  MemRefAddress address = source;
  for (auto [number, dimension] : llvm::enumerate(address.dimensions))
    if (OpFoldResult extent = getStaticExtent(type, number))
      dimension.extent = extent;
  addStrides(address, type);
  return address;
}

/// Adds what a subview of `size` elements, `step` apart, promises of its
/// address along a dimension: that its ends are inside, if there is an element.
/// Whoever accesses one knows that there is.
static void addBounds(MemRefAddress &address, OpFoldResult offset,
                      OpFoldResult size, int64_t step, OpFoldResult extent) {
  std::optional<int64_t> count = getConstantIntValue(size);
  if (!extent || (count && *count < 1))
    return;
  LinearIndex first;
  first.add(offset, 1);
  LinearIndex last = first;
  last.add(size, step);
  last.constant -= step;
  if (!first.isConstant())
    address.bounds.push_back({first, extent});
  if (!last.isConstant() && count != 1)
    address.bounds.push_back({last, extent});
}

static Result getSubview(const MemRefAddress &source, memref::SubViewOp op,
                         FixedQuery isFixed) {
  MemRefAddress address = getLike(source);
  llvm::SmallBitVector dropped = getDroppedDims(op);
  for (auto [dim, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    const MemRefAddress::Dimension &from = source.dimensions[dim];
    std::optional<int64_t> step = getConstantIntValue(stride);
    if (!step)
      return getAddressAt(op, source.base, isFixed);
    address.origin[from.coordinate].add(offset, from.stride);
    addBounds(address, offset, size, *step, from.extent);
    if (!dropped.test(dim))
      address.dimensions.push_back(
          {from.coordinate, multiplyWrapping(from.stride, *step), size});
  }
  return address;
}

static Result getExpanded(const MemRefAddress &source,
                          memref::ExpandShapeOp op) {
  MemRefAddress address = getLike(source);
  address.dimensions.resize(op.getResultType().getRank());
  SmallVector<OpFoldResult> extents = op.getMixedOutputShape();
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    MemRefAddress::Dimension part = source.dimensions[dim];
    for (int64_t number : llvm::reverse(group)) {
      part.extent = extents[number];
      address.dimensions[number] = part;
      if (number == group.front())
        break;
      std::optional<int64_t> extent = getConstantIntValue(part.extent);
      if (!extent)
        return std::nullopt;
      part.stride = multiplyWrapping(part.stride, *extent);
    }
  }
  return address;
}

static Result getCollapsed(const MemRefAddress &source,
                           memref::CollapseShapeOp op) {
  MemRefAddress address = getLike(source);
  MLIRContext *context = op.getContext();
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    // Extents of one say nothing of the stride.
    SmallVector<int64_t> parts;
    llvm::copy_if(group, std::back_inserter(parts), [&](int64_t part) {
      return !isStatic(source.dimensions[part].extent, 1);
    });
    if (parts.empty()) {
      address.dimensions.push_back({0, 0, getIndex(context, 1)});
      continue;
    }
    MemRefAddress::Dimension merged = source.dimensions[parts.back()];
    for (int64_t part : ArrayRef(parts).drop_back()) {
      const MemRefAddress::Dimension &outer = source.dimensions[part];
      if (outer.coordinate != merged.coordinate)
        return std::nullopt;
      std::optional<int64_t> lhs = getConstantIntValue(outer.extent),
                             rhs = getConstantIntValue(merged.extent);
      merged.extent = lhs && rhs
                          ? getIndex(context, multiplyWrapping(*lhs, *rhs))
                          : OpFoldResult();
    }
    address.dimensions.push_back(merged);
  }
  return address;
}

/// A cast counts its offset from where the memory begins that the source's
/// pointer is of.
static Result getReinterpreted(const MemRefAddress &source,
                               memref::ReinterpretCastOp op,
                               FixedQuery isFixed) {
  if (!source.base)
    return std::nullopt;
  MemRefAddress address = getLike(source);
  address.basis = Value();
  address.coordinateBytes.assign(1, 1);
  address.origin.assign(1, *source.base);
  address.origin.front().add(op.getMixedOffsets().front(),
                             address.elementBytes);
  for (auto [stride, size] :
       llvm::zip_equal(op.getMixedStrides(), op.getMixedSizes())) {
    std::optional<int64_t> step = getConstantIntValue(stride);
    if (!step)
      return getAddressAt(op, source.base, isFixed);
    address.dimensions.push_back(
        {0, multiplyWrapping(*step, address.elementBytes), size});
  }
  return address;
}

static MemRefAddress getTransposed(const MemRefAddress &source,
                                   memref::TransposeOp op) {
  MemRefAddress address = getLike(source);
  for (AffineExpr expr : op.getPermutation().getResults())
    address.dimensions.push_back(
        source.dimensions[cast<AffineDimExpr>(expr).getPosition()]);
  return address;
}

/// The buffer without its layout: one element where the pointer points to.
static Result getBaseBuffer(const MemRefAddress &source) {
  if (!source.base)
    return std::nullopt;
  MemRefAddress address = getLike(source);
  address.basis = Value();
  address.coordinateBytes.assign(1, 1);
  address.origin.assign(1, *source.base);
  return address;
}

static Result getByteView(const MemRefAddress &source, memref::ViewOp op,
                          FixedQuery isFixed) {
  if (source.basis)
    return std::nullopt;
  LinearIndex first = source.origin.front();
  first.add(op.getByteShift(), 1);
  Result address = getAddressAt(op, first, isFixed);
  if (!address)
    return std::nullopt;
  address->bounds = source.bounds;
  // As of a subview, that there is all that the type has of the source.
  Operation *scope = op->getParentOp();
  std::optional<int64_t> bytes = op.getType().hasStaticShape()
                                     ? getElementBytes(op.getType(), scope)
                                     : std::nullopt;
  if (bytes && op.getType().getNumElements() > 0)
    addBounds(*address, op.getByteShift(),
              getIndex(op.getContext(), *bytes * op.getType().getNumElements()),
              /*step=*/1, source.dimensions.front().extent);
  return address;
}

std::optional<MemRefAddress> MemRefAddress::ofView(Value view,
                                                   const MemRefAddress &source,
                                                   FixedQuery isFixed) {
  if (isa<LLVM::LLVMPointerType>(view.getType())) {
    std::optional<LinearIndex> byte =
        source.base ? getPointerAddress(view, *source.base) : std::nullopt;
    return byte ? Result(getPointee(*byte)) : std::nullopt;
  }
  if (!isa<MemRefType>(view.getType()))
    return std::nullopt;
  Result address =
      llvm::TypeSwitch<Operation *, Result>(view.getDefiningOp())
          .Case<memref::CastOp, memref::MemorySpaceCastOp,
                memref::AssumeAlignmentOp, memref::DistinctObjectsOp>(
              [&](auto) { return getCast(view, source); })
          .Case([&](memref::SubViewOp op) {
            return getSubview(source, op, isFixed);
          })
          .Case(
              [&](memref::ExpandShapeOp op) { return getExpanded(source, op); })
          .Case([&](memref::CollapseShapeOp op) {
            return getCollapsed(source, op);
          })
          .Case([&](memref::ReinterpretCastOp op) {
            return getReinterpreted(source, op, isFixed);
          })
          .Case(
              [&](memref::TransposeOp op) { return getTransposed(source, op); })
          .Case([&](memref::ExtractStridedMetadataOp) {
            return getBaseBuffer(source);
          })
          .Case([&](memref::ViewOp op) {
            return getByteView(source, op, isFixed);
          })
          .Default([](Operation *) { return std::nullopt; });
  if (address)
    return address;
  if (isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(view.getDefiningOp()))
    return getContiguous(view, source, isFixed);
  return std::nullopt;
}

std::optional<MemRefAddress> MemRefAddress::of(Value memref,
                                               FixedQuery isFixed) {
  Operation *op = memref.getDefiningOp();
  Value source = op ? getViewSource(op) : Value();
  if (!source)
    return ofRoot(memref, isFixed);
  Result address = of(source, isFixed);
  return address ? ofView(memref, *address, isFixed) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

void MemRefAddress::dropBounds() {
  bounds.clear();
  for (Dimension &dimension : dimensions)
    if (dimension.extent && !getConstantIntValue(dimension.extent))
      dimension.extent = OpFoldResult();
}

std::optional<MemRefAddress> MemRefAddress::join(const MemRefAddress &lhs,
                                                 const MemRefAddress &rhs) {
  MemRefAddress address = lhs;
  address.dropBounds();
  if (lhs.basis != rhs.basis || lhs.origin != rhs.origin ||
      lhs.elementBytes != rhs.elementBytes ||
      lhs.dimensions.size() != rhs.dimensions.size())
    return std::nullopt;
  if (lhs.base != rhs.base)
    address.base = std::nullopt;
  for (auto [joined, other] :
       llvm::zip_equal(address.coordinateBytes, rhs.coordinateBytes))
    if (joined != other)
      joined = ShapedType::kDynamic;
  for (auto [joined, other] :
       llvm::zip_equal(address.dimensions, rhs.dimensions)) {
    if (joined.coordinate != other.coordinate || joined.stride != other.stride)
      return std::nullopt;
    if (joined.extent != other.extent)
      joined.extent = OpFoldResult();
  }
  return address;
}

bool MemRefAddress::operator==(const MemRefAddress &other) const {
  auto isEqual = [](const Dimension &lhs, const Dimension &rhs) {
    return lhs.coordinate == rhs.coordinate && lhs.stride == rhs.stride &&
           lhs.extent == rhs.extent;
  };
  return basis == other.basis && origin == other.origin && base == other.base &&
         coordinateBytes == other.coordinateBytes &&
         elementBytes == other.elementBytes &&
         llvm::equal(dimensions, other.dimensions, isEqual) &&
         bounds == other.bounds;
}

} // namespace mlir::workgroup
