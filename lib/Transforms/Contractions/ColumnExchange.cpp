//===- ColumnExchange.cpp - Neighbours of a result for each lane ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ColumnExchange.h"
#include "MatrixForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// Two runs of columns of a result of this width are two registers.
static constexpr int64_t kRun = 2, kBits = 16;

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// True if four lanes have rows of eight columns, two of them side by side.
bool ColumnExchange::hasPairs() const {
  const ThreadTile &tile = part.tile;
  const LoopGroup &columns = part.contraction.columns;
  return tile.columnRun == kRun && tile.numNeighbors == 1 &&
         tile.numThreads[0] == kCellSize &&
         tile.numThreads[1] == kWarpSize / kCellSize &&
         tile.columns % kColumns == 0 &&
         columns.sizes.back() % (2 * kCellSize) == 0;
}

/// True if the sink reads of the memory that it writes more than the sums.
bool ColumnExchange::isReadElsewhere() const {
  Value output = sink.outputs[0]->get();
  return llvm::any_of(sink.inputs, [&](OpOperand *input) {
    Value memref = input->get();
    return isa<MemRefType>(memref.getType()) &&
           memref != sink.accumulator->get() && access.isOfElement(input) &&
           mayAlias(memref, output);
  });
}

bool ColumnExchange::isPossible() const {
  if (sink.outputs.size() != 1 || !hasPairs())
    return false;
  OpOperand *output = sink.outputs[0];
  Type element = getElementTypeOrSelf(output->get());
  bool isNarrow =
      element.isIntOrFloat() && element.getIntOrFloatBitWidth() == kBits;
  return isNarrow && output->get() != sink.accumulator->get() &&
         access.isContiguous(output) &&
         access.getRunAlignment(output, kColumns) == kColumns * kBits / 8 &&
         !isReadElsewhere();
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

void ColumnExchange::store(Value low, Value high, int64_t row, int64_t column) {
  RewriterBase &rewriter = part.rewriter;
  Location loc = part.loc;
  IndexBuilder &index = part.index;
  OpFoldResult two = rewriter.getIndexAttr(2);
  Value parity = index.value(index.rem(part.getMember(), two));
  if (!isOdd)
    isOdd =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, parity,
                              index.value(rewriter.getIndexAttr(1)));
  Type word = rewriter.getI32Type();
  auto toWord = [&](Value run) {
    Value cast = vector::BitCastOp::create(rewriter, loc,
                                           VectorType::get({1}, word), run);
    return vector::ExtractOp::create(rewriter, loc, cast, 0).getResult();
  };
  auto select = [&](Value ofOdd, Value ofEven) {
    return arith::SelectOp::create(rewriter, loc, isOdd, ofOdd, ofEven)
        .getResult();
  };
  low = toWord(low);
  high = toWord(high);
  Value got = gpu::ShuffleOp::create(rewriter, loc, select(low, high),
                                     /*offset=*/1, /*width=*/kWarpSize,
                                     gpu::ShuffleMode::XOR)
                  .getShuffleResult();
  Value words = vector::FromElementsOp::create(
      rewriter, loc, VectorType::get({2}, word),
      ValueRange{select(got, low), select(high, got)});
  Type element = getElementTypeOrSelf(sink.outputs[0]->get());
  Value run = vector::BitCastOp::create(
      rewriter, loc, VectorType::get({kColumns}, element), words);

  // The odd lane begins two columns behind the even one in its own row.
  unsigned loop = part.contraction.columns.loops.back();
  OpFoldResult first = part.getIndex(loop, row, column);
  OpFoldResult shift =
      index.mul(parity, rewriter.getIndexAttr(kCellSize - kRun));
  part.exchangeLastIndex(column, index.add(first, shift));
  access.store(sink.outputs[0], run, {row, column, kColumns, {}});
  part.exchangeLastIndex(column, first);
}

} // namespace mlir::workgroup
