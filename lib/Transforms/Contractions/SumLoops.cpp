//===- SumLoops.cpp - Loops that go on adding -----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SumLoops.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace mlir::workgroup {

bool isLoopInvariant(Value value, scf::ForOp loop) {
  llvm::SmallSetVector<Value, 8> values;
  values.insert(value);
  for (unsigned i = 0; i < values.size(); ++i) {
    if (loop.isDefinedOutsideOfLoop(values[i]))
      continue;
    Operation *op = values[i].getDefiningOp();
    if (!op || op->getNumRegions() != 0 || !isPure(op))
      return false;
    values.insert_range(op->getOperands());
  }
  return true;
}

void hoistInvariants(Operation *op, Operation *root) {
  while (op != root) {
    op = op->getParentOp();
    moveLoopInvariantCode(cast<LoopLikeOpInterface>(op));
  }
}

} // namespace mlir::workgroup
