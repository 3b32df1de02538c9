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

/// Neighbouring lanes have the same columns, and those two apart the same rows:
/// then a warp loads 16 bytes a lane in two iterations of the memory's banks,
/// not four. Few mixed-radix components of the thread's number keep the
/// addresses of accesses easy to tell apart.
void ContractionPart::splitThreadId() {
  auto number = [&](int64_t value) { return rewriter.getIndexAttr(value); };
  thread = sharers.makeId(index, getExecutionScope(contraction.op));
  OpFoldResult id = thread;
  auto [numRows, numColumns] = tile.numThreads;
  if (tile.getNumThreads() < sharers.numThreads)
    id = index.rem(id, number(tile.getNumThreads()));
  auto takeComponent = [&](int64_t base) {
    OpFoldResult component = index.rem(id, number(base));
    id = index.div(id, number(base));
    return component;
  };
  int64_t pair = numRows % 2 == 0 ? 2 : 1;
  OpFoldResult low = takeComponent(pair);
  OpFoldResult column = takeComponent(numColumns);
  OpFoldResult row = index.add(index.mul(id, number(pair)), low);
  row = index.mul(row, number(tile.rowRun));
  column = index.mul(column, number(tile.columnRun));
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

} // namespace mlir::workgroup
