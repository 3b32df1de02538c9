//===- ChainWeights.cpp - Weights of as many bits as values ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The weights are rounded by an operation of their own before the second
// contraction, as if the program did. Whether the chain is one kernel depends
// on what it takes then.
//
//===----------------------------------------------------------------------===//

#include "ChainWeights.h"
#include "ChainLimits.h"
#include "StreamEnd.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "workgroup/Target/Chip.h"

namespace mlir::workgroup {

namespace {

/// Rounds the weights that a contraction multiplies.
class WeightRounding {
public:
  WeightRounding(RewriterBase &rewriter, OpOperand &weights, Type type)
      : rewriter(rewriter), weights(weights), type(type),
        second(cast<linalg::GenericOp>(weights.getOwner())) {}

  void apply();
  void undo();

private:
  void setWeights(Value value);

  RewriterBase &rewriter;
  OpOperand &weights;
  Type type;
  linalg::GenericOp second;
  linalg::GenericOp rounded;
  arith::ExtFOp wide;
};

} // namespace

/// Has the contraction multiply `value`.
void WeightRounding::setWeights(Value value) {
  rewriter.modifyOpInPlace(second, [&] {
    weights.set(value);
    second.getMatchingBlockArgument(&weights).setType(
        getElementTypeOrSelf(value));
  });
}

void WeightRounding::apply() {
  Location loc = second.getLoc();
  rewriter.setInsertionPoint(second);
  Value exact = weights.get();
  int64_t rank = cast<RankedTensorType>(exact.getType()).getRank();
  AffineMap map = rewriter.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, getSizes(rewriter, exact), type);
  rounded = linalg::GenericOp::create(
      rewriter, loc, empty.getType(), exact, empty, ArrayRef{map, map}, kinds,
      [&](OpBuilder &builder, Location at, ValueRange values) {
        linalg::YieldOp::create(builder, at,
                                convertFloat(builder, at, values[0], type));
      });
  BlockArgument argument = second.getMatchingBlockArgument(&weights);
  rewriter.setInsertionPointToStart(second.getBody());
  wide = arith::ExtFOp::create(rewriter, loc, argument.getType(), argument);
  rewriter.replaceAllUsesExcept(argument, wide.getResult(), wide);
  setWeights(rounded.getResult(0));
}

void WeightRounding::undo() {
  setWeights(rounded.getInputs()[0]);
  rewriter.replaceOp(wide, second.getMatchingBlockArgument(&weights));
  rewriter.eraseOp(rounded);
}

/// True if what the second contraction of `stream` multiplies is at most one,
/// but for shares, which are multiplied behind it.
static bool areUpToOne(const ChainStream &stream, Operation *weights) {
  const ChainStream::Link *link = stream.find(weights);
  while (link && link->weight)
    link = stream.find(link->weight->get().getDefiningOp());
  return link && link->op == stream.weights && !stream.body.isScaled;
}

/// The operand of `op` that has weights of f32, if it multiplies them by values
/// of 16 bits, which tensor cores of `chip` have, and adds up in f32; null if
/// it does not.
static OpOperand *findWideWeights(linalg::GenericOp op, const Chip &chip) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !getElementTypeOrSelf(op.getResult(0)).isF32())
    return nullptr;
  OpOperand *weights = op.getDpsInputOperand(0);
  OpOperand *values = op.getDpsInputOperand(1);
  if (!getElementTypeOrSelf(weights->get()).isF32())
    std::swap(weights, values);
  Type type = getElementTypeOrSelf(values->get());
  if (!getElementTypeOrSelf(weights->get()).isF32() ||
      !(type.isF16() || type.isBF16()) || !chip.hasMatrixProducts(type))
    return nullptr;
  std::optional<ContractionChain> chain = findChain(op);
  std::optional<ChainStream> stream = chain ? findStream(*chain) : std::nullopt;
  bool isBetween = stream && stream->weights &&
                   areUpToOne(*stream, weights->get().getDefiningOp());
  return isBetween ? weights : nullptr;
}

void narrowChainWeights(Block &block, const FormKernelsOptions &limits) {
  const Chip *chip = findChip(limits.chip);
  if (!chip)
    chip = &getDefaultChip();
  SmallVector<linalg::GenericOp> contractions;
  for (auto op : block.getOps<linalg::GenericOp>())
    if (isTensorOp(op) && classify(op) == LinalgClass::Contraction)
      contractions.push_back(op);
  IRRewriter rewriter(block.getParentOp()->getContext());
  for (linalg::GenericOp op : contractions) {
    OpOperand *weights = findWideWeights(op, *chip);
    if (!weights)
      continue;
    unsigned other = 1 - weights->getOperandNumber();
    Type type = getElementTypeOrSelf(op.getInputs()[other]);
    WeightRounding rounding(rewriter, *weights, type);
    rounding.apply();
    std::optional<ContractionChain> chain = findChain(op);
    bool isOneKernel = chain && !getObstacle(*chain, limits);
    if (!isOneKernel || !limits.narrow)
      rounding.undo();
    if (isOneKernel && limits.narrow)
      recordRemark(RemarkId::FormKernels_NarrowedWeights, op)
          << "weights are rounded to the 16 bits of the values that they are "
             "multiplied by";
    else if (isOneKernel)
      recordRemark(RemarkId::FormKernels_WideWeights, op)
          << "tensor cores could multiply values of 16 bits by weights that "
             "are rounded to as many: with the option 'narrow' (--numerics "
             "narrow) they do";
  }
}

} // namespace mlir::workgroup
