//===- PlanLifetimes.cpp - How long buffers of the host live --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan frees an allocation of the host behind the last step that uses it. One
// walk over the steps of a block keeps, for each value, the allocations that it
// may be of; what the terminator uses is not freed here, and neither is what
// the program deallocates itself.
//
//===----------------------------------------------------------------------===//

#include "PlanLifetimes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::workgroup {

void addFrees(Block &block, FreesAfter &frees) {
  // The allocations that a value may be of, and where they are last used.
  DenseMap<Value, llvm::SmallSetVector<Operation *, 2>> memoryOf;
  llvm::MapVector<Operation *, Operation *> lastUses;
  DenseSet<Operation *> escaping;
  for (Operation &op : block) {
    llvm::SmallSetVector<Operation *, 2> used;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto it = memoryOf.find(operand); it != memoryOf.end())
          used.insert_range(it->second);
    });
    for (Operation *alloc : used) {
      lastUses[alloc] = &op;
      if (op.hasTrait<OpTrait::IsTerminator>())
        escaping.insert(alloc);
    }
    if (!used.empty())
      for (Value result : op.getResults())
        memoryOf[result] = used;
    if (isa<memref::AllocOp>(op) &&
        llvm::none_of(op.getUsers(), llvm::IsaPred<memref::DeallocOp>)) {
      memoryOf[op.getResult(0)].insert(&op);
      lastUses[&op] = &op;
    }
  }
  for (auto [alloc, last] : lastUses)
    if (!escaping.contains(alloc))
      frees[last].push_back(alloc->getResult(0));
}

} // namespace mlir::workgroup
