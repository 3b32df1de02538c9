//===- BufferEscape.cpp - Buffers that outlive their turn -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferEscape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "workgroup/Analysis/BufferLiveness.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::workgroup {

/// The arguments that `use`, an operand of `branch`, is passed to; nothing if
/// it is not passed on. Fails if `alloc` may be executed again while they
/// are in use.
static FailureOr<SmallVector<Value>> followBranch(OpOperand &use,
                                                  BranchOpInterface branch,
                                                  Operation *alloc,
                                                  DominanceInfo &dominance) {
  std::optional<BlockArgument> argument =
      branch.getSuccessorBlockArgument(use.getOperandNumber());
  if (!argument)
    return SmallVector<Value>();
  if (mayBeInUseAt(*argument, alloc, dominance))
    return failure();
  return SmallVector<Value>{*argument};
}

/// Where the memory of `use` goes on in regions, results of region operations
/// and views; nothing if it does not. `alloc` is where it comes from.
static FailureOr<SmallVector<Value>> follow(OpOperand &use, Operation *alloc,
                                            DominanceInfo &dominance) {
  Operation *user = use.getOwner();
  if (isa<arith::SelectOp>(user) || getViewSource(user) == use.get())
    return SmallVector<Value>(user->getResults());
  if (auto branch = dyn_cast<BranchOpInterface>(user))
    return followBranch(use, branch, alloc, dominance);
  bool isYield = user->hasTrait<OpTrait::IsTerminator>();
  auto branch = dyn_cast_or_null<RegionBranchOpInterface>(
      isYield ? user->getParentOp() : user);
  if (!branch ||
      (isYield && branch->isAncestor(alloc) &&
       branch.isRepetitiveRegion(user->getParentRegion()->getRegionNumber()))) {
    auto store = dyn_cast<memref::StoreOp>(user);
    bool carries =
        llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>) ||
        isYield || user->getNumRegions() != 0 ||
        (store && store.getValueToStore() == use.get());
    if (carries)
      return failure();
    return SmallVector<Value>();
  }
  RegionBranchSuccessorMapping mapping;
  branch.getSuccessorOperandInputMapping(mapping);
  return SmallVector<Value>(mapping.lookup(&use));
}

Operation *findEscape(Operation *alloc) {
  DominanceInfo dominance; // takes no time unless it is asked
  llvm::SmallSetVector<Value, 8> worklist;
  worklist.insert(alloc->getResult(0));
  for (unsigned i = 0; i < worklist.size(); ++i)
    for (OpOperand &use : worklist[i].getUses()) {
      FailureOr<SmallVector<Value>> next = follow(use, alloc, dominance);
      if (failed(next))
        return use.getOwner();
      worklist.insert(next->begin(), next->end());
    }
  return nullptr;
}

LogicalResult emitEscapeError(Operation *op, Operation *escape,
                              StringRef space) {
  bool isReturned = isa<FunctionOpInterface>(escape->getParentOp()) &&
                    escape->hasTrait<OpTrait::ReturnLike>();
  InFlightDiagnostic error =
      op->emitOpError("in ")
      << space << " memory "
      << (isReturned ? "leaves its function, whose calls "
                     : "is live across iterations of an enclosing loop and ")
      << "cannot share one buffer";
  error.attachNote(escape->getLoc())
      << (isReturned ? "carried here; allocate the buffer in the caller and "
                       "pass it on"
                     : "carried here; allocate one buffer per live activation "
                       "outside of the loop");
  return error;
}

} // namespace mlir::workgroup
