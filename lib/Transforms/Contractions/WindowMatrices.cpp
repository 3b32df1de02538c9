//===- WindowMatrices.cpp - Operands that divided indices find ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WindowMatrices.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::workgroup {

/// True if `map` divides indices, as that of a matrix of windows does.
static bool divides(AffineMap map) {
  bool isFound = false;
  map.walkExprs([&](AffineExpr expr) {
    isFound |= expr.getKind() == AffineExprKind::FloorDiv ||
               expr.getKind() == AffineExprKind::CeilDiv ||
               expr.getKind() == AffineExprKind::Mod;
  });
  return isFound;
}

/// The operands of `op` on tensors whose elements its body is to look up; none
/// if the others do not say how many iterations it has.
static SmallVector<OpOperand *> getLookedUp(linalg::LinalgOp op) {
  SmallVector<OpOperand *> found;
  SmallVector<AffineMap> others;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (op.isDpsInput(&operand) && divides(map))
      found.push_back(&operand);
    else
      others.push_back(map);
  }
  AffineMap toLoops =
      inversePermutation(concatAffineMaps(others, op.getContext()));
  return toLoops ? found : SmallVector<OpOperand *>();
}

/// Replaces `op`, on tensors, by one whose body looks up the elements of
/// `lookedUp`: tiles of it read what the whole does.
static void lookUp(linalg::LinalgOp op, ArrayRef<OpOperand *> lookedUp,
                   RewriterBase &rewriter) {
  Location loc = op.getLoc();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    if (llvm::is_contained(lookedUp, &operand))
      continue;
    if (op.isDpsInput(&operand))
      inputs.push_back(operand.get());
    maps.push_back(op.getMatchingIndexingMap(&operand));
  }
  auto emitBody = [&](OpBuilder &builder, Location, ValueRange arguments) {
    SmallVector<OpFoldResult> loops;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      loops.push_back(linalg::IndexOp::create(builder, loc, loop).getResult());
    IRMapping mapping;
    for (BlockArgument argument : op.getBlock()->getArguments()) {
      OpOperand *operand = op.getMatchingOpOperand(argument);
      if (!llvm::is_contained(lookedUp, operand)) {
        mapping.map(argument, arguments.front());
        arguments = arguments.drop_front();
        continue;
      }
      SmallVector<Value> place;
      AffineMap map = op.getMatchingIndexingMap(operand);
      for (AffineExpr index : map.getResults())
        place.push_back(getValueOrCreateConstantIndexOp(
            builder, loc,
            affine::makeComposedFoldedAffineApply(
                builder, loc, AffineMap::get(map.getNumDims(), 0, index),
                loops)));
      mapping.map(argument,
                  tensor::ExtractOp::create(builder, loc, operand->get(), place)
                      .getResult());
    }
    for (Operation &inner : *op.getBlock())
      builder.clone(inner, mapping);
  };
  rewriter.setInsertionPoint(op);
  auto changed = linalg::GenericOp::create(
      rewriter, loc, op->getResultTypes(), inputs, op.getDpsInits(), maps,
      op.getIteratorTypesArray(), emitBody);
  rewriter.replaceOp(op, changed.getResults());
}

void lookUpDivided(Operation *root, RewriterBase &rewriter) {
  SmallVector<linalg::LinalgOp> ops;
  root->walk([&](linalg::LinalgOp op) {
    if (op.hasPureTensorSemantics() && !getLookedUp(op).empty())
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops) {
    recordRemark(RemarkId::DecomposeIm2col_LookedUp, op)
        << "operation whose body looks up what divided indices find";
    lookUp(op, getLookedUp(op), rewriter);
  }
}

} // namespace mlir::workgroup
