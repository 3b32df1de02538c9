//===- ChainSums.cpp - Sums of unnormalised weights -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChainSums.h"
#include "ChainLimits.h"
#include "ChainStream.h"
#include "Combiners.h"
#include "StreamEnd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::workgroup {

/// True if `second` ends a chain whose sums have to be wider.
static bool needsWideSums(linalg::LinalgOp second,
                          const FormKernelsOptions &limits) {
  Type type = getElementTypeOrSelf(second->getResult(0));
  if (!type.isF16() && !type.isBF16())
    return false;
  std::optional<ContractionChain> chain = findChain(second);
  if (!chain || getObstacle(*chain, limits))
    return false;
  std::optional<ChainStream> stream = findStream(*chain);
  return stream && stream->weights;
}

/// `second` with products and sums in f32; its body multiplies two numbers and
/// adds the product to the result.
static linalg::GenericOp makeWideSums(RewriterBase &rewriter,
                                      linalg::LinalgOp second, Value init) {
  Operation *sum = getCombiner(second);
  Value carried = second.getRegionOutputArgs().front();
  Operation *product =
      sum->getOperand(sum->getOperand(0) == carried ? 1 : 0).getDefiningOp();
  return linalg::GenericOp::create(
      rewriter, second.getLoc(), init.getType(), second.getDpsInputs(), init,
      second.getIndexingMapsArray(), second.getIteratorTypesArray(),
      [&](OpBuilder &builder, Location loc, ValueRange values) {
        IRMapping mapping;
        mapping.map(second.getBlock()->getArguments(), values);
        for (Operation &op : second.getBlock()->without_terminator())
          if (&op != sum && &op != product)
            builder.clone(op, mapping);
        auto widen = [&](Value factor) {
          return convertFloat(builder, loc, mapping.lookupOrDefault(factor),
                              builder.getF32Type());
        };
        Value lhs = widen(product->getOperand(0));
        Value rhs = widen(product->getOperand(1));
        Value term = arith::MulFOp::create(builder, loc, lhs, rhs);
        Value result = arith::AddFOp::create(builder, loc, values.back(), term);
        linalg::YieldOp::create(builder, loc, result);
      });
}

/// `wide` rounded to `type`.
static Value roundSums(RewriterBase &rewriter, Location loc, Value wide,
                       Type type) {
  auto of = cast<RankedTensorType>(wide.getType());
  AffineMap map = rewriter.getMultiDimIdentityMap(of.getRank());
  SmallVector<utils::IteratorType> kinds(of.getRank(),
                                         utils::IteratorType::parallel);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, getSizes(rewriter, wide), type);
  auto rounded = linalg::GenericOp::create(
      rewriter, loc, empty.getType(), wide, empty, ArrayRef{map, map}, kinds,
      [&](OpBuilder &builder, Location loc, ValueRange values) {
        linalg::YieldOp::create(builder, loc,
                                convertFloat(builder, loc, values[0], type));
      });
  return rounded.getResult(0);
}

static void widenSums(RewriterBase &rewriter, linalg::LinalgOp second) {
  Location loc = second.getLoc();
  rewriter.setInsertionPoint(second);
  Value init = second.getDpsInits()[0];
  Value empty = tensor::EmptyOp::create(rewriter, loc, getSizes(rewriter, init),
                                        rewriter.getF32Type());
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(0));
  Value start = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
  linalg::GenericOp wide = makeWideSums(rewriter, second, start);
  rewriter.replaceOp(second, roundSums(rewriter, loc, wide.getResult(0),
                                       getElementTypeOrSelf(init)));
  Operation *narrowStart = init.getDefiningOp();
  if (narrowStart && isOpTriviallyDead(narrowStart))
    rewriter.eraseOp(narrowStart);
}

void widenChainSums(Block &block, const FormKernelsOptions &limits) {
  SmallVector<linalg::LinalgOp> narrowOps;
  for (Operation &op : block)
    if (linalg::LinalgOp onTensors = getTensorOp(&op))
      if (classify(onTensors) == LinalgClass::Contraction &&
          needsWideSums(onTensors, limits))
        narrowOps.push_back(onTensors);
  IRRewriter rewriter(block.getParentOp()->getContext());
  for (linalg::LinalgOp op : narrowOps)
    widenSums(rewriter, op);
}

} // namespace mlir::workgroup
