//===- CopyAccess.cpp - One access of a copy ------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyAccess.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// The most bytes that one cp.async copies, and the only number that may bypass
/// the L1 cache.
static constexpr int64_t kMaxAsyncBytes = 16;

bool hasDenseElements(MemRefType type) {
  Type element = type.getElementType();
  if (isa<IndexType>(element))
    return true;
  if (!element.isIntOrFloat())
    return false;
  unsigned width = element.getIntOrFloatBitWidth();
  return width >= 8 && width <= 64 && llvm::isPowerOf2_32(width);
}

void CopyAccess::prepare() {
  if (copy.isPadded)
    for (int64_t dim = 0, rank = shape.sourceType.getRank(); dim < rank; ++dim)
      available.push_back(getAsOpFoldResult(
          rewriter.createOrFold<memref::DimOp>(loc, shape.source, dim)));
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// Applies the computation of the copy to `value`, one or `length` elements.
Value CopyAccess::applyPayload(Value value, int64_t length) {
  if (!copy.payload)
    return value;
  Block &block = copy.payload->front();
  IRMapping mapping;
  mapping.map(block.getArgument(0), value);
  for (Operation &op : block.without_terminator()) {
    Operation *mapped = rewriter.clone(op, mapping);
    mapped->setLoc(loc);
    if (length > 1)
      for (OpResult result : mapped->getResults())
        result.setType(VectorType::get({length}, result.getType()));
  }
  return mapping.lookup(block.getTerminator()->getOperand(0));
}

Value CopyAccess::makeZero(Type type) {
  return arith::ConstantOp::create(rewriter, loc,
                                   cast<TypedAttr>(rewriter.getZeroAttr(type)));
}

/// The places in the source of what element `indices` of the target gets. They
/// are above zero even where the source has no such element.
SmallVector<Value>
CopyAccess::getSourceIndices(ArrayRef<OpFoldResult> indices) {
  if (gather)
    return gather->getSource(index, indices, /*isClamped=*/true);
  return getValueOrCreateConstantIndexOp(rewriter, loc, indices);
}

Value CopyAccess::loadWhole(ArrayRef<OpFoldResult> indices, int64_t length) {
  SmallVector<Value> values = getSourceIndices(indices);
  if (length == 1)
    return memref::LoadOp::create(rewriter, loc, shape.source, values);
  Type element = shape.sourceType.getElementType();
  return vector::LoadOp::create(
      rewriter, loc, VectorType::get({length}, element), shape.source, values,
      /*nontemporal=*/false, llvm::Align(length * getBytes(shape.source)));
}

/// The number of the `length` elements from `indices` on that the source has.
Value CopyAccess::getCount(ArrayRef<OpFoldResult> indices, int64_t length) {
  if (gather)
    return gather->getCount(index, indices, available, length);
  Value zero = index.value(rewriter.getIndexAttr(0));
  Value whole = index.value(rewriter.getIndexAttr(length));
  Value count = whole;
  auto isComplete = [&](unsigned dim) {
    return available[dim] == shape.extents[dim];
  };
  unsigned inner = indices.size() - 1;
  if (!isComplete(inner)) {
    Value left =
        arith::SubIOp::create(rewriter, loc, index.value(available[inner]),
                              index.value(indices[inner]));
    left = arith::MaxSIOp::create(rewriter, loc, left, zero);
    count = arith::MinSIOp::create(rewriter, loc, left, whole);
  }
  for (unsigned dim = 0; dim < inner; ++dim) {
    if (isComplete(dim))
      continue;
    Value isIn = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                       index.value(indices[dim]),
                                       index.value(available[dim]));
    count = arith::SelectOp::create(rewriter, loc, isIn, count, zero);
  }
  return count;
}

/// `length` elements of a source that may have less.
Value CopyAccess::loadPart(ArrayRef<OpFoldResult> indices, int64_t length) {
  Value count = getCount(indices, length);
  Type element = shape.sourceType.getElementType();
  Type type = length == 1 ? element : VectorType::get({length}, element);
  auto yield = [&](Value value) { scf::YieldOp::create(rewriter, loc, value); };
  Value isWhole =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, count,
                            index.value(rewriter.getIndexAttr(length)));
  auto branch = scf::IfOp::create(rewriter, loc, type, isWhole,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  yield(loadWhole(indices, length));
  rewriter.setInsertionPointToStart(branch.elseBlock());
  Value part = makeZero(type);
  for (int64_t i = 0; length > 1 && i + 1 < length; ++i) {
    Value isIn =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                              index.value(rewriter.getIndexAttr(i)), count);
    auto one = scf::IfOp::create(rewriter, loc, element, isIn,
                                 /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(one.thenBlock());
    SmallVector<OpFoldResult> at(indices);
    at.back() = index.add(at.back(), rewriter.getIndexAttr(i));
    yield(loadWhole(at, 1));
    rewriter.setInsertionPointToStart(one.elseBlock());
    yield(makeZero(element));
    rewriter.setInsertionPointAfter(one);
    part = vector::InsertOp::create(rewriter, loc, one.getResult(0), part, i);
  }
  yield(part);
  return branch.getResult(0);
}

Value CopyAccess::load(ArrayRef<OpFoldResult> indices, int64_t length) {
  if (Value value = copy.filling) {
    if (length == 1)
      return value;
    return vector::BroadcastOp::create(
        rewriter, loc, VectorType::get({length}, value.getType()), value);
  }
  if (copy.isPadded && !indices.empty())
    return loadPart(indices, length);
  return applyPayload(loadWhole(indices, length), length);
}

void CopyAccess::store(Value value, ArrayRef<OpFoldResult> indices,
                       int64_t length) {
  SmallVector<Value> values =
      getValueOrCreateConstantIndexOp(rewriter, loc, indices);
  if (length == 1)
    memref::StoreOp::create(rewriter, loc, value, shape.target, values);
  else
    vector::StoreOp::create(rewriter, loc, value, shape.target, values,
                            /*nontemporal=*/false,
                            llvm::Align(length * getBytes(shape.target)));
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

bool CopyAccess::isAsync(int64_t length) const {
  if (!copy.mayBeAsync || shape.extents.empty())
    return false;
  for (MemRefType type : {shape.sourceType, shape.targetType})
    if (!type.getElementType().isIntOrFloat() || !hasDenseElements(type) ||
        getStrides(type).back() != 1)
      return false;
  int64_t bytes = length * getBytes(shape.target);
  return bytes == 4 || bytes == 8 || bytes == kMaxAsyncBytes;
}

Value CopyAccess::start(ArrayRef<OpFoldResult> indices, int64_t length) {
  SmallVector<Value> values =
      getValueOrCreateConstantIndexOp(rewriter, loc, indices);
  bool bypassesL1 =
      options.bypassL1 && length * getBytes(shape.target) == kMaxAsyncBytes;
  Value count = copy.isPadded ? getCount(indices, length) : Value();
  return nvgpu::DeviceAsyncCopyOp::create(
      rewriter, loc, nvgpu::DeviceAsyncTokenType::get(rewriter.getContext()),
      respellWorkgroupMemory(rewriter, loc, shape.target), values, shape.source,
      getSourceIndices(indices), rewriter.getIndexAttr(length), count,
      bypassesL1 ? rewriter.getUnitAttr() : UnitAttr());
}

} // namespace mlir::workgroup
