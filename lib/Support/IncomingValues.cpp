//===- IncomingValues.cpp - Where joined values come from -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IncomingValues.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::workgroup {

static SmallVector<IncomingValue, 2> getOfBlock(BlockArgument argument) {
  SmallVector<IncomingValue, 2> values;
  Block *block = argument.getOwner();
  for (auto it = block->pred_begin(), e = block->pred_end(); it != e; ++it) {
    unsigned successor = it.getSuccessorIndex();
    auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
    Value value =
        branch ? branch.getSuccessorOperands(successor)[argument.getArgNumber()]
               : Value();
    values.push_back({(*it)->getTerminator(), successor, value});
  }
  return values;
}

Value getCommonIncoming(BlockArgument argument,
                        llvm::function_ref<bool(Block *)> isFrom) {
  Value common;
  if (argument.getOwner()->isEntryBlock())
    return nullptr;
  for (const IncomingValue &incoming : getOfBlock(argument)) {
    if (!isFrom(incoming.op->getBlock()))
      continue;
    if (!incoming.value || (common && common != incoming.value))
      return nullptr;
    common = incoming.value;
  }
  return common;
}

SmallVector<IncomingValue, 2> IncomingValues::get(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && !argument.getOwner()->isEntryBlock())
    return getOfBlock(argument);
  auto branch = dyn_cast_or_null<RegionBranchOpInterface>(
      argument ? argument.getOwner()->getParentOp() : value.getDefiningOp());
  if (!branch)
    return {};
  if (visited.insert(branch).second) {
    RegionBranchInverseSuccessorMapping mapping;
    branch.getSuccessorInputOperandMapping(mapping);
    for (auto &[input, operands] : mapping)
      for (OpOperand *operand : operands)
        ofRegions[input].push_back({operand->getOwner(), 0, operand->get()});
  }
  return ofRegions.lookup(value);
}

} // namespace mlir::workgroup
