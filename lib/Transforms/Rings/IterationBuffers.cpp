//===- IterationBuffers.cpp - Memory that iterations allocate -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterationBuffers.h"
#include "Analysis/Program/OpEffects.h"
#include "Transforms/Copies/MemoryAccesses.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace mlir::workgroup {

bool makesMemory(Operation *op) {
  return getOpKind(op) == OpKind::Storage && !isMemoryEffectFree(op);
}

/// What refers to the memory that `op` makes.
static llvm::SetVector<Value> getNamesOfBuffer(Operation *op) {
  llvm::SetVector<Value> names(op->result_begin(), op->result_end());
  for (unsigned i = 0; i < names.size(); ++i)
    for (Operation *user : names[i].getUsers())
      if (user->getNumRegions() == 0 && isTransparent(user))
        for (Value result : user->getResults())
          if (isa<BaseMemRefType>(result.getType()))
            names.insert(result);
  return names;
}

/// True if a buffer that `user` takes may be used by others yet, or never more.
static bool mayHandOn(Operation *user) {
  return user->hasTrait<OpTrait::IsTerminator>() ||
         user->getNumRegions() != 0 ||
         isa<memref::DeallocOp, CallOpInterface>(user);
}

std::string IterationBuffers::add(Operation *op, ArrayRef<Operation *> early) {
  Operation *later = nullptr, *handsOn = nullptr;
  llvm::SetVector<Value> names = getNamesOfBuffer(op);
  for (Value name : names)
    for (Operation *user : name.getUsers()) {
      bool isName = llvm::any_of(user->getResults(), [&](Value result) {
        return names.contains(result);
      });
      if (!isName && !llvm::is_contained(
                         early, loop.getBody()->findAncestorOpInBlock(*user)))
        later = user;
      if (mayHandOn(user))
        handsOn = user;
    }
  if (!later)
    return "";
  bool isOfOneSize = llvm::all_of(op->getOperands(), [&](Value operand) {
    return loop.isDefinedOutsideOfLoop(operand);
  });
  if (handsOn)
    return nameInRemark(handsOn) +
           " takes memory that each iteration allocates";
  if (!isOfOneSize || !isa<memref::AllocOp, memref::AllocaOp>(op))
    return nameInRemark(op) + " makes other memory in each iteration";
  buffers.insert(op);
  return "";
}

void IterationBuffers::hoist() {
  for (Operation *op : buffers)
    op->moveBefore(loop);
}

} // namespace mlir::workgroup
