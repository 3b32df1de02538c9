//===- MatrixSums.cpp - The result in registers of lanes ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixSums.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::workgroup {

Value stackVectors(RewriterBase &rewriter, Location loc,
                   ArrayRef<Value> parts) {
  auto part = cast<VectorType>(parts.front().getType());
  auto type = VectorType::get(
      {static_cast<int64_t>(parts.size()), part.getNumElements()},
      part.getElementType());
  Value whole = ub::PoisonOp::create(rewriter, loc, type);
  for (auto [i, one] : llvm::enumerate(parts))
    whole = vector::InsertOp::create(rewriter, loc, one, whole,
                                     static_cast<int64_t>(i));
  return whole;
}

SmallVector<Value> packSums(RewriterBase &rewriter, Location loc,
                            ValueRange sums, int64_t numCells,
                            int64_t numColumns) {
  SmallVector<Value> packed;
  int64_t numRows = sums.size() / (numCells * numColumns);
  for (int64_t i = 0; i < numRows; ++i)
    for (int64_t j = 0; j < numColumns; ++j) {
      SmallVector<Value> parts;
      for (int64_t cell = 0; cell < numCells; ++cell)
        parts.push_back(sums[(i * numCells + cell) * numColumns + j]);
      packed.push_back(stackVectors(rewriter, loc, parts));
    }
  return packed;
}

SmallVector<Value> unpackSums(RewriterBase &rewriter, Location loc,
                              ValueRange packed, int64_t numCells,
                              int64_t numColumns) {
  SmallVector<Value> sums;
  int64_t numRows = packed.size() / numColumns * numCells;
  for (int64_t row = 0; row < numRows; ++row)
    for (int64_t j = 0; j < numColumns; ++j)
      sums.push_back(vector::ExtractOp::create(
          rewriter, loc, packed[row / numCells * numColumns + j],
          row % numCells));
  return sums;
}

} // namespace mlir::workgroup
