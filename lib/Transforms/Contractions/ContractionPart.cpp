//===- ContractionPart.cpp - What a thread has of a result ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The number of a thread is taken apart into a row and a column of threads, and
// these into the indices of the loops that rows and columns of the result
// consist of.
//
//===----------------------------------------------------------------------===//

#include "ContractionPart.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "workgroup/IR/Workgroup.h"

namespace mlir::workgroup {

ContractionPart::ContractionPart(Contraction &contraction,
                                 const ThreadTile &tile, const Sharers &sharers,
                                 RewriterBase &rewriter,
                                 AlignmentAnalysis &alignment)
    : contraction(contraction), tile(tile), sharers(sharers),
      rewriter(rewriter), alignment(alignment), loc(contraction.op.getLoc()),
      index{rewriter, loc} {
  splitThreadId();
}

SmallVector<OpFoldResult> ContractionPart::split(OpFoldResult linear,
                                                 const LoopGroup &group) {
  SmallVector<OpFoldResult> indices(group.loops.size());
  for (unsigned i = indices.size(); i-- > 0;) {
    OpFoldResult size = rewriter.getIndexAttr(group.sizes[i]);
    indices[i] = i == 0 ? linear : index.rem(linear, size);
    if (i > 0)
      linear = index.div(linear, size);
  }
  return indices;
}

/// Digits of the thread's number, the lowest ones first: few of them keep the
/// addresses of accesses easy to tell apart.
void ContractionPart::splitThreadId() {
  auto number = [&](int64_t value) { return rewriter.getIndexAttr(value); };
  thread = sharers.makeId(index, getExecutionScope(contraction.op));
  member = thread;
  if (tile.getNumThreads() < sharers.numThreads)
    member = index.rem(member, number(tile.getNumThreads()));
  OpFoldResult id = member;
  int64_t left = tile.getNumThreads();
  auto takeDigit = [&](int64_t base) {
    left /= base;
    OpFoldResult digit = left == 1 ? id : index.rem(id, number(base));
    id = left == 1 ? OpFoldResult(number(0)) : index.div(id, number(base));
    return digit;
  };
  auto [numRows, numColumns] = tile.numThreads;
  OpFoldResult low = takeDigit(tile.numNeighbors);
  OpFoldResult column = takeDigit(numColumns);
  OpFoldResult row = takeDigit(numRows / tile.numNeighbors);
  row = index.add(index.mul(row, number(tile.numNeighbors)), low);
  OpFoldResult groupColumn = takeDigit(tile.numGroups[1]);
  OpFoldResult groupRow = takeDigit(tile.numGroups[0]);
  firstRow = index.mul(groupRow, number(tile.getGroupRows()));
  firstColumn = index.mul(groupColumn, number(tile.getGroupColumns()));
  row = index.add(firstRow, index.mul(row, number(tile.rowRun)));
  column = index.add(firstColumn, index.mul(column, number(tile.columnRun)));
  for (int64_t i = 0; i < tile.rows; ++i)
    rowIndices.push_back(
        split(index.add(row, number(tile.getRow(i))), contraction.rows));
  for (int64_t j = 0; j < tile.columns; ++j)
    columnIndices.push_back(split(index.add(column, number(tile.getColumn(j))),
                                  contraction.columns));
}

OpFoldResult ContractionPart::getIndex(unsigned loop, int64_t row,
                                       int64_t column) {
  if (std::optional<unsigned> i = contraction.rows.find(loop))
    return rowIndices[row][*i];
  if (std::optional<unsigned> i = contraction.columns.find(loop))
    return columnIndices[column][*i];
  return rewriter.getIndexAttr(0);
}

Value ContractionPart::hasPart() {
  if (tile.getNumThreads() >= sharers.numThreads)
    return {};
  return arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::ult, index.value(thread),
      index.value(rewriter.getIndexAttr(tile.getNumThreads())));
}

int64_t getAccessLength(ContractionPart &part, OpOperand *operand,
                        int64_t limit) {
  Value memref = operand->get();
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  // A slot of a ring is aligned as its buffer will be.
  int64_t alignment = memref.getDefiningOp<GetOp>()
                          ? kSlotAlignment
                          : part.alignment.getAlignment(memref);
  int64_t length = std::min(limit, getMaxLength(operand));
  auto fits = [&] {
    return alignment >= length * getElementBytes(memref) &&
           llvm::all_of(llvm::seq<int64_t>(0, type.getRank() - 1),
                        [&](int64_t i) {
                          return type.getDimSize(i) == 1 ||
                                 (!ShapedType::isDynamic(strides[i]) &&
                                  strides[i] % length == 0);
                        });
  };
  while (length > 1 && !fits())
    length /= 2;
  return length;
}

} // namespace mlir::workgroup
