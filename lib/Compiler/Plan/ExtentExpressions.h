//===- ExtentExpressions.h - Extents by those of arguments ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An extent of a value in a host function, as an affine expression of the
// extents and numbers that callers pass: `tensor.empty(%n + 1)` has the extent
// `s0 + 1`. Values are followed backwards through views, arithmetic and calls,
// and each is looked at once. What is not known, or too long to print, is null.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PLAN_EXTENTEXPRESSIONS_H
#define WORKGROUP_LIB_COMPILER_PLAN_EXTENTEXPRESSIONS_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"

namespace mlir::workgroup {

/// A number that the caller of a function chooses: the extent of dimension
/// `dim` of argument number `argument`, or if there is no `dim`, the argument
/// itself.
struct ArgumentSymbol {
  unsigned argument = 0;
  std::optional<int64_t> dim;

  bool operator==(const ArgumentSymbol &other) const {
    return argument == other.argument && dim == other.dim;
  }
};

/// The extents of values, and numbers, as expressions whose symbols are what
/// the caller of a function chooses. Null stands for what is not known.
class ExtentExpressions {
public:
  /// Extents in a function that is called with arguments of any kind.
  ExtentExpressions(func::FuncOp function,
                    SmallVectorImpl<ArgumentSymbol> &symbols);
  /// Extents in a function that is called by `call`, the operands of which
  /// `caller` knows.
  ExtentExpressions(func::FuncOp callee, func::CallOp call,
                    ExtentExpressions &caller);

  AffineExpr getExtent(Value value, int64_t dim);
  SmallVector<AffineExpr> getExtents(Value value);
  AffineExpr getNumber(Value value);
  AffineExpr getNumber(OpFoldResult value);
  AffineExpr getConstant(int64_t number) const;

  /// Says what is to be known of `value`.
  void setExtents(Value value, ArrayRef<AffineExpr> extents);
  void setNumber(Value value, AffineExpr number);

private:
  AffineExpr getSymbol(ArgumentSymbol symbol);
  AffineExpr findExtent(Value value, int64_t dim);
  AffineExpr findExtentOfView(Operation *op, int64_t dim);
  AffineExpr applyMap(affine::AffineApplyOp op);
  AffineExpr findNumber(Value value);

  MLIRContext *context;
  SmallVectorImpl<ArgumentSymbol> &symbols;
  DenseMap<std::pair<Value, int64_t>, AffineExpr> extentOf;
  DenseMap<Value, AffineExpr> numberOf;
};

/// `lhs + rhs`, or null if one of them is not known, or it is very long.
AffineExpr addKnown(AffineExpr lhs, AffineExpr rhs);
/// `lhs * rhs`, likewise.
AffineExpr multiplyKnown(AffineExpr lhs, AffineExpr rhs);

/// The place of a view in a tensor or in memory: its start, its size and its
/// steps, along all dimensions of the whole.
struct SlicePlace {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  /// The dimensions that the part does not have.
  llvm::SmallBitVector dropped;
};

/// The place that `tensor.extract_slice`, `tensor.insert_slice` or
/// `memref.subview` takes or fills.
std::optional<SlicePlace> getSlicePlace(Operation *op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PLAN_EXTENTEXPRESSIONS_H
