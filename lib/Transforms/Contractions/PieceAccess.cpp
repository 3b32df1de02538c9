//===- PieceAccess.cpp - Accesses beside a result -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which elements of an operand a piece corresponds to follows from the
// operand's indexing map: a loop of the element-wise operation goes along a
// dimension of the accumulator, and so along a loop of the contraction, whose
// index the thread knows.
//
//===----------------------------------------------------------------------===//

#include "PieceAccess.h"
#include "VectorBody.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/AccessWidth.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Operations on each element
//===----------------------------------------------------------------------===//

Pointwise::Pointwise(Operation *op, OpOperand *accumulator)
    : op(op), accumulator(accumulator) {
  if (auto generic = dyn_cast<linalg::LinalgOp>(op)) {
    inputs = generic.getDpsInputOperands();
    for (OpOperand &init : generic.getDpsInitsMutable())
      outputs.push_back(&init);
    body = generic.getBlock();
    return;
  }
  inputs.push_back(&op->getOpOperand(0));
  outputs.push_back(&op->getOpOperand(1));
}

AffineMap Pointwise::getMap(OpOperand *operand) const {
  if (auto generic = dyn_cast<linalg::LinalgOp>(op))
    return generic.getMatchingIndexingMap(operand);
  auto type = cast<MemRefType>(operand->get().getType());
  return AffineMap::getMultiDimIdentityMap(type.getRank(), op->getContext());
}

unsigned Pointwise::getLoop(Contraction &contraction, unsigned dim) const {
  AffineMap map = getMap(accumulator);
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (map.getDimPosition(i) == dim)
      return Contraction::getLoop(contraction.getMap(contraction.getResult()),
                                  i);
  llvm_unreachable("all loops go along the accumulator");
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

SmallVector<Value> PieceAccess::getIndices(OpOperand *operand, int64_t row,
                                           int64_t column) {
  AffineMap map = op.getMap(operand);
  SmallVector<Value> indices;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    indices.push_back(index.value(
        part.getIndex(getLoop(map.getDimPosition(i)), row, column)));
  return indices;
}

/// True if `operand` is indexed by a loop of `group`.
bool PieceAccess::isAlong(OpOperand *operand, const LoopGroup &group) const {
  AffineMap map = op.getMap(operand);
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (group.find(getLoop(map.getDimPosition(i))))
      return true;
  return false;
}

bool PieceAccess::isContiguous(OpOperand *operand) const {
  auto type = cast<MemRefType>(operand->get().getType());
  AffineMap map = op.getMap(operand);
  SmallVector<int64_t> strides;
  int64_t offset;
  return map.getNumResults() > 0 &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1 &&
         getLoop(map.getDimPosition(map.getNumResults() - 1)) ==
             contraction.columns.loops.back();
}

int64_t PieceAccess::getRunAlignment(OpOperand *operand, int64_t length) const {
  auto type = cast<MemRefType>(operand->get().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  int64_t aligned = std::min({part.alignment.getAlignment(operand->get()),
                              length * bytes, kWidestAccessBytes});
  auto fits = [&] {
    for (int64_t i = 0; i + 1 < type.getRank(); ++i)
      if (type.getDimSize(i) != 1 && (ShapedType::isDynamic(strides[i]) ||
                                      strides[i] * bytes % aligned != 0))
        return false;
    return true;
  };
  while (aligned > bytes && !fits())
    aligned /= 2;
  return std::max(aligned, bytes);
}

bool PieceAccess::canMask() const {
  auto isFine = [&](OpOperand *operand) {
    return operand->get() == op.accumulator->get() ||
           !isa<MemRefType>(operand->get().getType()) ||
           !isAlong(operand, contraction.columns) || isContiguous(operand);
  };
  // What is computed of elements that are not there must do no harm.
  bool isSafe =
      !op.body || llvm::all_of(op.body->without_terminator(),
                               [](Operation &inner) { return isPure(&inner); });
  return isSafe && tile.columnRun > 1 && llvm::all_of(op.inputs, isFine) &&
         llvm::all_of(op.outputs, isFine);
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

Value PieceAccess::emitLoad(OpOperand *operand, const Piece &piece) {
  Value memref = operand->get();
  bool ofColumns = isAlong(operand, contraction.columns);
  int64_t length = ofColumns ? piece.length : 1;
  Type element = getElementTypeOrSelf(memref);
  auto type = VectorType::get({length}, element);
  SmallVector<Value> indices = getIndices(operand, piece.row, piece.column);
  if (length == 1)
    return memref::LoadOp::create(rewriter, loc, memref, indices);
  if (piece.mask) {
    Value zeros =
        arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    return vector::MaskedLoadOp::create(rewriter, loc, type, memref, indices,
                                        piece.mask, zeros);
  }
  if (isContiguous(operand))
    return vector::LoadOp::create(
        rewriter, loc, type, memref, indices,
        /*nontemporal=*/false,
        llvm::Align(getRunAlignment(operand, piece.length)));
  SmallVector<Value> elements;
  for (int64_t i = 0; i < length; ++i) {
    indices = getIndices(operand, piece.row, piece.column + i);
    elements.push_back(memref::LoadOp::create(rewriter, loc, memref, indices));
  }
  return vector::FromElementsOp::create(rewriter, loc, type, elements);
}

Value PieceAccess::load(OpOperand *operand, const Piece &piece,
                        PieceCache *cache) {
  bool isShared = cache && llvm::none_of(op.outputs, [&](OpOperand *output) {
                    return mayAlias(output->get(), operand->get());
                  });
  if (!isShared)
    return emitLoad(operand, piece);
  int64_t row = isAlong(operand, contraction.rows) ? piece.row : -1;
  int64_t column = isAlong(operand, contraction.columns) ? piece.column : -1;
  Value &value = (*cache)[{operand, {row, column}}];
  if (!value)
    value = emitLoad(operand, piece);
  return value;
}

void PieceAccess::store(OpOperand *operand, Value value, const Piece &piece) {
  Value memref = operand->get();
  SmallVector<Value> indices = getIndices(operand, piece.row, piece.column);
  if (piece.length == 1) {
    if (isa<VectorType>(value.getType()))
      value = vector::ExtractOp::create(rewriter, loc, value, 0);
    memref::StoreOp::create(rewriter, loc, value, memref, indices);
    return;
  }
  value = widen(rewriter, loc, value, piece.length);
  if (piece.mask) {
    vector::MaskedStoreOp::create(rewriter, loc, memref, indices, piece.mask,
                                  value);
    return;
  }
  if (isContiguous(operand)) {
    vector::StoreOp::create(
        rewriter, loc, value, memref, indices,
        /*nontemporal=*/false,
        llvm::Align(getRunAlignment(operand, piece.length)));
    return;
  }
  for (int64_t i = 0; i < piece.length; ++i) {
    Value part = vector::ExtractOp::create(rewriter, loc, value, i);
    indices = getIndices(operand, piece.row, piece.column + i);
    memref::StoreOp::create(rewriter, loc, part, memref, indices);
  }
}

} // namespace mlir::workgroup
