//===- SumsOfProducts.cpp - A product and its addition as one -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SumsOfProducts.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::workgroup {

/// Narrower floats have no multiply-add on any GPU.
static constexpr unsigned kLeastBits = 16;

/// True if `value` is what a result of `op` is so far.
static bool isSumSoFar(linalg::LinalgOp op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == op.getBlock() &&
         llvm::is_contained(op.getRegionOutputArgs(), argument);
}

arith::MulFOp getAddedProduct(linalg::LinalgOp op, Operation *inner) {
  auto addition = dyn_cast<arith::AddFOp>(inner);
  if (!addition || op.getNumReductionLoops() == 0 ||
      addition->getBlock() != op.getBlock() ||
      addition.getType().getIntOrFloatBitWidth() < kLeastBits)
    return {};
  for (unsigned i : {0, 1}) {
    auto product = addition->getOperand(1 - i).getDefiningOp<arith::MulFOp>();
    if (product && product->getBlock() == op.getBlock() &&
        product->hasOneUse() && isSumSoFar(op, addition->getOperand(i)))
      return product;
  }
  return {};
}

bool isAddedProduct(linalg::LinalgOp op, Operation *inner) {
  return isa<arith::MulFOp>(inner) && inner->hasOneUse() &&
         getAddedProduct(op, *inner->user_begin()) == inner;
}

Value createMultiplyAdd(OpBuilder &builder, Operation *addition,
                        arith::MulFOp product, const IRMapping &mapping) {
  auto sum = cast<arith::AddFOp>(addition);
  Value soFar =
      sum.getLhs() == product.getResult() ? sum.getRhs() : sum.getLhs();
  arith::FastMathFlags flags = sum.getFastmath() & product.getFastmath();
  return math::FmaOp::create(builder, sum.getLoc(),
                             mapping.lookupOrDefault(product.getLhs()),
                             mapping.lookupOrDefault(product.getRhs()),
                             mapping.lookupOrDefault(soFar), flags);
}

void fuseMultiplyAdds(RewriterBase &rewriter, linalg::LinalgOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  for (Operation &inner : llvm::make_early_inc_range(*op.getBlock())) {
    arith::MulFOp product = getAddedProduct(op, &inner);
    if (!product)
      continue;
    rewriter.setInsertionPoint(&inner);
    rewriter.replaceOp(
        &inner, createMultiplyAdd(rewriter, &inner, product, IRMapping()));
    rewriter.eraseOp(product);
  }
}

} // namespace mlir::workgroup
