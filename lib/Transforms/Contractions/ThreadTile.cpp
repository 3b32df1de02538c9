//===- ThreadTile.cpp - What of a tile a thread computes ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tile of a thread is the cheapest one, by the loads and multiply-adds of a
// step of the sum, whose sums fit into registers. Its runs are as long as
// vectors of the operands are: what a thread needs of an operand is loaded by
// vectors along the operand's contiguous dimension.
//
//===----------------------------------------------------------------------===//

#include "ThreadTile.h"
#include "workgroup/Target/AccessWidth.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

namespace mlir::workgroup {

int64_t getRun(int64_t number, int64_t limit) {
  int64_t run = 1;
  while (run * 2 <= limit && number % (run * 2) == 0)
    run *= 2;
  return run;
}

int64_t getElementBytes(Value memref) {
  return getElementTypeOrSelf(memref).getIntOrFloatBitWidth() / 8;
}

int64_t getMaxLength(OpOperand *operand) {
  return kWidestAccessBytes / getElementBytes(operand->get());
}

std::optional<unsigned> getContiguousLoop(Contraction &contraction,
                                          OpOperand *operand) {
  auto type = cast<MemRefType>(operand->get().getType());
  // Strides that no layout states take long to find.
  bool isContiguous =
      type.getLayout().isIdentity() || type.isLastDimUnitStride();
  if (type.getRank() == 0 || !isContiguous)
    return std::nullopt;
  return Contraction::getLoop(contraction.getMap(operand), type.getRank() - 1);
}

/// `tile` with runs as vectors of the operands ask for.
static void setRuns(Contraction &contraction, ThreadTile &tile) {
  auto isAlong = [&](OpOperand *operand, const LoopGroup &group) {
    return getContiguousLoop(contraction, operand) == group.loops.back();
  };
  int64_t rows = std::gcd(tile.rows, contraction.rows.getLastSize());
  tile.rowRun = isAlong(contraction.lhs, contraction.rows)
                    ? getRun(rows, getMaxLength(contraction.lhs))
                    : 1;
  OpOperand *vectors = isAlong(contraction.rhs, contraction.columns)
                           ? contraction.rhs
                           : contraction.getResult();
  int64_t columns = std::gcd(tile.columns, contraction.columns.getLastSize());
  tile.columnRun = getRun(columns, getMaxLength(vectors));
}

/// Instructions of a thread for each step of the sum, in multiply-adds.
static double getCost(Contraction &contraction, const ThreadTile &tile) {
  constexpr double kLoad = 4;
  auto getLoads = [&](OpOperand *operand, int64_t count, int64_t run) {
    auto loop = getContiguousLoop(contraction, operand);
    int64_t length = run;
    if (loop && contraction.sums.find(*loop))
      length = getRun(contraction.sums.getLastSize(), getMaxLength(operand));
    return static_cast<double>(count) / length;
  };
  return tile.rows * tile.columns +
         kLoad * (getLoads(contraction.lhs, tile.rows, tile.rowRun) +
                  getLoads(contraction.rhs, tile.columns, tile.columnRun));
}

std::string chooseThreadTile(Contraction &contraction, int64_t numThreads,
                             ThreadTile &tile) {
  int64_t rows = contraction.rows.getSize();
  int64_t columns = contraction.columns.getSize();
  auto make = [&](int64_t ofRows, int64_t ofColumns) {
    ThreadTile made{ofRows, ofColumns};
    made.numThreads[0] = rows / ofRows;
    made.numThreads[1] = columns / ofColumns;
    // Those two apart have the same rows: then a warp loads 16 bytes a lane in
    // two iterations of the memory's banks, not four.
    made.numNeighbors = made.numThreads[0] % 2 == 0 ? 2 : 1;
    setRuns(contraction, made);
    return made;
  };
  // Half of the registers, as there are operands and addresses besides.
  constexpr int64_t kMaxBytes = 512, kMaxSide = 32;
  int64_t bytes = getElementBytes(contraction.getResult()->get());
  double least = 0;
  for (int64_t i = 1; i <= std::min(rows, kMaxSide); ++i)
    for (int64_t j = 1; j <= std::min(columns, kMaxSide); ++j) {
      if (rows % i != 0 || columns % j != 0 || i * j * bytes > kMaxBytes)
        continue;
      ThreadTile made = make(i, j);
      double cost = getCost(contraction, made);
      if (made.getNumThreads() > numThreads || (least > 0 && cost >= least))
        continue;
      least = cost;
      tile = made;
    }
  if (least > 0)
    return "";
  return llvm::formatv("{0} threads have no registers for a tile of {1}x{2} "
                       "elements",
                       numThreads, rows, columns)
      .str();
}

} // namespace mlir::workgroup
