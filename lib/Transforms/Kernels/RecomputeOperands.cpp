//===- RecomputeOperands.cpp - Operands that readers make themselves ------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's fusion refuses what would take the only operand from a loop that
// tells its extent. A tensor that nobody reads tells it as well, and needs no
// memory.
//
//===----------------------------------------------------------------------===//

#include "RecomputeOperands.h"
#include "Transforms/Linalg/LinalgClasses.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::workgroup {

/// The loops of `op` of which no operand but `left` tells the extent, of those
/// that `left` does.
static SmallVector<unsigned> getLoopsOf(linalg::LinalgOp op,
                                        const OpOperand &left) {
  llvm::SmallBitVector open(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands())
    for (AffineExpr at : op.getMatchingIndexingMap(&operand).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(at); dim && &operand == &left)
        open.set(dim.getPosition());
  for (OpOperand &operand : op->getOpOperands())
    for (AffineExpr at : op.getMatchingIndexingMap(&operand).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(at); dim && &operand != &left)
        open.reset(dim.getPosition());
  return llvm::to_vector_of<unsigned>(open.set_bits());
}

/// Lets the owner of `operand` know the extents of its loops without it: by an
/// input that it does not read, if there is no other that tells them. The
/// operands of the owner move.
static void keepExtents(RewriterBase &rewriter, OpOperand &operand) {
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  SmallVector<unsigned> loops = getLoopsOf(op, operand);
  if (loops.empty())
    return;
  Location loc = op.getLoc();
  AffineMap read = op.getMatchingIndexingMap(&operand);
  SmallVector<OpFoldResult> sizes;
  SmallVector<AffineExpr> places;
  for (unsigned loop : loops) {
    AffineExpr place = rewriter.getAffineDimExpr(loop);
    places.push_back(place);
    sizes.push_back(tensor::getMixedSize(rewriter, loc, operand.get(),
                                         *read.getResultPosition(place)));
  }
  Type element = getElementTypeOrSelf(operand.get());
  Value extents = tensor::EmptyOp::create(rewriter, loc, sizes, element);
  unsigned number = op.getNumDpsInputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.insert(maps.begin() + number,
              AffineMap::get(op.getNumLoops(), 0, places, op.getContext()));
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputsMutable().append(extents);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    op.getBody()->insertArgument(number, element, loc);
  });
}

/// Puts what makes input `number` of `op` into its body; null if that fails.
static linalg::GenericOp fuse(RewriterBase &rewriter, linalg::GenericOp op,
                              unsigned number) {
  auto producer = op->getOperand(number).getDefiningOp<linalg::GenericOp>();
  rewriter.setInsertionPoint(op);
  keepExtents(rewriter, op->getOpOperand(number));
  Operation *copy = rewriter.clone(*producer); // who else uses it keeps its own
  auto result = cast<OpResult>(op->getOperand(number));
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(number, copy->getResult(result.getResultNumber()));
  });
  OpOperand &input = op->getOpOperand(number);
  auto fused = linalg::areElementwiseOpsFusable(&input)
                   ? linalg::fuseElementwiseOps(rewriter, &input)
                   : FailureOr<linalg::ElementwiseOpFusionResult>();
  if (failed(fused)) {
    rewriter.modifyOpInPlace(op, [&] { op->setOperand(number, result); });
    rewriter.eraseOp(copy);
    return {};
  }
  for (OpResult old : op->getResults())
    rewriter.replaceAllUsesWith(old, fused->replacements.lookup(old));
  rewriter.eraseOp(op);
  rewriter.eraseOp(copy);
  if (producer->use_empty())
    rewriter.eraseOp(producer);
  return cast<linalg::GenericOp>(fused->fusedOp);
}

bool recomputeInputs(RewriterBase &rewriter, Block &block,
                     llvm::function_ref<bool(OpOperand &)> isRecomputed) {
  bool hasAny = false;
  // Producers first, which become what their users make.
  SmallVector<linalg::GenericOp> ops(block.getOps<linalg::GenericOp>());
  for (linalg::GenericOp op : ops) {
    for (unsigned number = 0; number < op.getNumDpsInputs();) {
      OpOperand &input = op->getOpOperand(number);
      bool isFused =
          input.get().getDefiningOp<linalg::GenericOp>() && isRecomputed(input);
      linalg::GenericOp whole =
          isFused ? fuse(rewriter, op, number) : linalg::GenericOp();
      if (whole) {
        op = whole;
        number = 0;
        hasAny = true;
      } else {
        ++number;
      }
    }
  }
  return hasAny;
}

} // namespace mlir::workgroup
