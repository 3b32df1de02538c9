//===- ConstantOffsets.cpp - Constants at the end of addresses ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products distribute over sums modulo any power of two. A quotient does if the
// sum does not wrap, and the constant is a multiple of the divisor. Operations
// are visited in the order of the program: users see what operands have become.
//
//===----------------------------------------------------------------------===//

#include "ConstantOffsets.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

using LLVM::IntegerOverflowFlags;

namespace {
/// A sum of a value and a constant.
struct OffsetValue {
  Value value;
  APInt offset;
  IntegerOverflowFlags flags;
};
} // namespace

static std::optional<APInt> getInteger(Value value) {
  APInt constant;
  if (!isa<IntegerType>(value.getType()) ||
      !matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant;
}

/// `value` as a sum with a constant that is not negative.
static std::optional<OffsetValue> splitOffset(Value value) {
  auto sum = value.getDefiningOp<LLVM::AddOp>();
  if (!sum)
    return std::nullopt;
  std::optional<APInt> offset = getInteger(sum.getRhs());
  if (!offset || offset->isNegative() || getInteger(sum.getLhs()))
    return std::nullopt;
  return OffsetValue{sum.getLhs(), *offset, sum.getOverflowFlags()};
}

/// `value` plus `offset`.
static Value addOffset(RewriterBase &rewriter, Location loc, Value value,
                       const APInt &offset, IntegerOverflowFlags flags) {
  if (offset.isZero())
    return value;
  Type type = value.getType();
  Value constant = LLVM::ConstantOp::create(
      rewriter, loc, type, rewriter.getIntegerAttr(type, offset));
  return LLVM::AddOp::create(rewriter, loc, type, value, constant, flags);
}

static bool isExact(IntegerOverflowFlags flags) {
  return bitEnumContainsAll(flags, IntegerOverflowFlags::nuw |
                                       IntegerOverflowFlags::nsw);
}

/// `sum` times `factor`; the flags stay if neither can wrap.
static Value multiplyFirst(RewriterBase &rewriter, LLVM::MulOp product,
                           const OffsetValue &sum, const APInt &factor) {
  IntegerOverflowFlags flags = product.getOverflowFlags();
  if (!isExact(flags) || !isExact(sum.flags) || factor.isNegative())
    flags = IntegerOverflowFlags::none;
  Value scaled =
      LLVM::MulOp::create(rewriter, product.getLoc(), product.getType(),
                          sum.value, product.getRhs(), flags);
  return addOffset(rewriter, product.getLoc(), scaled, sum.offset * factor,
                   flags);
}

/// What `op` makes with the constant of its first operand added last; null if
/// that has none, or it cannot be.
static Value rewriteOp(RewriterBase &rewriter, Operation *op) {
  if (!isa<LLVM::MulOp, LLVM::UDivOp, LLVM::URemOp>(op))
    return {};
  std::optional<APInt> by = getInteger(op->getOperand(1));
  std::optional<OffsetValue> sum = splitOffset(op->getOperand(0));
  if (!by || !sum || by->isZero())
    return {};
  if (auto product = dyn_cast<LLVM::MulOp>(op))
    return multiplyFirst(rewriter, product, *sum, *by);
  if (!bitEnumContainsAll(sum->flags, IntegerOverflowFlags::nuw) ||
      !sum->offset.urem(*by).isZero())
    return {};
  Location loc = op->getLoc();
  if (isa<LLVM::URemOp>(op))
    return LLVM::URemOp::create(rewriter, loc, sum->value, op->getOperand(1));
  Value quotient =
      LLVM::UDivOp::create(rewriter, loc, sum->value, op->getOperand(1));
  return addOffset(rewriter, loc, quotient, sum->offset.udiv(*by), sum->flags);
}

void addConstantsLast(Operation *root) {
  IRRewriter rewriter(root->getContext());
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    rewriter.setInsertionPoint(op);
    if (Value value = rewriteOp(rewriter, op))
      rewriter.replaceAllUsesWith(op->getResult(0), value);
  });
}

} // namespace mlir::workgroup
