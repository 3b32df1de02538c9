//===- MaskReader.h - What a mask says of columns ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Masks compare sums of indices, in 64 bits, in which these do not wrap, or in
// 32, in which they may: then the comparison is what it says only where both
// sides have room.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_MASKREADER_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_MASKREADER_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::workgroup {

/// True if `value` is minus infinity.
bool isLeast(Value value);

/// True if `value` is a number greater than zero, and no infinity.
bool isPositive(Value value);

/// A sum of loops, then symbols, times their factors, and a constant.
struct LinearForm {
  SmallVector<int64_t> factors;
  int64_t constant = 0;

  int64_t getFactor(unsigned number) const {
    return number < factors.size() ? factors[number] : 0;
  }
  /// Adds `other` times `times`. False if numbers get so large that sums of
  /// extents may wrap.
  bool add(const LinearForm &other, int64_t times);
};

/// Reads what the body of `scores` says of the columns that are not hidden.
class MaskReader {
public:
  MaskReader(linalg::LinalgOp scores)
      : scores(scores), numLoops(scores.getNumLoops()) {}

  /// Adds the conditions without which `value` is minus infinity.
  void addScore(Value value);

  /// Each is at most 0 where a score is not hidden, as long as those that the
  /// program compares in 32 bits have room there.
  SmallVector<LinearForm> conditions, narrow;
  SmallVector<Value> symbols;

private:
  void addCondition(Value condition, bool isMet);
  void addComparison(arith::CmpIOp compared, bool isMet);
  std::optional<LinearForm> read(Value value);
  std::optional<LinearForm> readExactly(Value value);
  std::optional<LinearForm> compute(Value value);
  std::optional<LinearForm> computeApply(affine::AffineApplyOp apply);
  std::optional<LinearForm> computeSymbol(Value value);
  bool isOutside(Value value) const {
    return !scores->getRegion(0).isAncestor(value.getParentRegion());
  }

  linalg::LinalgOp scores;
  unsigned numLoops;
  /// What has been read.
  DenseMap<Value, std::optional<LinearForm>> forms;
  DenseSet<Value> seenScores;
  DenseSet<std::pair<Value, unsigned>> seenConditions;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_MASKREADER_H
