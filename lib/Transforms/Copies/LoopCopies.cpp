//===- LoopCopies.cpp - What moving copies of a loop takes ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopCopies.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::workgroup {

/// Longer chains of operations than this are not for an iteration to repeat.
static constexpr unsigned kMaxSliceDepth = 256;

bool addToSlice(Value value, scf::ForOp loop, LoopSlice &slice,
                Operation *allocation, unsigned depth) {
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return true;
  if (value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() != 0 ||
      !(isPure(op) || op == allocation) || depth > kMaxSliceDepth)
    return false;
  if (slice.contains(op))
    return true;
  for (Value operand : op->getOperands())
    if (!addToSlice(operand, loop, slice, allocation, depth + 1))
      return false;
  slice.insert(op);
  return true;
}

std::string getObstacleToReadAhead(const GlobalWrites &writes, Value source,
                                   const ArgumentAliases &aliases) {
  if (Operation *op = writes.getUnknown())
    return nameInRemark(op) +
           " in the loop may write its source, or wait for another block";
  if (Operation *op = writes.findWriter(source, aliases))
    return nameInRemark(op) + " in the loop may write its source";
  return "";
}

} // namespace mlir::workgroup
