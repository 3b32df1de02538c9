//===- RegisterChain.cpp - Contractions of what a warp has ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an operation does follows from its loops and its body, not its name.
//
//===----------------------------------------------------------------------===//

#include "RegisterChain.h"
#include "Transforms/Utils/BufferViews.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value RegisterChain::getBuffer(Value view) const {
  if (!isa<MemRefType>(view.getType()))
    return {};
  Value source = getLeadingSource(view);
  return buffers.contains(source) ? source : Value();
}

int64_t RegisterChain::getExtent(ChainDim dim) const {
  switch (dim) {
  case ChainDim::Single:
    return 1;
  case ChainDim::Rows:
    return second.rows.getSize();
  case ChainDim::Sums:
    return second.sums.getSize();
  case ChainDim::Columns:
    return second.columns.getSize();
  }
  llvm_unreachable("no dimension");
}

bool RegisterChain::isOfRows(Value buffer) const {
  return llvm::all_of(buffers.find(buffer)->second, [](ChainDim dim) {
    return dim == ChainDim::Single || dim == ChainDim::Rows;
  });
}

SmallVector<std::optional<ChainDim>>
RegisterChain::getDims(linalg::LinalgOp op) const {
  SmallVector<std::optional<ChainDim>> dims(op.getNumLoops());
  for (auto [loop, extent] : llvm::enumerate(op.getStaticLoopRanges()))
    if (extent == 1)
      dims[loop] = ChainDim::Single;
  for (OpOperand &operand : op->getOpOperands()) {
    Value buffer = getBuffer(operand.get());
    if (!buffer)
      continue;
    ArrayRef<ChainDim> ofBuffer = buffers.find(buffer)->second;
    for (auto [at, dim] : llvm::zip_equal(
             op.getMatchingIndexingMap(&operand).getResults(), ofBuffer))
      if (auto loop = dyn_cast<AffineDimExpr>(at))
        dims[loop.getPosition()] = dim;
  }
  return dims;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

Operation *getFoldCombiner(linalg::LinalgOp op) {
  BlockArgument sum = op.getBlock()->getArguments().back();
  Operation *combiner =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  bool isKnown =
      isa_and_nonnull<arith::AddFOp, arith::MulFOp, arith::MaximumFOp,
                      arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
                      arith::AddIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp,
                      arith::XOrIOp, arith::MaxSIOp, arith::MinSIOp,
                      arith::MaxUIOp, arith::MinUIOp>(combiner);
  return isKnown && combiner->getBlock() == op.getBlock() && sum.hasOneUse() &&
                 *sum.user_begin() == combiner
             ? combiner
             : nullptr;
}

/// True if `operand` is a number for each row, which may be a truth value.
static bool isOfRows(const RegisterChain &chain, OpOperand &operand) {
  Value buffer = chain.getBuffer(operand.get());
  return buffer && chain.isOfRows(buffer);
}

/// True if the body of `op` can be done for one element after the other, also
/// where the element is not there.
static bool hasPlainBody(const RegisterChain &chain, linalg::LinalgOp op) {
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return false;
  for (OpOperand &operand : op->getOpOperands())
    if (auto type = dyn_cast<ShapedType>(operand.get().getType());
        type && !isDenseElement(type.getElementType()) &&
        !(type.getElementType().isInteger(1) && isOfRows(chain, operand)))
      return false;
  return llvm::all_of(op.getBlock()->without_terminator(), [](Operation &in) {
    return isPure(&in) && in.getNumRegions() == 0 && in.getNumResults() == 1;
  });
}

/// True if `op` puts what is the same everywhere into its result.
static bool putsOneNumber(linalg::LinalgOp op) {
  Value value = op.getBlock()->getTerminator()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(value);
  if (!llvm::hasSingleElement(*op.getBlock()))
    return false;
  if (!argument || argument.getOwner() != op.getBlock())
    return true;
  OpOperand *input = op.getMatchingOpOperand(argument);
  return op.isDpsInput(input) && !isa<MemRefType>(input->get().getType());
}

static std::optional<ChainRole> getCopyRole(const RegisterChain &chain,
                                            memref::CopyOp op) {
  if (!chain.getBuffer(op.getSource()) ||
      getElementTypeOrSelf(op.getSource()) !=
          getElementTypeOrSelf(op.getTarget()))
    return std::nullopt;
  if (chain.getBuffer(op.getTarget()))
    return ChainRole::Copy;
  return findTile(chain, op) ? ChainRole::Sink : ChainRole::RowSink;
}

std::optional<ChainRole> getRole(const RegisterChain &chain, Operation *op) {
  if (op == chain.first.op)
    return ChainRole::First;
  if (op == chain.second.op)
    return ChainRole::Second;
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return getCopyRole(chain, copy);
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !structured.hasPureBufferSemantics() ||
      structured.getNumDpsInits() != 1 || !hasPlainBody(chain, structured))
    return std::nullopt;
  OpOperand *output = structured.getDpsInitOperand(0);
  Value made = chain.getBuffer(output->get());
  if (structured.getNumReductionLoops() != 0)
    return made && chain.isOfRows(made) && getFoldCombiner(structured)
               ? std::optional(ChainRole::Fold)
               : std::nullopt;
  if (!structured.getMatchingIndexingMap(output).isPermutation())
    return std::nullopt;
  auto isKept = [&](OpOperand &operand) { return isOfRows(chain, operand); };
  if (!made && !isPointwise(structured, isKept))
    return std::nullopt;
  if (!made)
    return findTile(chain, op) ? ChainRole::Sink : ChainRole::RowSink;
  if (putsOneNumber(structured))
    return ChainRole::Fill;
  return chain.isOfRows(made) ? ChainRole::Rows : ChainRole::Elements;
}

OpOperand *findTile(const RegisterChain &chain, Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (Value buffer = chain.getBuffer(operand.get()))
      if (!chain.isOfRows(buffer))
        return &operand;
  return nullptr;
}

ArrayRef<ChainDim> getTileDims(const RegisterChain &chain, Operation *op) {
  OpOperand *tile = findTile(chain, op);
  return tile ? ArrayRef<ChainDim>(
                    chain.buffers.find(chain.getBuffer(tile->get()))->second)
              : ArrayRef<ChainDim>();
}

} // namespace mlir::workgroup
