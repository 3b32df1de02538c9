//===- ThreadWaits.cpp - Where threads wait for others --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadWaits.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "workgroup/Analysis/SyncTree.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

/// True if `memref` is a buffer of one thread, to which it may have put what it
/// saw.
static bool isPrivate(Value memref) {
  return memref.getDefiningOp<memref::AllocaOp>() ||
         memref.getDefiningOp<LLVM::AllocaOp>();
}

/// True if `op` may see what another thread does in the meantime. Other reads
/// need not: compilers may do them once.
static bool canSeeOthers(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](LLVM::LoadOp load) {
        return load.getVolatile_() || isPrivate(load.getAddr()) ||
               load.getOrdering() != LLVM::AtomicOrdering::not_atomic;
      })
      .Case([](memref::LoadOp load) { return isPrivate(load.getMemRef()); })
      .Case<memref::AtomicRMWOp, memref::GenericAtomicRMWOp, LLVM::AtomicRMWOp,
            LLVM::AtomicCmpXchgOp, LLVM::InlineAsmOp, NVVM::InlinePtxOp,
            CallOpInterface>([](auto) { return true; })
      .Case<nvgpu::MBarrierTestWaitOp, NVVM::MBarrierTestWaitOp,
            NVVM::MBarrierTryWaitOp, NVVM::MBarrierTryWaitParityOp>(
          [](auto) { return true; })
      .Default([](Operation *) { return false; });
}

/// True if `op` waits for some threads, but not all of the block together. What
/// all threads wait for together none of them can do behind that.
static bool isWait(Operation *op, const UniformityAnalysis &block) {
  if (auto barrier = dyn_cast<NVVM::BarrierOp>(op))
    return barrier.getNumberOfThreads() != nullptr;
  if (isa<NVVM::SyncWarpOp>(op))
    return !isWarpBarrier(op);
  if (auto wait = dyn_cast<nvgpu::MBarrierTryWaitParityOp>(op))
    return !block.isUniformPoint(op) ||
           !llvm::all_of(ValueRange{wait.getPhaseParity(), wait.getMbarId()},
                         [&](Value value) { return block.isUniform(value); });
  return false;
}

namespace {

/// Finds out whether a loop turns until another thread has done something.
class SpinFinder {
public:
  SpinFinder(const KernelLoop *loop, const KernelLoops &loops)
      : loop(loop), loops(loops) {}

  /// What sees others, that the end of the loop depends on; null for none.
  Operation *find();

private:
  void addTests();
  void addForwarded(Operation *branch, Value input);
  void addSources(BlockArgument argument);
  void addTerminators(Operation *op);
  void add(ValueRange values) { llvm::append_range(worklist, values); }

  const KernelLoop *loop;
  const KernelLoops &loops;
  SmallVector<Value> worklist;
};

} // namespace

/// Adds what decides whether the loop goes on; of branches, whatever decides
/// about a way through it.
void SpinFinder::addTests() {
  if (loop->op)
    return add(cast<scf::WhileOp>(loop->op).getConditionOp().getCondition());
  for (Block &block : *loop->header->getParent()) {
    if (!loop->contains(loops.getLoop(&block)))
      continue;
    Operation *terminator = block.getTerminator();
    if (auto branch = dyn_cast<cf::CondBranchOp>(terminator))
      add(branch.getCondition());
    else if (!isa<cf::BranchOp>(terminator))
      add(terminator->getOperands());
  }
}

void SpinFinder::addForwarded(Operation *branch, Value input) {
  RegionBranchInverseSuccessorMapping mapping;
  cast<RegionBranchOpInterface>(branch).getSuccessorInputOperandMapping(
      mapping);
  for (OpOperand *operand : mapping[input])
    add(operand->get());
}

/// Adds what ends regions of `op`: one of those values it yields.
void SpinFinder::addTerminators(Operation *op) {
  add(op->getOperands());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        add(block.getTerminator()->getOperands());
}

void SpinFinder::addSources(BlockArgument argument) {
  Block *block = argument.getOwner();
  Operation *parent = block->getParentOp();
  if (block->isEntryBlock())
    return parent == loop->op ? addForwarded(parent, argument)
                              : addTerminators(parent);
  for (auto it = block->pred_begin(), e = block->pred_end(); it != e; ++it) {
    auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
    Value source = branch ? branch.getSuccessorOperands(
                                it.getSuccessorIndex())[argument.getArgNumber()]
                          : Value();
    add(source ? ValueRange(source) : (*it)->getTerminator()->getOperands());
  }
}

Operation *SpinFinder::find() {
  // Other loops turn as often as was settled before.
  if (loop->op && !isa<scf::WhileOp>(loop->op))
    return nullptr;
  addTests();
  DenseSet<Value> visited;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!loop->contains(loops.getLoop(value.getParentBlock())) ||
        !visited.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (!op)
      addSources(cast<BlockArgument>(value));
    else if (canSeeOthers(op))
      return op;
    else
      addTerminators(op);
  }
  return nullptr;
}

ThreadWaits::ThreadWaits(Operation *scope, const UniformityAnalysis &block,
                         const KernelLoops &loops)
    : order(scope) {
  DenseSet<const KernelLoop *> visited;
  auto add = [&](Operation *wait) {
    unsigned from = getStart(wait, loops);
    if (first && from >= start)
      return;
    first = wait;
    start = from;
  };
  scope->walk([&](Operation *op) {
    if (isWait(op, block))
      add(op);
    const KernelLoop *loop = canSeeOthers(op) ? loops.getLoop(op) : nullptr;
    for (; loop && visited.insert(loop).second; loop = loop->parent)
      if (Operation *seen = SpinFinder(loop, loops).find())
        add(seen);
  });
}

/// The last position that nothing of `wait` comes before: in a loop, what
/// stands before it may come behind it as well.
unsigned ThreadWaits::getStart(Operation *wait,
                               const KernelLoops &loops) const {
  unsigned start = order.getRange(wait).first;
  for (const KernelLoop *loop = loops.getLoop(wait); loop; loop = loop->parent)
    // The first position of a cycle of blocks is in it.
    start = loop->op ? order.getRange(loop->op).first
                     : order.getCycle(loop->header)->first - 1;
  return start;
}

} // namespace mlir::workgroup
