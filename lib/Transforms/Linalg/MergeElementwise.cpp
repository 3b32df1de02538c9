//===- MergeElementwise.cpp - Element-wise results made at once -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion puts what has one user into that. What is also returned would be
// written, and read again by the rest of the kernel.
//
//===----------------------------------------------------------------------===//

#include "MergeElementwise.h"
#include "Analysis/Program/OpEffects.h"
#include "LinalgClasses.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::workgroup {

/// True if `op`, and all that it is computed from, goes element by element: a
/// sum has results in registers, which are for one operation behind it.
static bool isPlain(linalg::LinalgOp op,
                    llvm::SmallPtrSetImpl<Operation *> &visited) {
  if (!visited.insert(op).second)
    return true;
  LinalgClass kind = classify(op);
  if (kind != LinalgClass::Elementwise && kind != LinalgClass::Generator)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    linalg::LinalgOp from = getTensorOp(operand.getDefiningOp());
    return !from || isPlain(from, visited);
  });
}

/// True if nothing but element-wise operations goes on from `op`.
static bool isUsedByElement(linalg::LinalgOp op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    linalg::LinalgOp onTensors = getTensorOp(user);
    return !onTensors || classify(onTensors) == LinalgClass::Elementwise;
  });
}

/// True if something between the two may change what tensors are read from.
static bool mayWriteBetween(Operation *first, Operation *last) {
  for (Operation *op = first->getNextNode(); op != last; op = op->getNextNode())
    if (hasOtherEffects<MemoryEffects::Read, MemoryEffects::Allocate>(op))
      return true;
  return false;
}

/// True if all loops of both go together, and what else uses `producer` comes
/// behind `consumer`, as it does itself by that.
static bool areMergeable(linalg::GenericOp producer,
                         linalg::GenericOp consumer) {
  Block *block = consumer->getBlock();
  if (producer->getBlock() != block ||
      producer.getNumLoops() != consumer.getNumLoops() ||
      mayWriteBetween(producer, consumer))
    return false;
  return llvm::all_of(producer->getUses(), [&](OpOperand &use) {
    auto result = cast<OpResult>(use.get());
    if (!producer.getIndexingMapMatchingResult(result).isIdentity())
      return false;
    if (use.getOwner() == consumer)
      return !consumer.isDpsInit(&use) &&
             consumer.getMatchingIndexingMap(&use).isIdentity();
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    return user && consumer->isBeforeInBlock(user);
  });
}

/// Makes one operation of two, which has the results of both, at `consumer`.
static linalg::GenericOp merge(RewriterBase &rewriter,
                               linalg::GenericOp producer,
                               linalg::GenericOp consumer) {
  SmallVector<Value> inputs(producer.getInputs()), inits(producer.getOutputs());
  SmallVector<AffineMap> maps;
  for (OpOperand *input : producer.getDpsInputOperands())
    maps.push_back(producer.getMatchingIndexingMap(input));
  for (OpOperand *input : consumer.getDpsInputOperands())
    if (input->get().getDefiningOp() != producer) {
      inputs.push_back(input->get());
      maps.push_back(consumer.getMatchingIndexingMap(input));
    }
  llvm::append_range(inits, consumer.getOutputs());
  for (linalg::GenericOp op : {producer, consumer})
    for (OpOperand &init : op.getDpsInitsMutable())
      maps.push_back(op.getMatchingIndexingMap(&init));

  rewriter.setInsertionPoint(consumer);
  auto merged = linalg::GenericOp::create(
      rewriter, consumer.getLoc(), ValueRange(inits).getTypes(), inputs, inits,
      maps, producer.getIteratorTypesArray());
  Block *body = rewriter.createBlock(&merged.getRegion());
  for (Value operand : merged->getOperands())
    body->addArgument(getElementTypeOrSelf(operand.getType()), merged.getLoc());

  IRMapping mapping;
  unsigned nextInput = 0, nextInit = inputs.size();
  SmallVector<Value> yielded;
  for (linalg::GenericOp op : {producer, consumer}) {
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      auto result = dyn_cast<OpResult>(operand.get());
      if (op.isDpsInit(&operand))
        mapping.map(argument, body->getArgument(nextInit++));
      else if (result && result.getOwner() == producer)
        mapping.map(argument, yielded[result.getResultNumber()]);
      else
        mapping.map(argument, body->getArgument(nextInput++));
    }
    for (Operation &inner : op.getBody()->without_terminator())
      rewriter.clone(inner, mapping);
    for (Value value : op.getBody()->getTerminator()->getOperands())
      yielded.push_back(mapping.lookupOrDefault(value));
  }
  linalg::YieldOp::create(rewriter, merged.getLoc(), yielded);
  return merged;
}

namespace {
struct MergeElementwise final : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp consumer,
                                PatternRewriter &rewriter) const override {
    llvm::SmallPtrSet<Operation *, 16> visited;
    if (!getTensorOp(consumer) ||
        classify(consumer) != LinalgClass::Elementwise ||
        !isPlain(consumer, visited) || !isUsedByElement(consumer))
      return failure();
    for (Value input : consumer.getInputs()) {
      auto producer = input.getDefiningOp<linalg::GenericOp>();
      if (!producer || classify(producer) != LinalgClass::Elementwise ||
          !isUsedByElement(producer) || !areMergeable(producer, consumer))
        continue;
      linalg::GenericOp merged = merge(rewriter, producer, consumer);
      unsigned number = producer.getNumResults();
      rewriter.replaceOp(consumer, merged.getResults().drop_front(number));
      rewriter.replaceOp(producer, merged.getResults().take_front(number));
      return success();
    }
    return failure();
  }
};
} // namespace

void populateMergeElementwisePatterns(RewritePatternSet &patterns) {
  patterns.add<MergeElementwise>(patterns.getContext());
}

} // namespace mlir::workgroup
