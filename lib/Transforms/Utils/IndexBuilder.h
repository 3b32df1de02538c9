//===- IndexBuilder.h - Folding index arithmetic ----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic on `index` where constants are folded as it is built, and x + 0, x
// * 1, x / 1, x mod 1 make nothing. Sums and products have `nsw` and `nuw`:
// offsets into memory are in its range. Divisions are unsigned.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_UTILS_INDEXBUILDER_H
#define WORKGROUP_LIB_TRANSFORMS_UTILS_INDEXBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// Index arithmetic that folds constants and cannot wrap.
struct IndexBuilder {
  OpBuilder &builder;
  Location loc;

  Value value(OpFoldResult index) {
    return getValueOrCreateConstantIndexOp(builder, loc, index);
  }

  /// `index`, which fits, as an i32.
  Value i32(OpFoldResult index) {
    if (std::optional<int64_t> constant = getConstantIntValue(index))
      return arith::ConstantIntOp::create(builder, loc, *constant, 32);
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      value(index));
  }

  OpFoldResult mul(OpFoldResult lhs, OpFoldResult rhs) {
    auto a = getConstantIntValue(lhs), b = getConstantIntValue(rhs);
    if (a && b)
      return builder.getIndexAttr(*a * *b);
    if (a == 1 || b == 1)
      return a == 1 ? rhs : lhs;
    return create<arith::MulIOp>(lhs, rhs, kNoWrap);
  }

  OpFoldResult add(OpFoldResult lhs, OpFoldResult rhs) {
    auto a = getConstantIntValue(lhs), b = getConstantIntValue(rhs);
    if (a && b)
      return builder.getIndexAttr(*a + *b);
    if (a == 0 || b == 0)
      return a == 0 ? rhs : lhs;
    return create<arith::AddIOp>(lhs, rhs, kNoWrap);
  }

  OpFoldResult div(OpFoldResult lhs, OpFoldResult rhs) {
    auto a = getConstantIntValue(lhs), b = getConstantIntValue(rhs);
    if (a && b)
      return builder.getIndexAttr(*a / *b);
    if (b == 1)
      return lhs;
    return create<arith::DivUIOp>(lhs, rhs);
  }

  OpFoldResult rem(OpFoldResult lhs, OpFoldResult rhs) {
    auto a = getConstantIntValue(lhs), b = getConstantIntValue(rhs);
    if (a && b)
      return builder.getIndexAttr(*a % *b);
    if (b == 1)
      return builder.getIndexAttr(0);
    return create<arith::RemUIOp>(lhs, rhs);
  }

  /// The linear id of the thread in its block of shape `block`: that of x runs
  /// fastest.
  OpFoldResult threadId(const BlockShape &block);

  /// The number of threads of a block of shape `block`.
  OpFoldResult numThreads(const BlockShape &block);

  /// Materialises the operands one after the other: in which order a call's
  /// arguments are evaluated is the host compiler's choice.
  template <typename Op, typename... Args>
  OpFoldResult create(OpFoldResult lhs, OpFoldResult rhs, Args... args) {
    Value left = value(lhs);
    Value right = value(rhs);
    return Op::create(builder, loc, left, right, args...).getResult();
  }

  static constexpr arith::IntegerOverflowFlags kNoWrap =
      arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_UTILS_INDEXBUILDER_H
