//===- KernelLoops.cpp - The loops of a kernel ----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLoops.h"
#include "Support/IncomingValues.h"
#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/SCCIterator.h"

namespace mlir::workgroup {

KernelLoops::KernelLoops(Operation *scope) {
  if (Region *body = getBody(scope))
    visit(*body, nullptr);
}

KernelLoop *KernelLoops::make(const KernelLoop *around, Operation *op,
                              Block *header) {
  KernelLoop &loop = *storage.emplace_back(std::make_unique<KernelLoop>());
  loop.op = op;
  loop.header = header;
  loop.parent = around;
  return &loop;
}

/// Finds the loops that branches between the blocks of `region` make. A cycle
/// that is entered in several places is one loop that cannot be counted.
void KernelLoops::visitBranches(Region &region, const KernelLoop *around) {
  CFGLoopInfo info(dominance.getDomTree(&region));
  DenseMap<CFGLoop *, KernelLoop *> made;
  for (CFGLoop *natural : info.getLoopsInPreorder()) {
    CFGLoop *outer = natural->getParentLoop();
    KernelLoop *loop =
        make(outer ? made[outer] : around, nullptr, natural->getHeader());
    natural->getLoopLatches(loop->latches);
    loop->exiting = natural->getExitingBlock();
    made[natural] = loop;
    ofHeaders[loop->header] = loop;
  }
  for (Block &block : region) {
    CFGLoop *natural = info.getLoopFor(&block);
    loops[&block] = natural ? made[natural] : around;
  }
  // What can reach itself although it is in no natural loop.
  KernelLoop *irreducible = nullptr;
  for (Block &block : region) {
    bool isRepeated = llvm::any_of(block.getSuccessors(), [&](Block *next) {
      return next == &block || next->isReachable(&block);
    });
    if (!isRepeated || info.getLoopFor(&block))
      continue;
    if (!irreducible) {
      irreducible = make(around, nullptr, &block);
      irreducible->isCountable = false;
    }
    loops[&block] = irreducible;
  }
  // What is natural may be in that, too.
  if (irreducible)
    for (CFGLoop *outermost : info.getTopLevelLoops())
      made[outermost]->parent = irreducible;
}

void KernelLoops::visit(Region &region, const KernelLoop *around) {
  if (region.hasOneBlock())
    loops[&region.front()] = around;
  else
    visitBranches(region, around);
  for (Block &block : region) {
    for (Operation &op : block) {
      if (op.getNumRegions() == 0)
        continue;
      auto branch = dyn_cast<RegionBranchOpInterface>(op);
      // One that is known to iterate once is a loop all the same.
      if (isa<LoopLikeOpInterface>(op))
        branch = nullptr;
      KernelLoop *loop = nullptr;
      for (Region &inner : op.getRegions()) {
        if (inner.empty())
          continue;
        bool isRepeated =
            !branch || branch.isRepetitiveRegion(inner.getRegionNumber());
        if (isRepeated && !loop) {
          loop = make(loops[&block], &op, &inner.front());
          ofOps[&op] = loop;
        }
        visit(inner, isRepeated ? loop : loops[&block]);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// From iteration to iteration
//===----------------------------------------------------------------------===//

std::optional<CarriedValue>
KernelLoops::getCarried(BlockArgument argument) const {
  Block *block = argument.getOwner();
  CarriedValue carried;
  if (auto op = dyn_cast<LoopLikeOpInterface>(block->getParentOp())) {
    carried.loop = getLoopOf(op);
    if (OpOperand *initial = op.getTiedLoopInit(argument))
      carried.initial = initial->get();
    if (OpOperand *next = op.getTiedLoopYieldedValue(argument))
      carried.next = next->get();
  } else if ((carried.loop = getLoopAt(block))) {
    auto isLatch = [&](Block *from) {
      return llvm::is_contained(carried.loop->latches, from);
    };
    carried.initial = getCommonIncoming(argument, std::not_fn(isLatch));
    carried.next = getCommonIncoming(argument, isLatch);
  }
  bool isKnown = carried.loop && carried.initial && carried.next;
  return isKnown ? std::optional(carried) : std::nullopt;
}

std::optional<LoopTest> KernelLoops::getTest(const KernelLoop *loop) const {
  LoopTest test;
  if (auto general = dyn_cast_or_null<scf::WhileOp>(loop->op)) {
    Value condition = general.getConditionOp().getCondition();
    test.compare = condition.getDefiningOp<arith::CmpIOp>();
  } else if (loop->exiting &&
             isInEachIteration(loop, loop->exiting->getTerminator())) {
    if (auto branch =
            dyn_cast<cf::CondBranchOp>(loop->exiting->getTerminator())) {
      test.compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
      test.goesOnIf = loop->contains(getLoop(branch.getTrueDest()));
    }
  }
  return test.compare ? std::optional(test) : std::nullopt;
}

bool KernelLoops::isBehindTest(const KernelLoop *loop, Operation *op) const {
  return loop->exiting && loop->contains(getLoop(op)) &&
         dominance.properlyDominates(loop->exiting, op->getBlock());
}

bool KernelLoops::isBehind(const KernelLoop *loop, Operation *op) const {
  if (loop->contains(getLoop(op)))
    return false;
  return loop->op ? isPassedBefore(loop->op, op)
                  : dominance.properlyDominates(loop->header, op->getBlock());
}

bool KernelLoops::isInEachIteration(const KernelLoop *loop,
                                    Operation *op) const {
  if (getLoop(op) != loop)
    return false;
  if (loop->op)
    return op->getBlock() == loop->header;
  return loop->isCountable && llvm::all_of(loop->latches, [&](Block *latch) {
           return dominance.dominates(op->getBlock(), latch);
         });
}

} // namespace mlir::workgroup
