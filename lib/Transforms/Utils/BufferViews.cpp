//===- BufferViews.cpp - Which elements a view has ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferViews.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// First elements
//===----------------------------------------------------------------------===//

bool isLeadingSubView(memref::SubViewOp part) {
  return part.getType().getRank() == part.getSourceType().getRank() &&
         areAllConstantIntValue(part.getMixedOffsets(), 0) &&
         areAllConstantIntValue(part.getMixedStrides(), 1);
}

Value getLeadingSource(Value view) {
  auto part = view.getDefiningOp<memref::SubViewOp>();
  while (part && isLeadingSubView(part)) {
    view = part.getSource();
    part = view.getDefiningOp<memref::SubViewOp>();
  }
  return view;
}

bool isLeadingView(Value view, Value buffer) {
  while (view != buffer) {
    auto part = view.getDefiningOp<memref::SubViewOp>();
    if (!part || !isLeadingSubView(part))
      return false;
    view = part.getSource();
  }
  return true;
}

bool isLeadingPart(Value view, Value buffer, bool isWhole) {
  while (view != buffer) {
    if (auto cast = view.getDefiningOp<memref::CastOp>()) {
      view = cast.getSource();
      continue;
    }
    auto part = view.getDefiningOp<memref::SubViewOp>();
    if (!part || !isLeadingSubView(part))
      return false;
    for (auto [size, extent] :
         llvm::zip_equal(part.getMixedSizes(), part.getSourceType().getShape()))
      if (isWhole && (ShapedType::isDynamic(extent) ||
                      getConstantIntValue(size) != extent))
        return false;
    view = part.getSource();
  }
  return true;
}

//===----------------------------------------------------------------------===//
// All elements
//===----------------------------------------------------------------------===//

OpFoldResult getExtent(OpBuilder &builder, Location loc, Value memref,
                       int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return builder.getIndexAttr(type.getDimSize(dim));
  if (auto part = memref.getDefiningOp<memref::SubViewOp>())
    if (part.getType().getRank() == part.getSourceType().getRank())
      return part.getMixedSizes()[dim];
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
    return alloc.getMixedSizes()[dim];
  return memref::getMixedSize(builder, loc, memref, dim);
}

/// The extents of `memref`, as far as they are values or constants already.
static SmallVector<OpFoldResult> getKnownExtents(Value memref) {
  Builder builder(memref.getContext());
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
    return alloc.getMixedSizes();
  auto part = memref.getDefiningOp<memref::SubViewOp>();
  if (part && part.getType().getRank() == part.getSourceType().getRank())
    return part.getMixedSizes();
  SmallVector<OpFoldResult> extents;
  for (int64_t extent : cast<MemRefType>(memref.getType()).getShape())
    extents.push_back(ShapedType::isDynamic(extent)
                          ? OpFoldResult()
                          : OpFoldResult(builder.getIndexAttr(extent)));
  return extents;
}

/// True if both values are computed in the same way from the same ones.
static bool isSameComputation(Value lhs, Value rhs, unsigned depth = 0) {
  constexpr unsigned kMaxDepth = 8;
  if (lhs == rhs)
    return true;
  Operation *left = lhs.getDefiningOp(), *right = rhs.getDefiningOp();
  if (!left || !right || left->getNumRegions() != 0 || depth == kMaxDepth ||
      left->getName() != right->getName() || !isPure(left) ||
      left->getAttrDictionary() != right->getAttrDictionary() ||
      left->getNumResults() != 1 ||
      left->getResultTypes() != right->getResultTypes() ||
      left->getNumOperands() != right->getNumOperands())
    return false;
  return llvm::all_of(
      llvm::zip_equal(left->getOperands(), right->getOperands()),
      [&](auto pair) {
        return isSameComputation(std::get<0>(pair), std::get<1>(pair),
                                 depth + 1);
      });
}

static bool areEqual(ArrayRef<OpFoldResult> lhs, ArrayRef<OpFoldResult> rhs) {
  return lhs.size() == rhs.size() &&
         llvm::all_of(llvm::zip(lhs, rhs), [](auto pair) {
           auto [left, right] = pair;
           if (!left || !right)
             return false;
           auto a = dyn_cast<Value>(left), b = dyn_cast<Value>(right);
           return isEqualConstantIntOrValue(left, right) ||
                  (a && b && isSameComputation(a, b));
         });
}

/// What `view` is all of, in the same order.
static Value skipWholeViews(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (auto cast = dyn_cast<memref::CastOp>(op)) {
      if (!isa<MemRefType>(cast.getSource().getType()))
        break;
      view = cast.getSource();
      continue;
    }
    auto part = dyn_cast<memref::SubViewOp>(op);
    if (!part || !isLeadingSubView(part) ||
        !areEqual(part.getMixedSizes(), getKnownExtents(part.getSource())))
      break;
    view = part.getSource();
  }
  return view;
}

bool isSameView(Value lhs, Value rhs) {
  lhs = skipWholeViews(lhs);
  rhs = skipWholeViews(rhs);
  if (lhs == rhs)
    return true;
  auto left = lhs.getDefiningOp<memref::SubViewOp>();
  auto right = rhs.getDefiningOp<memref::SubViewOp>();
  return left && right && left.getType() == right.getType() &&
         isSameView(left.getSource(), right.getSource()) &&
         areEqual(left.getMixedOffsets(), right.getMixedOffsets()) &&
         areEqual(left.getMixedSizes(), right.getMixedSizes()) &&
         areEqual(left.getMixedStrides(), right.getMixedStrides());
}

} // namespace mlir::workgroup
