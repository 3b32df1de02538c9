//===- Combiners.cpp - How partial results become one ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combiners.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::workgroup {

/// The operation that sums up result `number` of `op`; null if that is not one
/// operation.
static Operation *getCombiner(linalg::LinalgOp op, unsigned number) {
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), number, combiners) ||
      combiners.size() != 1 ||
      !arith::getNeutralElement(combiners.front()).has_value())
    return nullptr;
  return combiners.front();
}

Operation *getCombiner(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
    return nullptr;
  return getCombiner(op, 0);
}

bool isCombinable(linalg::LinalgOp op) {
  return op.getNumReductionLoops() != 0 &&
         llvm::all_of(llvm::enumerate(op.getRegionOutputArgs()), [&](auto of) {
           return of.value().hasOneUse() && getCombiner(op, of.index());
         });
}

} // namespace mlir::workgroup
