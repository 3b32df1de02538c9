//===- BufferEscape.cpp - Buffers that outlive their iteration ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferEscape.h"
#include "Analysis/Memory/BufferFlow.h"
#include "Analysis/Program/OpEffects.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::workgroup {

/// True if the user of `use`, which passes the memory on to no alias in its
/// function, may pass it on elsewhere.
static bool mayEscapeBy(OpOperand &use) {
  Operation *user = use.getOwner();
  auto store = dyn_cast<memref::StoreOp>(user);
  if (store && store.getValueToStore() == use.get())
    return true;
  return !isSynchronousAccess(user) &&
         (user->hasTrait<OpTrait::IsTerminator>() ||
          user->getNumRegions() != 0 ||
          llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>));
}

Operation *findEscape(Operation *alloc, DominanceInfo &dominance) {
  llvm::SmallSetVector<Value, 8> worklist;
  worklist.insert(alloc->getResult(0));
  for (unsigned i = 0; i < worklist.size(); ++i)
    for (OpOperand &use : worklist[i].getUses()) {
      SmallVector<Value> aliases = getAliases(use);
      if (isHandedOn(use, alloc, dominance) ||
          (aliases.empty() && mayEscapeBy(use)))
        return use.getOwner();
      worklist.insert_range(aliases);
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
