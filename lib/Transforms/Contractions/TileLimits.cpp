//===- TileLimits.cpp - Where the result ends in a ragged tile ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Comparisons of a thread's indices with the sizes of a tile, one for each loop
// of which a tile may be ragged.
//
//===----------------------------------------------------------------------===//

#include "TileLimits.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::workgroup {

TileLimits::TileLimits(ContractionPart &part, Value accumulator) : part(part) {
  Contraction &contraction = part.contraction;
  auto whole = cast<MemRefType>(contraction.getResult()->get().getType());
  AffineMap map = contraction.getMap(contraction.getResult());
  for (auto [i, size] : llvm::enumerate(
           memref::getMixedSizes(part.rewriter, part.loc, accumulator))) {
    unsigned loop = Contraction::getLoop(map, i);
    if (getConstantIntValue(size) != whole.getDimSize(i))
      limits.push_back({loop, size, !contraction.columns.find(loop)});
  }
}

Value TileLimits::isWhole() const {
  Contraction &contraction = part.contraction;
  RewriterBase &rewriter = part.rewriter;
  Location loc = part.loc;
  IndexBuilder &index = part.index;
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

Value TileLimits::isInside(bool ofRows, int64_t at) const {
  RewriterBase &rewriter = part.rewriter;
  Location loc = part.loc;
  IndexBuilder &index = part.index;
  Value all;
  for (const Limit &limit : limits) {
    if (limit.isRow != ofRows)
      continue;
    Value one =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                              index.value(part.getIndex(limit.loop, at, at)),
                              index.value(limit.size));
    all =
        all ? arith::AndIOp::create(rewriter, loc, all, one).getResult() : one;
  }
  return all;
}

Value TileLimits::makeMask(int64_t column) const {
  RewriterBase &rewriter = part.rewriter;
  Location loc = part.loc;
  IndexBuilder &index = part.index;
  unsigned loop = part.contraction.columns.loops.back();
  auto type = VectorType::get({part.tile.columnRun}, rewriter.getI1Type());
  Value mask;
  for (const Limit &limit : limits) {
    if (limit.isRow)
      continue;
    Value one;
    if (limit.loop == loop) {
      Value left = arith::SubIOp::create(
          rewriter, loc, index.value(limit.size),
          index.value(part.getIndex(loop, /*row=*/0, column)));
      one = vector::CreateMaskOp::create(rewriter, loc, type, left);
    } else {
      Value isIn = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::ult,
          index.value(part.getIndex(limit.loop, /*row=*/0, column)),
          index.value(limit.size));
      one = vector::BroadcastOp::create(rewriter, loc, type, isIn);
    }
    mask = mask ? arith::AndIOp::create(rewriter, loc, mask, one).getResult()
                : one;
  }
  return mask;
}

} // namespace mlir::workgroup
