//===- BufferFlow.cpp - Where the memory of a value goes on ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// The block argument that `use` is passed to by an unstructured branch.
static std::optional<BlockArgument> getBranchTarget(OpOperand &use) {
  auto branch = dyn_cast<BranchOpInterface>(use.getOwner());
  return branch ? branch.getSuccessorBlockArgument(use.getOperandNumber())
                : std::nullopt;
}

SmallVector<Value> getAliases(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<arith::SelectOp, memref::ExtractStridedMetadataOp>(user) ||
      getViewSource(user) == use.get())
    return {user->getResult(0)}; // the others are no memrefs
  if (std::optional<BlockArgument> argument = getBranchTarget(use))
    return {*argument};
  auto branch = dyn_cast_or_null<RegionBranchOpInterface>(
      user->hasTrait<OpTrait::IsTerminator>() ? user->getParentOp() : user);
  if (!branch)
    return {};
  RegionBranchSuccessorMapping mapping;
  branch.getSuccessorOperandInputMapping(mapping);
  return mapping.lookup(&use);
}

bool isHandedOn(OpOperand &use, Operation *allocation,
                DominanceInfo &dominance) {
  if (std::optional<BlockArgument> argument = getBranchTarget(use)) {
    // What is in use at an operation is defined on every way to it.
    Block *block = argument->getOwner();
    Block *at =
        block->getParent()->findAncestorBlockInRegion(*allocation->getBlock());
    return at && dominance.dominates(block, at);
  }
  Operation *user = use.getOwner();
  auto branch = dyn_cast<RegionBranchOpInterface>(user->getParentOp());
  return branch && user->hasTrait<OpTrait::IsTerminator>() &&
         branch->isAncestor(allocation) &&
         branch.isRepetitiveRegion(user->getParentRegion()->getRegionNumber());
}

} // namespace mlir::workgroup
