//===- ContractionPieces.cpp - Accesses beside a contraction --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads and stores of what corresponds to some neighbouring elements of a
// thread's part of the result.
//
//===----------------------------------------------------------------------===//

#include "ContractionEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The loop of the contraction that goes along `dim` of the accumulator, of
/// which an operation's loop with the number `dim` of its own is.
unsigned ContractionEmitter::getLoop(const Pointwise &op, unsigned dim) const {
  AffineMap map = op.getMap(op.accumulator);
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (map.getDimPosition(i) == dim)
      return Contraction::getLoop(contraction.getMap(contraction.getResult()),
                                  i);
  llvm_unreachable("all loops go along the accumulator");
}

/// Where the accumulator has more elements than the operation is on.
SmallVector<ContractionEmitter::Limit>
ContractionEmitter::getLimits(const Pointwise &op) {
  Value part = op.accumulator->get();
  auto whole = cast<MemRefType>(contraction.getResult()->get().getType());
  AffineMap map = contraction.getMap(contraction.getResult());
  SmallVector<Limit> limits;
  for (auto [i, size] :
       llvm::enumerate(memref::getMixedSizes(rewriter, loc, part))) {
    unsigned loop = Contraction::getLoop(map, i);
    if (getConstantIntValue(size) != whole.getDimSize(i))
      limits.push_back({loop, size, !contraction.columns.find(loop)});
  }
  return limits;
}

/// True for a tile that is not ragged.
Value ContractionEmitter::isWhole(ArrayRef<Limit> limits) {
  auto whole = cast<MemRefType>(contraction.getResult()->get().getType());
  AffineMap map = contraction.getMap(contraction.getResult());
  Value all;
  for (const Limit &limit : limits) {
    unsigned dim = 0;
    while (Contraction::getLoop(map, dim) != limit.loop)
      ++dim;
    Value full = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, index.value(limit.size),
        index.value(rewriter.getIndexAttr(whole.getDimSize(dim))));
    all = all ? arith::AndIOp::create(rewriter, loc, all, full).getResult()
              : full;
  }
  return all;
}

/// True if row, or column, `at` of the thread is within `limits`; null if it
/// always is.
Value ContractionEmitter::isInside(ArrayRef<Limit> limits, bool ofRows,
                                   int64_t at) {
  Value all;
  for (const Limit &limit : limits) {
    if (limit.isRow != ofRows)
      continue;
    Value one = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                      index.value(getIndex(limit.loop, at, at)),
                                      index.value(limit.size));
    all =
        all ? arith::AndIOp::create(rewriter, loc, all, one).getResult() : one;
  }
  return all;
}

SmallVector<Value> ContractionEmitter::getPlace(const Pointwise &op,
                                                OpOperand *operand, int64_t row,
                                                int64_t column) {
  AffineMap map = op.getMap(operand);
  SmallVector<Value> indices;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    indices.push_back(
        index.value(getIndex(getLoop(op, map.getDimPosition(i)), row, column)));
  return indices;
}

/// True if `operand` is indexed by a loop of `group`.
bool ContractionEmitter::isAlong(const Pointwise &op, OpOperand *operand,
                                 const LoopGroup &group) {
  AffineMap map = op.getMap(operand);
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (group.find(getLoop(op, map.getDimPosition(i))))
      return true;
  return false;
}

/// True if neighbouring columns are neighbours in the memory of `operand`.
bool ContractionEmitter::isContiguous(const Pointwise &op, OpOperand *operand) {
  auto type = cast<MemRefType>(operand->get().getType());
  AffineMap map = op.getMap(operand);
  SmallVector<int64_t> strides;
  int64_t offset;
  return map.getNumResults() > 0 &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1 &&
         getLoop(op, map.getDimPosition(map.getNumResults() - 1)) ==
             contraction.columns.loops.back();
}

/// The alignment in bytes, up to that of the widest access, of all runs of
/// columns in `operand`, which has them contiguous.
int64_t ContractionEmitter::getRunAlignment(OpOperand *operand) {
  auto type = cast<MemRefType>(operand->get().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  int64_t aligned = std::min({alignment.getAlignment(operand->get()),
                              tile.columnRun * bytes, kMaxAccessBytes});
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

/// True if of a run of columns, those that are there can be taken at once.
bool ContractionEmitter::canMask(const Pointwise &op) {
  auto isFine = [&](OpOperand *operand) {
    return operand->get() == op.accumulator->get() ||
           !isa<MemRefType>(operand->get().getType()) ||
           !isAlong(op, operand, contraction.columns) ||
           isContiguous(op, operand);
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

/// What `piece` is of `operand`; one element if all are the same.
Value ContractionEmitter::load(const Pointwise &op, OpOperand *operand,
                               const Piece &piece) {
  Value memref = operand->get();
  bool ofColumns = isAlong(op, operand, contraction.columns);
  int64_t length = ofColumns ? piece.length : 1;
  Type element = getElementTypeOrSelf(memref);
  auto type = VectorType::get({length}, element);
  SmallVector<Value> place = getPlace(op, operand, piece.row, piece.column);
  if (length == 1)
    return memref::LoadOp::create(rewriter, loc, memref, place);
  if (piece.mask) {
    Value zeros =
        arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    return vector::MaskedLoadOp::create(rewriter, loc, type, memref, place,
                                        piece.mask, zeros);
  }
  if (isContiguous(op, operand))
    return vector::LoadOp::create(rewriter, loc, type, memref, place,
                                  /*nontemporal=*/false,
                                  llvm::Align(getRunAlignment(operand)));
  SmallVector<Value> elements;
  for (int64_t i = 0; i < length; ++i) {
    place = getPlace(op, operand, piece.row, piece.column + i);
    elements.push_back(memref::LoadOp::create(rewriter, loc, memref, place));
  }
  return vector::FromElementsOp::create(rewriter, loc, type, elements);
}

/// As `load`, once for all pieces that are the same of `operand`.
Value ContractionEmitter::loadShared(const Pointwise &op, OpOperand *operand,
                                     const Piece &piece, Cache *cache) {
  bool isShared = cache && llvm::none_of(op.outputs, [&](OpOperand *output) {
                    return mayAlias(output->get(), operand->get());
                  });
  if (!isShared)
    return load(op, operand, piece);
  int64_t row = isAlong(op, operand, contraction.rows) ? piece.row : -1;
  int64_t column =
      isAlong(op, operand, contraction.columns) ? piece.column : -1;
  Value &value = (*cache)[{operand, {row, column}}];
  if (!value)
    value = load(op, operand, piece);
  return value;
}

void ContractionEmitter::store(const Pointwise &op, OpOperand *operand,
                               Value value, const Piece &piece) {
  Value memref = operand->get();
  SmallVector<Value> place = getPlace(op, operand, piece.row, piece.column);
  if (piece.length == 1) {
    if (isa<VectorType>(value.getType()))
      value = vector::ExtractOp::create(rewriter, loc, value, 0);
    memref::StoreOp::create(rewriter, loc, value, memref, place);
    return;
  }
  value = widen(value, piece.length);
  if (piece.mask) {
    vector::MaskedStoreOp::create(rewriter, loc, memref, place, piece.mask,
                                  value);
    return;
  }
  if (isContiguous(op, operand)) {
    vector::StoreOp::create(rewriter, loc, value, memref, place,
                            /*nontemporal=*/false,
                            llvm::Align(getRunAlignment(operand)));
    return;
  }
  for (int64_t i = 0; i < piece.length; ++i) {
    Value part = vector::ExtractOp::create(rewriter, loc, value, i);
    place = getPlace(op, operand, piece.row, piece.column + i);
    memref::StoreOp::create(rewriter, loc, part, memref, place);
  }
}

} // namespace mlir::workgroup
