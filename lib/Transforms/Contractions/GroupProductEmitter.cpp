//===- GroupProductEmitter.cpp - The products of a warp group -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupProductEmitter.h"
#include "MatrixSums.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// The first row of the group of a warp whose first row is `ofWarp`, 16 rows
/// after that of the warp before it. Read from the first lane: the instruction
/// takes it from a register that the lanes of a warp share.
static Value makeFirstRow(ContractionPart &part) {
  RewriterBase &rewriter = part.rewriter;
  int64_t groupRows = GroupProductOp::kRows;
  if (part.tile.getGroupRows() * part.tile.numGroups[0] == groupRows)
    return arith::ConstantIndexOp::create(rewriter, part.loc, 0);
  OpFoldResult rows = rewriter.getIndexAttr(groupRows);
  OpFoldResult row =
      part.index.mul(part.index.div(part.getFirstRow(), rows), rows);
  auto shuffle =
      gpu::ShuffleOp::create(rewriter, part.loc, part.index.i32(row),
                             /*offset=*/0, kWarpSize, gpu::ShuffleMode::IDX);
  return arith::IndexCastUIOp::create(
      rewriter, part.loc, rewriter.getIndexType(), shuffle.getShuffleResult());
}

GroupProductEmitter::GroupProductEmitter(ContractionPart &part,
                                         const GroupForm &form)
    : part(part), form(form), row(makeFirstRow(part)) {}

/// Rows of a lane in a sum.
constexpr int64_t kNumCells = 2;

SmallVector<Value> GroupProductEmitter::pack(ValueRange sums) {
  return packSums(part.rewriter, part.loc, sums, kNumCells,
                  part.tile.getNumRuns());
}

SmallVector<Value> GroupProductEmitter::unpack(ValueRange packed) {
  return unpackSums(part.rewriter, part.loc, packed, kNumCells,
                    part.tile.getNumRuns());
}

SmallVector<Value> GroupProductEmitter::multiply(ValueRange packed) {
  RewriterBase &rewriter = part.rewriter;
  Location loc = part.loc;
  applyToRings(rewriter, form);
  Value column = part.index.value(part.getFirstColumn());
  auto product = GroupProductOp::create(
      rewriter, loc, packed.getTypes(), form.lhs.tile, row, form.lhs.layout,
      form.lhs.isTransposed, form.rhs.tile, column, form.rhs.layout,
      form.rhs.isTransposed, packed, form.numPending, form.lhs.isUnsigned,
      form.rhs.isUnsigned);
  return product.getResults();
}

SmallVector<Value> GroupProductEmitter::await(ValueRange packed) {
  if (form.numPending == 0)
    return packed;
  return AwaitProductsOp::create(part.rewriter, part.loc, packed.getTypes(),
                                 packed)
      .getResults();
}

} // namespace mlir::workgroup
