//===- BlockContractions.h - Sums of products of a block --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is asked of a sum of products before its operands go to workgroup
// memory: whether a block does it, which loops around it go on adding, and of
// how many elements its tiles are.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_BLOCKCONTRACTIONS_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_BLOCKCONTRACTIONS_H

#include "ContractionShape.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Target/Chip.h"

namespace mlir::workgroup {

/// True if a block executes `op`, as one.
bool isInBlock(Operation *op);

/// The outermost loop around `op` that does nothing but go on adding to the
/// result, from tiles that are gathered in it; `op` if there is none.
Operation *findSumLoops(linalg::LinalgOp op);

/// Iterations of each loop of an operation, as tiles have them, and whether
/// there may be fewer.
struct TileSizes {
  SmallVector<int64_t> sizes = {};
  SmallVector<bool> isRagged = {};
};

/// Finds how many iterations each loop of `op` has at most, from the dimensions
/// of operands that it goes along. Returns why that is not known, or empty.
std::string findTileSizes(linalg::LinalgOp op, TileSizes &tile);

/// Rounds the sizes up to what threads can share, and tensor cores of `chip`
/// multiply. `hasLoop`: whether there are loops around that go on adding.
/// Returns why that cannot be, or empty.
std::string roundTileSizes(const Contraction &contraction, bool hasLoop,
                           const Chip &chip, TileSizes &tile);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_BLOCKCONTRACTIONS_H
