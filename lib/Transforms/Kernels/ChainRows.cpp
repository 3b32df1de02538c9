//===- ChainRows.cpp - Chains of vectors times matrices -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The new loop, and dimension, stands behind those that are rows already. What
// reads the result element by element, and is alone in that, gets it too, so
// that the kernel has it.
//
//===----------------------------------------------------------------------===//

#include "ChainRows.h"
#include "ChainLimits.h"
#include "StreamEnd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::workgroup {

namespace {

/// Adds a row to one chain.
class RowAdder {
public:
  RowAdder(RewriterBase &rewriter, const ContractionChain &chain)
      : rewriter(rewriter), chain(chain) {}

  bool isPossible() const;
  void run();

private:
  using Loops = ContractionChain::Loops;

  unsigned countRows(AffineMap map, const Loops &rows) const;
  Value expand(Value tensor, unsigned place);
  Value makeInit(linalg::LinalgOp op, unsigned place);
  void addLoop(linalg::LinalgOp op, const Loops &rows, OpOperand *vector);
  linalg::LinalgOp addToUser(linalg::LinalgOp op, unsigned numRows);

  RewriterBase &rewriter;
  const ContractionChain &chain;
  /// What has the new dimension, by what has not.
  IRMapping made;
  SmallVector<linalg::LinalgOp> old;
};

} // namespace

/// True if `op` starts from a constant, or from nothing.
static bool startsFromConstant(linalg::LinalgOp op) {
  return !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
         getStart(op);
}

bool RowAdder::isPossible() const {
  return startsFromConstant(chain.second) &&
         llvm::all_of(chain.links, [](const ContractionChain::Link &link) {
           return startsFromConstant(link.op) &&
                  llvm::all_of(linalg::LinalgOp(link.op).getIndexingMapsArray(),
                               [](AffineMap map) {
                                 return map.isProjectedPermutation();
                               });
         });
}

/// Of a tensor that `map` indexes by loops with `rows`: the dimensions that
/// rows go along before any others.
unsigned RowAdder::countRows(AffineMap map, const Loops &rows) const {
  unsigned count = 0;
  while (count < map.getNumResults() && rows[map.getDimPosition(count)])
    ++count;
  return count;
}

/// Each dimension by itself, but that of one element at `place` with the one
/// before it, or behind it.
static SmallVector<ReassociationIndices> group(unsigned rank, unsigned place) {
  SmallVector<ReassociationIndices> groups(rank);
  unsigned with = place == 0 ? 0 : place - 1;
  for (unsigned dim = 0, next = 0; dim < rank; ++dim) {
    groups[dim].push_back(next++);
    if (dim == with)
      groups[dim].push_back(next++);
  }
  return groups;
}

/// `tensor` with a dimension of one element at `place`.
Value RowAdder::expand(Value tensor, unsigned place) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Location loc = tensor.getLoc();
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + place, 1);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, tensor);
  sizes.insert(sizes.begin() + place, rewriter.getIndexAttr(1));
  return tensor::ExpandShapeOp::create(
      rewriter, loc, RankedTensorType::get(shape, type.getElementType()),
      tensor, group(type.getRank(), place), sizes);
}

/// What `op` starts from, with a dimension of one element at `place`.
Value RowAdder::makeInit(linalg::LinalgOp op, unsigned place) {
  OpOperand *init = op.getDpsInitOperand(0);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes = getSizes(rewriter, init->get());
  sizes.insert(sizes.begin() + place, rewriter.getIndexAttr(1));
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes,
                                        getElementTypeOrSelf(init->get()));
  if (!op.payloadUsesValueFromOperand(init))
    return empty;
  Value start = arith::ConstantOp::create(rewriter, loc, getStart(op));
  return linalg::FillOp::create(rewriter, loc, start, empty).getResult(0);
}

/// Makes `op`, loops of which are `rows`, with one more, that reads `vector`,
/// if given, and what has been made along it.
void RowAdder::addLoop(linalg::LinalgOp op, const Loops &rows,
                       OpOperand *vector) {
  MLIRContext *context = rewriter.getContext();
  rewriter.setInsertionPoint(op);
  unsigned place = 0;
  while (place < rows.size() && rows[place])
    ++place;
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    unsigned dim = countRows(map, rows);
    SmallVector<AffineExpr> indices(map.shiftDims(1, place).getResults());
    Value value = made.lookupOrNull(operand.get());
    if (op.isDpsInit(&operand))
      value = makeInit(op, dim);
    else if (&operand == vector)
      value = expand(operand.get(), dim);
    if (value)
      indices.insert(indices.begin() + dim, getAffineDimExpr(place, context));
    (op.isDpsInit(&operand) ? inits : inputs)
        .push_back(value ? value : operand.get());
    maps.push_back(AffineMap::get(map.getNumDims() + 1, 0, indices, context));
  }
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.insert(kinds.begin() + place, utils::IteratorType::parallel);
  auto added = linalg::GenericOp::create(rewriter, op.getLoc(),
                                         ValueRange(inits).getTypes(), inputs,
                                         inits, maps, kinds);
  rewriter.cloneRegionBefore(op->getRegion(0), added.getRegion(),
                             added.getRegion().end());
  added.walk([&](linalg::IndexOp number) {
    if (number.getDim() >= place)
      number.setDim(number.getDim() + 1);
  });
  made.map(op->getResult(0), added.getResult(0));
  old.push_back(op);
}

/// Adds the loop to the one user of `op`, whose results have `numRows`
/// dimensions of rows first, if that is element-wise; null if not.
linalg::LinalgOp RowAdder::addToUser(linalg::LinalgOp op, unsigned numRows) {
  if (!op->hasOneUse())
    return {};
  OpOperand &use = *op->use_begin();
  linalg::LinalgOp user = getTensorOp(use.getOwner());
  if (!user || classify(user) != LinalgClass::Elementwise ||
      user.getNumDpsInits() != 1 || user.isDpsInit(&use) ||
      user.payloadUsesValueFromOperand(user.getDpsInitOperand(0)))
    return {};
  AffineMap map = user.getMatchingIndexingMap(&use);
  if (!map.isIdentity() ||
      !user.getMatchingIndexingMap(user.getDpsInitOperand(0)).isIdentity() ||
      !llvm::all_of(user.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return {};
  Loops rows(user.getNumLoops());
  for (unsigned loop = 0; loop < numRows; ++loop)
    rows[loop] = loop;
  addLoop(user, rows, /*vector=*/nullptr);
  return user;
}

void RowAdder::run() {
  linalg::LinalgOp first = chain.first, second = chain.second;
  for (const ContractionChain::Link &link : chain.links) {
    OpOperand *vector = nullptr;
    if (link.op == first)
      for (OpOperand *factor : first.getDpsInputOperands())
        if (!first.getMatchingIndexingMap(factor).isFunctionOfDim(
                chain.firstColumn))
          vector = factor;
    addLoop(link.op, link.rows, vector);
  }
  Loops rows(second.getNumLoops());
  for (unsigned loop = 0; loop < rows.size(); ++loop)
    if (loop != chain.secondSum && loop != chain.secondColumn)
      rows[loop] = loop;
  addLoop(second, rows, /*vector=*/nullptr);
  unsigned numRows = countRows(
      second.getMatchingIndexingMap(second.getDpsInitOperand(0)), rows);
  linalg::LinalgOp last = second;
  while (linalg::LinalgOp user = addToUser(last, numRows))
    last = user;
  Value result = made.lookup(last->getResult(0));
  rewriter.setInsertionPoint(last);
  auto type = cast<RankedTensorType>(last->getResult(0).getType());
  Value collapsed = tensor::CollapseShapeOp::create(
      rewriter, last.getLoc(), type, result, group(type.getRank(), numRows));
  rewriter.replaceAllUsesWith(last->getResult(0), collapsed);
  for (linalg::LinalgOp op : llvm::reverse(old)) {
    Operation *start = op.getDpsInitOperand(0)->get().getDefiningOp();
    rewriter.eraseOp(op);
    if (start && isOpTriviallyDead(start))
      rewriter.eraseOp(start);
  }
}

void addChainRows(Block &block, const FormKernelsOptions &limits) {
  IRRewriter rewriter(block.getParentOp()->getContext());
  SmallVector<linalg::LinalgOp> contractions;
  for (Operation &op : block)
    if (linalg::LinalgOp onTensors = getTensorOp(&op))
      if (classify(onTensors) == LinalgClass::Contraction)
        contractions.push_back(onTensors);
  // The last first: others of its chain are gone then.
  llvm::SmallPtrSet<Operation *, 8> gone;
  for (linalg::LinalgOp op : llvm::reverse(contractions)) {
    if (gone.contains(op))
      continue;
    std::optional<ContractionChain> chain = findRowlessChain(op);
    if (!chain || !mayHaveRow(*chain, limits))
      continue;
    RowAdder adder(rewriter, *chain);
    if (!adder.isPossible())
      continue;
    gone.insert(chain->first);
    adder.run();
  }
}

} // namespace mlir::workgroup
