//===- ExtentExpressions.cpp - Extents by those of arguments --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtentExpressions.h"
#include "AffineDivisors.h"
#include "Support/Views.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

/// Null for what would take long to print: expressions share parts, their text
/// does not.
static AffineExpr limit(AffineExpr expr) {
  constexpr unsigned kMaxParts = 64;
  unsigned parts = 0;
  if (expr)
    expr.walk([&](AffineExpr) { ++parts; });
  return parts > kMaxParts ? AffineExpr() : expr;
}

/// True if `expr` divides by positive constants only: what an argument divides
/// by may be zero.
static bool hasKnownDivisors(AffineExpr expr) {
  bool isKnown = true;
  walkDivisors(expr, [&](AffineExpr divisor) {
    auto constant = dyn_cast<AffineConstantExpr>(divisor);
    isKnown &= constant && constant.getValue() > 0;
  });
  return isKnown;
}

AffineExpr addKnown(AffineExpr lhs, AffineExpr rhs) {
  return lhs && rhs ? limit(lhs + rhs) : AffineExpr();
}

AffineExpr multiplyKnown(AffineExpr lhs, AffineExpr rhs) {
  return lhs && rhs ? limit(lhs * rhs) : AffineExpr();
}

std::optional<SlicePlace> getSlicePlace(Operation *op) {
  auto make = [](auto slice) {
    return SlicePlace{slice.getMixedOffsets(), slice.getMixedSizes(),
                      slice.getMixedStrides(), slice.getDroppedDims()};
  };
  return llvm::TypeSwitch<Operation *, std::optional<SlicePlace>>(op)
      .Case<tensor::ExtractSliceOp, tensor::InsertSliceOp>(make)
      .Case([](memref::SubViewOp view) {
        return SlicePlace{view.getMixedOffsets(), view.getMixedSizes(),
                          view.getMixedStrides(), getDroppedDims(view)};
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static bool isRanked(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank();
}

static bool isWhole(Type type) {
  return type.isIndex() || type.isSignlessInteger(32) ||
         type.isSignlessInteger(64);
}

ExtentExpressions::ExtentExpressions(func::FuncOp function,
                                     SmallVectorImpl<ArgumentSymbol> &symbols)
    : context(function.getContext()), symbols(symbols) {
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (isWhole(argument.getType()))
      setNumber(argument, getSymbol({number, std::nullopt}));
    auto type = dyn_cast<ShapedType>(argument.getType());
    if (!type || !type.hasRank())
      continue;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        extentOf[{argument, dim}] = getSymbol({number, dim});
  }
}

ExtentExpressions::ExtentExpressions(func::FuncOp callee, func::CallOp call,
                                     ExtentExpressions &caller)
    : context(caller.context), symbols(caller.symbols) {
  for (auto [argument, operand] :
       llvm::zip_equal(callee.getArguments(), call.getOperands())) {
    if (isWhole(argument.getType()))
      setNumber(argument, caller.getNumber(operand));
    if (isRanked(argument.getType()))
      setExtents(argument, caller.getExtents(operand));
  }
}

AffineExpr ExtentExpressions::getSymbol(ArgumentSymbol symbol) {
  auto it = llvm::find(symbols, symbol);
  unsigned position = it - symbols.begin();
  if (it == symbols.end())
    symbols.push_back(symbol);
  return getAffineSymbolExpr(position, context);
}

AffineExpr ExtentExpressions::getConstant(int64_t number) const {
  return getAffineConstantExpr(number, context);
}

void ExtentExpressions::setExtents(Value value, ArrayRef<AffineExpr> extents) {
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (extent)
      extentOf[{value, dim}] = extent;
}

void ExtentExpressions::setNumber(Value value, AffineExpr number) {
  numberOf[value] = number;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

AffineExpr ExtentExpressions::getNumber(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return getConstant(*constant);
  return getNumber(cast<Value>(value));
}

AffineExpr ExtentExpressions::getNumber(Value value) {
  if (auto it = numberOf.find(value); it != numberOf.end())
    return it->second;
  AffineExpr number = findNumber(value);
  return numberOf[value] = number;
}

AffineExpr ExtentExpressions::applyMap(affine::AffineApplyOp op) {
  SmallVector<AffineExpr> operands;
  for (Value operand : op.getMapOperands()) {
    operands.push_back(getNumber(operand));
    if (!operands.back())
      return nullptr;
  }
  AffineMap map = op.getAffineMap();
  ArrayRef<AffineExpr> all = operands;
  AffineExpr result = limit(map.getResult(0).replaceDimsAndSymbols(
      all.take_front(map.getNumDims()), all.drop_front(map.getNumDims())));
  return result && hasKnownDivisors(result) ? result : AffineExpr();
}

/// Arithmetic that wraps around is taken to be of 64 bits only.
AffineExpr ExtentExpressions::findNumber(Value value) {
  APInt constant;
  if (!isWhole(value.getType()))
    return nullptr;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return getConstant(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op || value.getType().isSignlessInteger(32))
    return nullptr;
  auto getDim = [&](auto query) {
    std::optional<int64_t> dim = query.getConstantIndex();
    auto type = dyn_cast<ShapedType>(query.getSource().getType());
    bool isKnown =
        dim && type && type.hasRank() && *dim >= 0 && *dim < type.getRank();
    return isKnown ? getExtent(query.getSource(), *dim) : AffineExpr();
  };
  auto divide = [&](auto division, auto by) {
    std::optional<int64_t> divisor = getConstantIntValue(division.getRhs());
    AffineExpr number = getNumber(division.getLhs());
    return number && divisor && *divisor > 0 ? limit((number.*by)(*divisor))
                                             : AffineExpr();
  };
  using ByConstant = AffineExpr (AffineExpr::*)(uint64_t) const;
  return llvm::TypeSwitch<Operation *, AffineExpr>(op)
      .Case<tensor::DimOp, memref::DimOp>(getDim)
      .Case<arith::IndexCastOp, arith::ExtSIOp>(
          [&](auto cast) { return getNumber(cast.getIn()); })
      .Case([&](arith::AddIOp add) {
        return addKnown(getNumber(add.getLhs()), getNumber(add.getRhs()));
      })
      .Case([&](arith::SubIOp sub) {
        AffineExpr minus = getNumber(sub.getRhs());
        return addKnown(getNumber(sub.getLhs()), minus ? -minus : minus);
      })
      .Case([&](arith::MulIOp mul) {
        return multiplyKnown(getNumber(mul.getLhs()), getNumber(mul.getRhs()));
      })
      .Case([&](arith::FloorDivSIOp division) {
        return divide(division, ByConstant(&AffineExpr::floorDiv));
      })
      .Case([&](arith::CeilDivSIOp division) {
        return divide(division, ByConstant(&AffineExpr::ceilDiv));
      })
      .Case([&](affine::AffineApplyOp apply) { return applyMap(apply); })
      .Default([](Operation *) { return AffineExpr(); });
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

AffineExpr ExtentExpressions::getExtent(Value value, int64_t dim) {
  auto type = cast<ShapedType>(value.getType());
  if (!type.isDynamicDim(dim))
    return getConstant(type.getDimSize(dim));
  if (auto it = extentOf.find({value, dim}); it != extentOf.end())
    return it->second;
  AffineExpr extent = findExtent(value, dim);
  return extentOf[{value, dim}] = extent;
}

SmallVector<AffineExpr> ExtentExpressions::getExtents(Value value) {
  SmallVector<AffineExpr> extents;
  if (isRanked(value.getType()))
    for (int64_t dim = 0; dim < cast<ShapedType>(value.getType()).getRank();
         ++dim)
      extents.push_back(getExtent(value, dim));
  return extents;
}

/// The extent of the result of `op`, which takes a part of its source or gives
/// it another shape.
AffineExpr ExtentExpressions::findExtentOfView(Operation *op, int64_t dim) {
  auto collapse = [&](auto view) {
    AffineExpr product = getConstant(1);
    ReassociationIndices joined = view.getReassociationIndices()[dim];
    for (int64_t from : joined)
      product = multiplyKnown(product, getExtent(view.getSrc(), from));
    return product;
  };
  auto slice = [&](auto view) {
    std::optional<SlicePlace> place = getSlicePlace(view);
    for (auto [i, size] : llvm::enumerate(place->sizes))
      if (!place->dropped.test(i) && dim-- == 0)
        return getNumber(size);
    return AffineExpr();
  };
  return llvm::TypeSwitch<Operation *, AffineExpr>(op)
      .Case<tensor::ExtractSliceOp, memref::SubViewOp>(slice)
      .Case<tensor::ExpandShapeOp, memref::ExpandShapeOp>(
          [&](auto view) { return getNumber(view.getMixedOutputShape()[dim]); })
      .Case<tensor::CollapseShapeOp, memref::CollapseShapeOp>(collapse)
      .Case([&](tensor::PadOp pad) {
        AffineExpr padding = addKnown(getNumber(pad.getMixedLowPad()[dim]),
                                      getNumber(pad.getMixedHighPad()[dim]));
        return addKnown(getExtent(pad.getSource(), dim), padding);
      })
      .Case([&](tensor::ConcatOp concat) {
        if (static_cast<uint64_t>(dim) != concat.getDim())
          return getExtent(concat.getInputs().front(), dim);
        AffineExpr sum = getConstant(0);
        for (Value input : concat.getInputs())
          sum = addKnown(sum, getExtent(input, dim));
        return sum;
      })
      .Default([](Operation *) { return AffineExpr(); });
}

AffineExpr ExtentExpressions::findExtent(Value value, int64_t dim) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return nullptr;
  auto type = cast<ShapedType>(value.getType());
  auto getMade = [&](ValueRange sizes) {
    return getNumber(sizes[type.getDynamicDimIndex(dim)]);
  };
  auto getLike = [&](Value other) { return getExtent(other, dim); };
  if (auto onInits = dyn_cast<DestinationStyleOpInterface>(op))
    return getLike(onInits.getTiedOpOperand(cast<OpResult>(value))->get());
  if (op->hasTrait<OpTrait::Elementwise>())
    for (Value operand : op->getOperands())
      if (isRanked(operand.getType()))
        return getLike(operand);
  return llvm::TypeSwitch<Operation *, AffineExpr>(op)
      .Case<tensor::EmptyOp, memref::AllocOp, memref::AllocaOp,
            tensor::SplatOp>(
          [&](auto made) { return getMade(made.getDynamicSizes()); })
      .Case([&](tensor::GenerateOp made) {
        return getMade(made.getDynamicExtents());
      })
      .Case([&](bufferization::AllocTensorOp made) {
        return made.getCopy() ? getLike(made.getCopy())
                              : getMade(made.getDynamicSizes());
      })
      .Case<tensor::CastOp, memref::CastOp>(
          [&](auto cast) { return getLike(cast.getSource()); })
      .Case([&](tensor::InsertSliceOp insert) {
        return getLike(insert.getDest());
      })
      .Case([&](bufferization::ToTensorOp made) {
        return getLike(made.getBuffer());
      })
      .Case([&](bufferization::ToBufferOp made) {
        return getLike(made.getTensor());
      })
      .Default([&](Operation *view) { return findExtentOfView(view, dim); });
}

} // namespace mlir::workgroup
