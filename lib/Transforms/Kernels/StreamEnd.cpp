//===- StreamEnd.cpp - What is behind the last column ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A weight is multiplied, divided, or zero instead, by what is the same for a
// row: so may be the sum of products. Where a row has zeros for weights, the
// products are multiplied by zero, so that infinities and NaN come through as
// they would have.
//
//===----------------------------------------------------------------------===//

#include "StreamEnd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

ChainDims getRowDims(const ChainStream::Link &link) {
  linalg::LinalgOp op = link.op;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr at) {
    return *link.rows[cast<AffineDimExpr>(at).getPosition()];
  });
}

ChainDims getResultDims(const ContractionChain &chain) {
  linalg::LinalgOp op = chain.second;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr at) {
    return cast<AffineDimExpr>(at).getPosition();
  });
}

AffineMap mapDims(MLIRContext *context, ArrayRef<unsigned> from,
                  ArrayRef<unsigned> to) {
  SmallVector<AffineExpr> indices;
  for (unsigned dim : from)
    indices.push_back(
        getAffineDimExpr(llvm::find(to, dim) - to.begin(), context));
  return AffineMap::get(to.size(), 0, indices, context);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value getDestination(Value value) {
  while (linalg::LinalgOp op = getTensorOp(value.getDefiningOp()))
    value = op.getTiedOpOperand(cast<OpResult>(value))->get();
  return value;
}

SmallVector<OpFoldResult> getSizes(OpBuilder &builder, Value tensor) {
  Value value = getDestination(tensor);
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  if (slice && slice.getType().getRank() == slice.getSourceType().getRank())
    return slice.getMixedSizes();
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes();
  return tensor::getMixedSizes(builder, tensor.getLoc(), value);
}

/// What `op` makes of what `mapping` has, in a tensor of its own.
static Value cloneRow(RewriterBase &rewriter, linalg::LinalgOp op,
                      IRMapping &mapping) {
  auto copy = cast<linalg::LinalgOp>(rewriter.clone(*op, mapping));
  OpOperand *init = copy.getDpsInitOperand(0);
  if (!copy.payloadUsesValueFromOperand(init)) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(copy);
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(),
                                          getSizes(rewriter, init->get()),
                                          getElementTypeOrSelf(init->get()));
    rewriter.modifyOpInPlace(copy, [&] { init->set(empty); });
  }
  return copy->getResult(0);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

void cloneNeeded(OpBuilder &builder, Value value, Block *body,
                 IRMapping &mapping) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != body || mapping.contains(value))
    return;
  for (Value operand : op->getOperands())
    cloneNeeded(builder, operand, body, mapping);
  builder.clone(*op, mapping);
}

Value convertFloat(OpBuilder &builder, Location loc, Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  if (from > to)
    return arith::TruncFOp::create(builder, loc, type, value);
  // Of f16 and bf16, neither has the other.
  value = arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

/// What `step`, on a weight, makes of `value`, which was made of `products`.
/// `mapping` has what else it reads.
static Value apply(OpBuilder &builder, Location loc, Operation *step,
                   Value value, Value products, IRMapping &mapping) {
  Type type = value.getType();
  auto read = [&](unsigned number) {
    Value operand = step->getOperand(number);
    cloneNeeded(builder, operand, step->getBlock(), mapping);
    return mapping.lookupOrDefault(operand);
  };
  auto isWeight = [&](unsigned number) {
    return mapping.lookupOrNull(step->getOperand(number)) == value;
  };
  if (isa<arith::DivFOp>(step))
    return arith::DivFOp::create(builder, loc, value,
                                 convertFloat(builder, loc, read(1), type));
  if (isa<arith::MulFOp>(step)) {
    Value factor = read(isWeight(0) ? 1 : 0);
    return arith::MulFOp::create(builder, loc, value,
                                 convertFloat(builder, loc, factor, type));
  }
  if (!isa<arith::SelectOp>(step))
    return value; // a conversion
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value nothing = arith::AddFOp::create(
      builder, loc, arith::MulFOp::create(builder, loc, products, zero), zero);
  bool isTrue = isWeight(1);
  return arith::SelectOp::create(builder, loc, read(0),
                                 isTrue ? value : nothing,
                                 isTrue ? nothing : value);
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

namespace {

/// An input of the operation that finishes the products.
struct EndInput {
  BlockArgument argument; // of the operation that read it
  Value value;
  AffineMap map;
};

} // namespace

static bool isShare(const ChainStream::Link &link) {
  return link.role == StreamRole::Share;
}

/// What shares of weights are computed from besides the weights.
static SmallVector<EndInput> collectInputs(const ContractionChain &chain,
                                           const ChainStream &stream,
                                           const IRMapping &ends) {
  ChainDims results = getResultDims(chain);
  SmallVector<EndInput> inputs;
  for (const ChainStream::Link &link : stream.links) {
    if (!isShare(link))
      continue;
    linalg::LinalgOp op = link.op;
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (input == link.weight)
        continue;
      AffineMap map = op.getMatchingIndexingMap(input);
      ChainDims dims =
          llvm::map_to_vector(map.getResults(), [&](AffineExpr at) {
            return *link.rows[cast<AffineDimExpr>(at).getPosition()];
          });
      inputs.push_back({op.getMatchingBlockArgument(input),
                        ends.lookupOrDefault(input->get()),
                        mapDims(op->getContext(), dims, results)});
    }
  }
  return inputs;
}

/// What becomes of `value`, a sum of products with weights, with their shares.
static Value share(OpBuilder &builder, Location loc, const ChainStream &stream,
                   Value products, IRMapping mapping) {
  Value value = products;
  for (const ChainStream::Link &link : stream.links) {
    if (!isShare(link))
      continue;
    linalg::LinalgOp op = link.op;
    mapping.map(op.getMatchingBlockArgument(link.weight), value);
    for (Operation *step : link.steps) {
      value = apply(builder, loc, step, value, products, mapping);
      mapping.map(step->getResult(0), value);
    }
  }
  return value;
}

/// Whether there are no `columns`; null if there are.
static Value isEmpty(RewriterBase &rewriter, Location loc, Value columns) {
  if (getConstantIntValue(columns))
    return {};
  Value none = arith::ConstantIndexOp::create(rewriter, loc, 0);
  return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, none,
                               columns);
}

Value finishStream(RewriterBase &rewriter, const ContractionChain &chain,
                   const ChainStream &stream, Value columns, Value products,
                   IRMapping ends) {
  for (const ChainStream::Link &link : stream.links)
    if (link.role == StreamRole::Row || link.role == StreamRole::Reference)
      ends.map(link.op->getResult(0), cloneRow(rewriter, link.op, ends));
  linalg::LinalgOp second = chain.second;
  Location loc = second.getLoc();
  Value result = getDestination(second.getDpsInits()[0]);
  if (!stream.hasShares())
    return linalg::CopyOp::create(rewriter, loc, products, result).getResult(0);
  SmallVector<EndInput> inputs = collectInputs(chain, stream, ends);
  auto type = cast<RankedTensorType>(result.getType());
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<Value> values(1, products);
  SmallVector<AffineMap> maps(1, identity);
  for (const EndInput &input : inputs) {
    values.push_back(input.value);
    maps.push_back(input.map);
  }
  // Nothing divided by the weights of no columns is nothing.
  Value hasNone = isEmpty(rewriter, loc, columns);
  if (hasNone) {
    values.push_back(hasNone);
    maps.push_back(
        AffineMap::get(type.getRank(), 0, {}, rewriter.getContext()));
  }
  maps.push_back(identity);
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  auto emit = [&](OpBuilder &builder, Location at, ValueRange arguments) {
    IRMapping mapping;
    for (auto [input, argument] : llvm::zip(inputs, arguments.drop_front()))
      mapping.map(input.argument, argument);
    Value sum = arguments.front();
    Value result = share(builder, at, stream, sum, std::move(mapping));
    if (hasNone)
      result = arith::SelectOp::create(
          builder, at, arguments.drop_back().back(), sum, result);
    linalg::YieldOp::create(builder, at, result);
  };
  return linalg::GenericOp::create(rewriter, loc, type, values, result, maps,
                                   kinds, emit)
      .getResult(0);
}

void fuseIntoUser(RewriterBase &rewriter, Value result) {
  auto producer = result.getDefiningOp<linalg::GenericOp>();
  if (!producer || !result.hasOneUse())
    return;
  OpOperand &use = *result.use_begin();
  auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!user || !user.isDpsInput(&use) ||
      !linalg::areElementwiseOpsFusable(&use))
    return;
  rewriter.setInsertionPoint(user);
  auto fused = linalg::fuseElementwiseOps(rewriter, &use);
  if (failed(fused))
    return;
  for (OpResult old : user->getResults())
    rewriter.replaceAllUsesWith(old, fused->replacements.lookup(old));
  rewriter.eraseOp(user);
  rewriter.eraseOp(producer);
}

} // namespace mlir::workgroup
