//===- ThreadParts.cpp - Warps that go a way of their own -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/ThreadParts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace mlir::workgroup {

/// How many barriers a block has. Number 0 is that of all of its threads.
static constexpr int64_t kNumBarriers = 16;

/// Finds who uses which barrier, other than that of the block.
void ThreadParts::collectNumbers(Operation *scope) {
  auto add = [&](Operation *op, Value number) {
    if (std::optional<int64_t> known = getConstantIntValue(number))
      users[*known].push_back(op);
    else
      areNumbersKnown = false;
  };
  scope->walk([&](Operation *op) {
    auto barrier = dyn_cast<NVVM::BarrierOp>(op);
    auto arrival = dyn_cast<NVVM::BarrierArriveOp>(op);
    if (barrier && barrier.getBarrierId())
      add(op, barrier.getBarrierId());
    else if (arrival && arrival.getBarrierId())
      add(op, arrival.getBarrierId());
    else if (isa<CallOpInterface, LLVM::InlineAsmOp, NVVM::InlinePtxOp>(op))
      areNumbersKnown = false;
  });
}

ThreadParts::ThreadParts(Operation *scope, const SyncTree &block,
                         ThreadConflicts &conflicts) {
  collectNumbers(scope);
  for (Operation *branch : block.getDivergentBranches())
    for (Region &arm : cast<scf::IfOp>(branch)->getRegions()) {
      std::optional<int64_t> numThreads =
          conflicts.countThreads(cast<scf::IfOp>(branch), arm);
      if (!areNumbersKnown || arm.empty() || !numThreads)
        continue;
      ThreadPart part{&arm, *numThreads, std::nullopt};
      for (const auto &[number, ops] : users)
        if (number > 0 && number < kNumBarriers &&
            llvm::all_of(
                ops,
                [&, numThreads = *numThreads](Operation *op) {
                  auto barrier = dyn_cast<NVVM::BarrierOp>(op);
                  return barrier && !barrier.getReductionOp() &&
                         arm.isAncestor(op->getParentRegion()) &&
                         barrier.getNumberOfThreads() &&
                         getConstantIntValue(barrier.getNumberOfThreads()) ==
                             numThreads;
                }))
          part.barrier = number;
      parts.push_back(part);
    }
}

bool ThreadParts::allocate(const ThreadPart &part) {
  auto isFree = [&](int64_t number) {
    return !users.count(number) &&
           llvm::none_of(parts, [&](const ThreadPart &other) {
             return other.barrier == number;
           });
  };
  ThreadPart &own = parts[&part - parts.data()];
  for (int64_t number = 1; number < kNumBarriers && !own.barrier; ++number)
    if (isFree(number))
      own.barrier = number;
  return own.barrier.has_value();
}

const ThreadPart *ThreadParts::getPart(Operation *op) const {
  for (const ThreadPart &part : parts)
    if (part.arm->isAncestor(op->getParentRegion()))
      return &part;
  return nullptr;
}

bool ThreadParts::isBarrier(Operation *op) const {
  auto barrier = dyn_cast<NVVM::BarrierOp>(op);
  if (!barrier || !barrier.getBarrierId() || !barrier.getNumberOfThreads())
    return false;
  const ThreadPart *part = getPart(op);
  return part && part->barrier &&
         getConstantIntValue(barrier.getBarrierId()) == part->barrier;
}

} // namespace mlir::workgroup
