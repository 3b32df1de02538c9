//===- WarpRegions.cpp - Warps that take a path of their own --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpRegions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace mlir::workgroup {

/// The number of barriers that a block has. Number 0 is that of all of its
/// threads.
static constexpr int64_t kNumBarriers = 16;

/// Finds who uses which barrier, other than that of the block.
void WarpRegions::collectNumbers(Operation *scope) {
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
    else if (OpKind kind = getOpKind(op);
             kind == OpKind::Call || kind == OpKind::Assembly)
      areNumbersKnown = false;
  });
}

/// True if all who meet at barrier `number` are the threads of `part`.
bool WarpRegions::isOwn(int64_t number, const ThreadPart &part) const {
  auto it = users.find(number);
  if (it == users.end() || number < 1 || number >= kNumBarriers)
    return false;
  return llvm::all_of(it->second, [&](Operation *op) {
    auto barrier = dyn_cast<NVVM::BarrierOp>(op);
    const ThreadPart *around = getPart(op);
    return barrier && !barrier.getReductionOp() &&
           barrier.getNumberOfThreads() && around &&
           around->threads == part.threads &&
           getConstantIntValue(barrier.getNumberOfThreads()) ==
               part.getNumThreads();
  });
}

WarpRegions::WarpRegions(Operation *scope, const SyncTree &block,
                         ThreadConflicts &conflicts) {
  collectNumbers(scope);
  if (!areNumbersKnown)
    return;
  for (Operation *branch : block.getDivergentBranches())
    for (Region &region : cast<scf::IfOp>(branch)->getRegions())
      if (auto threads = conflicts.getTakers(cast<scf::IfOp>(branch), region);
          threads && !region.empty())
        parts.push_back({&region, *threads, {}});
  for (ThreadPart &part : parts)
    for (const auto &[number, ops] : users) {
      bool isUsed = llvm::any_of(ops, [&](Operation *op) {
        return part.region->isAncestor(op->getParentRegion());
      });
      if (isUsed && isOwn(number, part))
        part.numbers.push_back(number);
    }
}

bool WarpRegions::allocate(const ThreadPart &part) {
  ThreadPart &own = parts[&part - parts.data()];
  auto isFree = [&](int64_t number) {
    return (!users.count(number) || isOwn(number, own)) &&
           llvm::all_of(parts, [&](const ThreadPart &other) {
             return other.threads == own.threads ||
                    !llvm::is_contained(other.numbers, number);
           });
  };
  for (int64_t number = 1; number < kNumBarriers && own.numbers.empty();
       ++number)
    if (isFree(number))
      own.numbers.push_back(number);
  return !own.numbers.empty();
}

const ThreadPart *WarpRegions::getPart(Operation *op) const {
  for (const ThreadPart &part : parts)
    if (part.region->isAncestor(op->getParentRegion()))
      return &part;
  return nullptr;
}

bool WarpRegions::isBarrier(Operation *op) const {
  auto barrier = dyn_cast<NVVM::BarrierOp>(op);
  if (!barrier || !barrier.getBarrierId() || !barrier.getNumberOfThreads())
    return false;
  const ThreadPart *part = getPart(op);
  std::optional<int64_t> number = getConstantIntValue(barrier.getBarrierId());
  return part && number && llvm::is_contained(part->numbers, *number);
}

} // namespace mlir::workgroup
