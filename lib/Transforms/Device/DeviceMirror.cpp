//===- DeviceMirror.cpp - A buffer's copy on the device -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMirror.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::workgroup {

Value createDeviceAlloc(OpBuilder &builder, Location loc, MemRefType type,
                        ValueRange sizes) {
  return gpu::AllocOp::create(builder, loc, type, /*asyncToken=*/Type(),
                              /*asyncDependencies=*/ValueRange(), sizes,
                              /*symbolOperands=*/ValueRange())
      .getMemref();
}

/// The dynamic extents of `memref`.
static SmallVector<Value> getDynamicSizes(OpBuilder &builder, Location loc,
                                          Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
    return alloc.getDynamicSizes();
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(builder, loc, memref, dim));
  return sizes;
}

Value createHostAlloc(OpBuilder &builder, Location loc, Value like) {
  return memref::AllocOp::create(builder, loc, cast<MemRefType>(like.getType()),
                                 getDynamicSizes(builder, loc, like));
}

void createDeviceCopy(OpBuilder &builder, Location loc, Value target,
                      Value source) {
  gpu::MemcpyOp::create(builder, loc, /*asyncToken=*/Type(),
                        /*asyncDependencies=*/ValueRange(), target, source);
}

namespace {
/// How the elements of a memref lie.
struct Layout {
  int64_t offset;
  SmallVector<OpFoldResult> sizes, strides;
};
} // namespace

static Layout getLayout(OpBuilder &builder, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  Layout layout{ShapedType::isDynamic(offset) ? 0 : offset,
                getAsIndexOpFoldResult(builder.getContext(), type.getShape()),
                getAsIndexOpFoldResult(builder.getContext(), strides)};
  if (type.hasStaticShape() && ShapedType::isStaticShape(strides))
    return layout;
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  layout.sizes = metadata.getConstifiedMixedSizes();
  layout.strides = metadata.getConstifiedMixedStrides();
  return layout;
}

/// The number of elements from the start of a buffer to the end of its last
/// row.
static OpFoldResult getSpan(IndexBuilder &index, const Layout &layout) {
  Builder &builder = index.builder;
  OpFoldResult span = builder.getIndexAttr(layout.offset + 1);
  for (auto [size, stride] : llvm::zip_equal(layout.sizes, layout.strides)) {
    // An empty row takes no more than one element would.
    OpFoldResult last =
        index.add(isConstantIntValue(size, 0) ? builder.getIndexAttr(1) : size,
                  builder.getIndexAttr(-1));
    if (auto value = dyn_cast<Value>(last))
      last = arith::MaxSIOp::create(index.builder, index.loc, value,
                                    index.value(builder.getIndexAttr(0)))
                 .getResult();
    span = index.add(span, index.mul(last, stride));
  }
  return span;
}

DeviceMirror::Storage DeviceMirror::makeLike(OpBuilder &builder, Location loc,
                                             Value host, Allocate allocate) {
  auto type = cast<MemRefType>(host.getType());
  auto dense = MemRefType::get(type.getShape(), type.getElementType());
  if (memref::CastOp::areCastCompatible(dense, type)) {
    Value memory = allocate(dense, getDynamicSizes(builder, loc, host));
    Value view =
        dense == type
            ? memory
            : Value(memref::CastOp::create(builder, loc, type, memory));
    return {memory, view};
  }
  Layout layout = getLayout(builder, loc, host);
  IndexBuilder index{builder, loc};
  auto [staticSpan, span] = decomposeMixedValues(getSpan(index, layout));
  auto flat = MemRefType::get(staticSpan, type.getElementType());
  Value memory = allocate(flat, span);
  Value view = memref::ReinterpretCastOp::create(
      builder, loc, memory, builder.getIndexAttr(layout.offset), layout.sizes,
      layout.strides);
  if (view.getType() != type)
    view = memref::CastOp::create(builder, loc, type, view);
  return {memory, view};
}

DeviceMirror::DeviceMirror(OpBuilder &builder, Location loc, Value host)
    : mirror(
          makeLike(builder, loc, host, [&](MemRefType type, ValueRange sizes) {
            return createDeviceAlloc(builder, loc, type, sizes);
          })) {}

void DeviceMirror::copy(OpBuilder &builder, Location loc, Value host,
                        Sides to) const {
  bool isUpload = to == kDeviceSide;
  if (mirror.memory.getType() == host.getType()) {
    if (isUpload)
      createDeviceCopy(builder, loc, mirror.memory, host);
    else
      createDeviceCopy(builder, loc, host, mirror.memory);
    return;
  }
  Storage between = makeLike(
      builder, loc, host, [&](MemRefType type, ValueRange sizes) -> Value {
        return memref::AllocOp::create(builder, loc, type, sizes);
      });
  if (isUpload) {
    memref::CopyOp::create(builder, loc, host, between.view);
    createDeviceCopy(builder, loc, mirror.memory, between.memory);
  } else {
    createDeviceCopy(builder, loc, between.memory, mirror.memory);
    memref::CopyOp::create(builder, loc, between.view, host);
  }
  memref::DeallocOp::create(builder, loc, between.memory);
}

} // namespace mlir::workgroup
