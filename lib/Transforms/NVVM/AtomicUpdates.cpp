//===- AtomicUpdates.cpp - Atomic updates that GPUs lack ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtomicUpdates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

namespace mlir::workgroup {

/// The integer in whose place memory holds an `element`; null if GPUs do not
/// exchange any of its size.
static IntegerType getExchanged(Type element) {
  if (!element.isIntOrFloat())
    return {};
  unsigned bits = std::max(element.getIntOrFloatBitWidth(), 8u);
  if (!llvm::is_contained({8u, 16u, 32u, 64u}, bits))
    return {};
  return IntegerType::get(element.getContext(), bits);
}

/// True if LLVM has operations on an `element` of memory, an exchange for one.
static bool hasOperations(Type element) {
  return element == getExchanged(element) || element.isF16() ||
         element.isBF16() || element.isF32() || element.isF64();
}

/// True if LLVM has an operation for `op`.
static bool hasOperation(memref::AtomicRMWOp op) {
  switch (op.getKind()) {
  case arith::AtomicRMWKind::mulf:
  case arith::AtomicRMWKind::muli:
    return false;
  default:
    return hasOperations(op.getValue().getType());
  }
}

std::string getAtomicObstacle(Operation *op) {
  MemRefType type;
  if (auto update = dyn_cast<memref::AtomicRMWOp>(op))
    type = update.getMemRefType();
  else if (auto update = dyn_cast<memref::GenericAtomicRMWOp>(op))
    type = cast<MemRefType>(update.getMemref().getType());
  if (!type || getExchanged(type.getElementType()))
    return "";
  std::string why = "updates an element of type '";
  llvm::raw_string_ostream(why)
      << type.getElementType()
      << "' at once, which GPUs do with those of 8, 16, 32 and 64 bits alone; "
         "use a type of one of these sizes";
  return why;
}

/// What `bits`, read from memory, are as an `element`.
static Value fromBits(OpBuilder &builder, Location loc, Value bits,
                      Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  Value integer = bits;
  if (width < bits.getType().getIntOrFloatBitWidth())
    integer = arith::TruncIOp::create(builder, loc,
                                      builder.getIntegerType(width), bits);
  return isa<IntegerType>(element)
             ? integer
             : arith::BitcastOp::create(builder, loc, element, integer);
}

/// What memory holds as integer `bits` for `value`.
static Value toBits(OpBuilder &builder, Location loc, Value value,
                    IntegerType bits) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  if (!isa<IntegerType>(value.getType()))
    value = arith::BitcastOp::create(builder, loc,
                                     builder.getIntegerType(width), value);
  return width < bits.getWidth()
             ? arith::ExtUIOp::create(builder, loc, bits, value)
             : value;
}

namespace {

/// Says by a body what an update does that LLVM has no operation for.
struct UpdateByBody final : OpRewritePattern<memref::AtomicRMWOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::AtomicRMWOp op,
                                PatternRewriter &rewriter) const override {
    if (hasOperation(op) || !getExchanged(op.getValue().getType()))
      return failure();
    Location loc = op.getLoc();
    auto update = memref::GenericAtomicRMWOp::create(
        rewriter, loc, op.getMemref(), op.getIndices());
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToEnd(update.getBody());
    Value value = op.getValue();
    if (op.getKind() != arith::AtomicRMWKind::assign)
      value = arith::getReductionOp(op.getKind(), rewriter, loc,
                                    update.getCurrentValue(), value);
    memref::AtomicYieldOp::create(rewriter, loc, value);
    rewriter.replaceOp(op, update);
    return success();
  }
};

/// Updates the integer that memory holds instead of the element. Both memrefs
/// become the same descriptor.
struct UpdateBits final : OpRewritePattern<memref::GenericAtomicRMWOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::GenericAtomicRMWOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<MemRefType>(op.getMemref().getType());
    Type element = type.getElementType();
    IntegerType bits = getExchanged(element);
    if (!bits || bits == element)
      return failure();
    Location loc = op.getLoc();
    MemRefType viewed = MemRefType::Builder(type).setElementType(bits);
    Value memory = UnrealizedConversionCastOp::create(rewriter, loc, viewed,
                                                      op.getMemref())
                       .getResult(0);
    auto update = memref::GenericAtomicRMWOp::create(rewriter, loc, memory,
                                                     op.getIndices());
    moveBody(op, update, rewriter);
    rewriter.setInsertionPointAfter(update);
    rewriter.replaceOp(op,
                       fromBits(rewriter, loc, update.getResult(), element));
    return success();
  }

private:
  static void moveBody(memref::GenericAtomicRMWOp from,
                       memref::GenericAtomicRMWOp to,
                       PatternRewriter &rewriter) {
    Location loc = from.getLoc();
    Block *body = to.getBody();
    rewriter.setInsertionPointToEnd(body);
    Value old = fromBits(rewriter, loc, to.getCurrentValue(),
                         from.getResult().getType());
    rewriter.mergeBlocks(from.getBody(), body, old);
    auto yield = cast<memref::AtomicYieldOp>(body->getTerminator());
    rewriter.setInsertionPoint(yield);
    Value result = toBits(rewriter, loc, yield.getResult(),
                          cast<IntegerType>(to.getResult().getType()));
    rewriter.modifyOpInPlace(yield,
                             [&] { yield.getResultMutable().assign(result); });
  }
};

/// Exchanges the element if a body yields what is there without it: upstream's
/// lowering looks for that value in the body alone. Elements that are not
/// exchanged as they are become integers by `UpdateBits` before.
struct ExchangeForBody final : OpRewritePattern<memref::AtomicYieldOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::AtomicYieldOp op,
                                PatternRewriter &rewriter) const override {
    auto update = cast<memref::GenericAtomicRMWOp>(op->getParentOp());
    Value value = op.getResult();
    bool isInside = op->getParentRegion()->isAncestor(value.getParentRegion());
    bool isConstant = matchPattern(value, m_Constant());
    if (!hasOperations(value.getType()) || (isInside && !isConstant))
      return failure();
    rewriter.setInsertionPoint(update);
    // Folding moves constants out, now or in a later pass.
    if (isInside)
      value = rewriter.clone(*value.getDefiningOp())->getResult(0);
    rewriter.replaceOpWithNewOp<memref::AtomicRMWOp>(
        update, arith::AtomicRMWKind::assign, value, update.getMemref(),
        update.getIndices());
    return success();
  }
};

} // namespace

void populateAtomicUpdatePatterns(RewritePatternSet &patterns) {
  patterns.add<UpdateByBody, UpdateBits, ExchangeForBody>(
      patterns.getContext());
}

} // namespace mlir::workgroup
