//===- CarriedResult.cpp - Results that go through a loop -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CarriedResult.h"
#include "ContractionShape.h"
#include "SumLoops.h"
#include "Transforms/Copies/MemoryAccesses.h"
#include "Transforms/Utils/BufferViews.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::workgroup {

bool isUpdate(Operation *op, llvm::function_ref<bool(Value)> isResult) {
  auto generic = dyn_cast<linalg::LinalgOp>(op);
  if (!generic || !generic.hasPureBufferSemantics() || !isPointwise(generic) ||
      generic.getNumDpsInits() != 1)
    return false;
  OpOperand *output = generic.getDpsInitOperand(0);
  AffineMap written = generic.getMatchingIndexingMap(output);
  if (!isResult(output->get()) || !written.isPermutation())
    return false;
  return llvm::all_of(generic.getDpsInputOperands(), [&](OpOperand *input) {
    return !isResult(input->get()) ||
           generic.getMatchingIndexingMap(input) == written;
  });
}

/// The updates of `result` in the block of `root`; nothing if anything else is
/// done with it there.
static std::optional<SmallVector<OpOperand *>>
findUpdates(Operation *root, Value result, const ArgumentAliases &aliases) {
  SmallVector<OpOperand *> updates;
  auto isResult = [&](Value value) {
    return isa<BaseMemRefType>(value.getType()) && isSameView(value, result);
  };
  for (Operation &op : *root->getBlock()) {
    if (&op == root || !mayTouch(&op, result, aliases))
      continue;
    bool isOnlyUpdate = isUpdate(&op, isResult) && op.isBeforeInBlock(root) &&
                        llvm::all_of(op.getOperands(), [&](Value operand) {
                          return !isa<BaseMemRefType>(operand.getType()) ||
                                 isResult(operand) ||
                                 !aliases.mayAlias(operand, result);
                        });
    if (!isOnlyUpdate)
      return std::nullopt;
    updates.push_back(cast<linalg::LinalgOp>(op).getDpsInitOperand(0));
  }
  return updates;
}

CarriedResult findCarriedResult(Operation *root, Value result,
                                const ArgumentAliases &aliases) {
  CarriedResult carried{root, {}};
  while (auto loop = dyn_cast<scf::ForOp>(carried.root->getParentOp())) {
    if (loop.getNumResults() != 0 || !isLoopInvariant(result, loop))
      break;
    auto updates = findUpdates(carried.root, result, aliases);
    if (!updates)
      break;
    llvm::append_range(carried.updates, *updates);
    carried.root = loop;
  }
  return carried;
}

} // namespace mlir::workgroup
