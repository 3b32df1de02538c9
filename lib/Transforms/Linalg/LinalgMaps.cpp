//===- LinalgMaps.cpp - How operations index what they access -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgMaps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::workgroup {

/// True if a tile of the loops reads a slice by `index`: it is linear, and
/// never falls.
static bool isSliced(AffineExpr index) {
  bool isLinear = true;
  index.walk([&](AffineExpr part) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    if (!binary)
      return;
    auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    isLinear &= part.getKind() == AffineExprKind::Add ||
                (part.getKind() == AffineExprKind::Mul && factor &&
                 factor.getValue() >= 0);
  });
  return isLinear;
}

std::optional<OpFoldResult> findExtent(RewriterBase &rewriter,
                                       linalg::GenericOp op, unsigned loop) {
  if (int64_t extent = op.getStaticLoopRanges()[loop];
      !ShapedType::isDynamic(extent))
    return rewriter.getIndexAttr(extent);
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, at] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (at == rewriter.getAffineDimExpr(loop))
        return tensor::getMixedSize(rewriter, op.getLoc(), operand.get(), dim);
  return std::nullopt;
}

SmallVector<AffineExpr> getIterations(linalg::LinalgOp op) {
  SmallVector<AffineExpr> iterations;
  for (auto [loop, extent] : llvm::enumerate(op.getStaticLoopRanges()))
    iterations.push_back(extent == 1 ? getAffineConstantExpr(0, op.getContext())
                                     : getAffineDimExpr(loop, op.getContext()));
  return iterations;
}

void cutWindows(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<AffineExpr> iterations = getIterations(op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  rewriter.setInsertionPoint(op);
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap &map = maps[input->getOperandNumber()];
    SmallVector<AffineExpr> places(map.getResults());
    SmallVector<std::pair<unsigned, OpFoldResult>> cuts;
    for (auto [dim, at] : llvm::enumerate(places)) {
      auto loop = dyn_cast<AffineDimExpr>(at.replaceDims(iterations));
      if (isa<AffineDimExpr>(at) || !loop)
        continue;
      if (auto extent = findExtent(rewriter, op, loop.getPosition())) {
        cuts.emplace_back(dim, *extent);
        at = loop;
      }
    }
    if (cuts.empty())
      continue;
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, op.getLoc(), input->get());
    for (auto [dim, extent] : cuts)
      sizes[dim] = extent;
    SmallVector<OpFoldResult> zeros(sizes.size(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(sizes.size(), rewriter.getIndexAttr(1));
    input->set(tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(), input->get(), zeros, sizes, ones));
    map = AffineMap::get(map.getNumDims(), 0, places, op.getContext());
  }
  op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
}

/// The values of the loops of `op`, made where `builder` stands in its body.
static SmallVector<OpFoldResult> makeIndices(OpBuilder &builder,
                                             linalg::GenericOp op) {
  SmallVector<OpFoldResult> indices;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    indices.push_back(
        linalg::IndexOp::create(builder, op.getLoc(), loop).getResult());
  return indices;
}

/// Makes each of `arguments`, of the body of `op`, the element that `maps` read
/// of `inputs`.
static void lookUp(RewriterBase &rewriter, linalg::GenericOp op,
                   ArrayRef<Value> inputs, ArrayRef<AffineMap> maps,
                   ArrayRef<BlockArgument> arguments) {
  rewriter.setInsertionPointToStart(op.getBody());
  SmallVector<Value> loops = getValueOrCreateConstantIndexOp(
      rewriter, op.getLoc(), makeIndices(rewriter, op));
  for (auto [input, map, argument] : llvm::zip_equal(inputs, maps, arguments)) {
    SmallVector<Value> indices;
    for (AffineExpr index : map.getResults())
      indices.push_back(affine::AffineApplyOp::create(
          rewriter, op.getLoc(), AffineMap::get(map.getNumDims(), 0, index),
          loops));
    Value element =
        tensor::ExtractOp::create(rewriter, op.getLoc(), input, indices);
    rewriter.replaceAllUsesWith(argument, element);
  }
}

/// Adds an input, of which nothing is read, for each loop of `op` that none of
/// `maps` goes along by itself: who asks how many iterations a loop has,
/// upstream's folding of its index too, finds that by such a map only.
static void keepExtents(RewriterBase &rewriter, linalg::GenericOp op,
                        SmallVectorImpl<Value> &inputs,
                        SmallVectorImpl<AffineMap> &maps) {
  llvm::SmallBitVector isTold(op.getNumLoops());
  for (AffineMap map : maps)
    for (AffineExpr at : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(at))
        isTold.set(dim.getPosition());
  isTold.flip();
  rewriter.setInsertionPoint(op);
  for (unsigned loop : isTold.set_bits()) {
    auto extent = findExtent(rewriter, op, loop);
    Value length = tensor::EmptyOp::create(rewriter, op.getLoc(), *extent,
                                           rewriter.getI1Type());
    op.getBody()->insertArgument(inputs.size(), rewriter.getI1Type(),
                                 op.getLoc());
    maps.insert(
        maps.begin() + inputs.size(),
        AffineMap::get(op.getNumLoops(), 0, rewriter.getAffineDimExpr(loop)));
    inputs.push_back(length);
  }
}

void lookUpOddInputs(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<Value> inputs, lookedUp;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray(), kept;
  SmallVector<AffineMap> odd;
  SmallVector<BlockArgument> arguments;
  for (auto [number, input] : llvm::enumerate(op.getInputs())) {
    bool isTensor = isa<RankedTensorType>(input.getType());
    if (!isTensor || llvm::all_of(maps[number].getResults(), isSliced)) {
      inputs.push_back(input);
      kept.push_back(maps[number]);
      continue;
    }
    lookedUp.push_back(input);
    odd.push_back(maps[number]);
    arguments.push_back(op.getBody()->getArgument(number));
  }
  if (lookedUp.empty())
    return;
  llvm::append_range(kept, ArrayRef(maps).drop_front(op.getInputs().size()));
  lookUp(rewriter, op, lookedUp, odd, arguments);
  for (BlockArgument argument : llvm::reverse(arguments))
    op.getBody()->eraseArgument(argument.getArgNumber());
  keepExtents(rewriter, op, inputs, kept);
  rewriter.setInsertionPoint(op);
  auto replacement = linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), kept,
      op.getIteratorTypesArray());
  replacement.getRegion().takeBody(op.getRegion());
  rewriter.replaceOp(op, replacement.getResults());
}

} // namespace mlir::workgroup
