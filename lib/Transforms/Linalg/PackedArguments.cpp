//===- PackedArguments.cpp - Integers of four bits, two a byte ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of a generic looks up the byte of each element, as the element of an
// odd row need not be where a reshape would put it. Views of the tensor become
// views of bytes; what is neither a view nor a generic reads a copy in i4.
//
//===----------------------------------------------------------------------===//

#include "PackedArguments.h"
#include "LinalgClasses.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::workgroup {

constexpr unsigned kNibbleBits = 4;
constexpr int64_t kNibbles = 2;

/// `type` with elements of i8.
static RankedTensorType getByteType(Type type) {
  return cast<RankedTensorType>(type).clone(
      IntegerType::get(type.getContext(), 8));
}

/// What memory has of a tensor of `type`: rows of whole bytes.
static RankedTensorType getPackedType(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  if (!shape.empty() && !ShapedType::isDynamic(shape.back()))
    shape.back() = llvm::divideCeil(shape.back(), kNibbles);
  return getByteType(type).clone(shape);
}

//===----------------------------------------------------------------------===//
// Bytes to elements
//===----------------------------------------------------------------------===//

/// The sizes of a tensor of `type` that `packed` has the bytes of. A row of a
/// length that only the launch knows is all that its bytes have.
static SmallVector<OpFoldResult> getSizes(OpBuilder &builder, Value packed,
                                          RankedTensorType type) {
  Location loc = packed.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, packed);
  if (sizes.empty())
    return sizes;
  AffineExpr bytes = builder.getAffineDimExpr(0);
  sizes.back() =
      type.isDynamicDim(type.getRank() - 1)
          ? affine::makeComposedFoldedAffineApply(
                builder, loc, bytes * kNibbles, sizes.back())
          : OpFoldResult(builder.getIndexAttr(type.getShape().back()));
  return sizes;
}

/// The byte of `packed` that has the element of the loops of a body, shifted
/// such that its low bits are that.
static Value lookUpElement(OpBuilder &builder, Location loc, Value packed) {
  int64_t rank = cast<RankedTensorType>(packed.getType()).getRank();
  if (rank == 0)
    return tensor::ExtractOp::create(builder, loc, packed, ValueRange());
  SmallVector<Value> indices;
  for (int64_t dim = 0; dim < rank; ++dim)
    indices.push_back(linalg::IndexOp::create(builder, loc, dim));
  AffineExpr at = builder.getAffineDimExpr(0);
  auto apply = [&](AffineExpr of) -> Value {
    return affine::AffineApplyOp::create(builder, loc, AffineMap::get(1, 0, of),
                                         indices.back());
  };
  Value shift = arith::IndexCastOp::create(
      builder, loc, builder.getI8Type(),
      apply((at % kNibbles) * static_cast<int64_t>(kNibbleBits)));
  indices.back() = apply(at.floorDiv(kNibbles));
  Value byte = tensor::ExtractOp::create(builder, loc, packed, indices);
  return arith::ShRUIOp::create(builder, loc, byte, shift);
}

/// A tensor of `sizes`, each element of which `build` makes in the body of a
/// generic that reads `inputs` element by element.
static Value
makeTensor(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes,
           Type element, ValueRange inputs,
           function_ref<Value(OpBuilder &, Location, ValueRange)> build) {
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              builder.getMultiDimIdentityMap(sizes.size()));
  SmallVector<utils::IteratorType> iterators(sizes.size(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), inputs, empty, maps, iterators,
             [&](OpBuilder &inner, Location at, ValueRange arguments) {
               linalg::YieldOp::create(inner, at, build(inner, at, arguments));
             })
      .getResult(0);
}

static Value unpack(OpBuilder &builder, Value packed, RankedTensorType type) {
  Value bytes =
      makeTensor(builder, packed.getLoc(), getSizes(builder, packed, type),
                 builder.getI8Type(), ValueRange(),
                 [&](OpBuilder &inner, Location at, ValueRange) {
                   return lookUpElement(inner, at, packed);
                 });
  if (bytes.getType() != getByteType(type))
    bytes = tensor::CastOp::create(builder, packed.getLoc(), getByteType(type),
                                   bytes);
  return bytes;
}

static Value truncate(OpBuilder &builder, Value bytes, Type element) {
  Location loc = bytes.getLoc();
  return makeTensor(
      builder, loc, tensor::getMixedSizes(builder, loc, bytes), element, bytes,
      [&](OpBuilder &inner, Location at, ValueRange arguments) {
        return arith::TruncIOp::create(inner, at, element, arguments.front())
            .getResult();
      });
}

//===----------------------------------------------------------------------===//
// Users
//===----------------------------------------------------------------------===//

/// Has `value`, which becomes one of bytes, be truncated for those that use it.
static void truncateUses(OpBuilder &builder, Value value) {
  Type element = value.getType();
  value.setType(builder.getI8Type());
  auto truncated =
      arith::TruncIOp::create(builder, value.getLoc(), element, value);
  value.replaceAllUsesExcept(truncated, truncated);
}

/// True for an operation whose result is its first operand seen otherwise.
static bool isView(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
             tensor::ExtractSliceOp>(op);
}

/// True if `op`, which yields what it reads, does so of `use`.
static bool isYielded(linalg::GenericOp op, OpOperand *use) {
  return op.getBody()->getTerminator()->getOperand(0) ==
         op.getMatchingBlockArgument(use);
}

/// Has `op`, which moves the elements of `use`, move `bytes`.
static void moveBytes(OpBuilder &builder, linalg::GenericOp op, OpOperand *use,
                      Value bytes) {
  use->set(bytes);
  OpOperand *init = op.getDpsInitOperand(0);
  builder.setInsertionPoint(op);
  init->set(tensor::EmptyOp::create(
      builder, op.getLoc(),
      tensor::getMixedSizes(builder, op.getLoc(), init->get()),
      builder.getI8Type()));
  for (OpOperand *operand : {use, init})
    op.getMatchingBlockArgument(operand).setType(builder.getI8Type());
}

static SmallVector<OpOperand *> collectUses(Value value) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  return uses;
}

/// Has `uses`, of a tensor of elements of type `element`, use `bytes`.
static void redirect(OpBuilder &builder, Value bytes, Type element,
                     ArrayRef<OpOperand *> uses) {
  Value copy;
  for (OpOperand *use : uses) {
    Operation *user = use->getOwner();
    auto generic = dyn_cast<linalg::GenericOp>(user);
    bool isRead = generic && isTensorOp(generic) && !generic.isDpsInit(use);
    bool isMoved = isRead && isCopyLike(generic) && isYielded(generic, use);
    if (isMoved || isView(user)) {
      Value result = user->getResult(0);
      SmallVector<OpOperand *> further = collectUses(result);
      if (isMoved)
        moveBytes(builder, generic, use, bytes);
      else
        use->set(bytes);
      result.setType(getByteType(result.getType()));
      redirect(builder, result, element, further);
    } else if (isRead) {
      use->set(bytes);
      builder.setInsertionPointToStart(generic.getBody());
      truncateUses(builder, generic.getMatchingBlockArgument(use));
    } else if (isa<tensor::ExtractOp>(user)) {
      use->set(bytes);
      builder.setInsertionPointAfter(user);
      truncateUses(builder, user->getResult(0));
    } else if (isa<tensor::DimOp>(user)) {
      use->set(bytes);
    } else {
      builder.setInsertionPointAfterValue(bytes);
      if (!copy)
        copy = truncate(builder, bytes, element);
      use->set(copy);
    }
  }
}

LogicalResult unpackArguments(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  SmallVector<Type> types(function.getArgumentTypes());
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !type.getElementType().isSignlessInteger(kNibbleBits))
      continue;
    unsigned number = argument.getArgNumber();
    if (function.getArgAttr(
            number, bufferization::BufferizationDialect::kWritableAttrName))
      return function.emitError()
             << "argument " << number << " of '@" << function.getName()
             << "' is of type " << type
             << ", which comes two elements a byte, and is written; let the "
                "function return the result";
    SmallVector<OpOperand *> uses = collectUses(argument);
    types[number] = getPackedType(type);
    argument.setType(types[number]);
    builder.setInsertionPointToStart(&function.getBody().front());
    redirect(builder, unpack(builder, argument, type), type.getElementType(),
             uses);
  }
  function.setType(builder.getFunctionType(types, function.getResultTypes()));
  return success();
}

} // namespace mlir::workgroup
