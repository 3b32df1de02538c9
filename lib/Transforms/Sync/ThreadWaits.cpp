//===- ThreadWaits.cpp - Where threads wait for others --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadWaits.h"
#include "Analysis/Tree/SyncTree.h"
#include "Support/IncomingValues.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// True if `memref` is a buffer of one thread, to which it may have put what it
/// saw.
static bool isPrivate(Value memref) {
  return memref.getDefiningOp<memref::AllocaOp>() ||
         memref.getDefiningOp<LLVM::AllocaOp>();
}

/// True if `op` may see what another thread does in the meantime. Other reads
/// need not: compilers may do them once, unless there is a fence between.
static bool canSeeOthers(Operation *op, bool isFenced) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return isFenced || isPrivate(load.getMemRef());
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return isFenced || load.getVolatile_() || isPrivate(load.getAddr()) ||
           load.getOrdering() != LLVM::AtomicOrdering::not_atomic;
  if (isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>() ||
      op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return false;
  bool isAtomic = getOpKind(op) == OpKind::AtomicAccess;
  // Of what has other effects, or is not known, anything may be.
  bool isPlain = isa<MemoryEffectOpInterface>(op) &&
                 !isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect());
  return isAtomic || isFenced || !isPlain;
}

/// True if all threads of the block do `op` with the same operands. What they
/// wait for so together none of them can do behind that.
static bool isTogether(Operation *op, const UniformityAnalysis &block) {
  return block.isUniformPoint(op) &&
         llvm::all_of(op->getOperands(), [&](Value value) {
           return isa<nvgpu::MBarrierGroupType>(value.getType()) ||
                  block.isUniform(value);
         });
}

/// True if `op` may wait for others, and is no loop.
static bool canWait(Operation *op) {
  if (auto barrier = dyn_cast<NVVM::BarrierOp>(op))
    return barrier.getNumberOfThreads() != nullptr;
  if (auto change = dyn_cast<NVVM::SetMaxRegisterOp>(op))
    return change.getAction() == NVVM::SetMaxRegisterAction::increase;
  switch (getOpKind(op)) {
  case OpKind::WarpBarrier:
    return !isWarpBarrier(op);
  case OpKind::ClusterWait:
  case OpKind::Assembly:
    return true;
  default: // other waits for mbarriers only ask
    return isa<nvgpu::MBarrierTryWaitParityOp, NVVM::MBarrierTryWaitParityOp>(
        op);
  }
}

/// True if what `call` calls may wait for others.
static bool canWaitInside(CallOpInterface call,
                          DenseSet<Operation *> &visited) {
  Operation *callee = call.resolveCallable();
  Region *body =
      isa_and_nonnull<FunctionOpInterface>(callee) ? getBody(callee) : nullptr;
  if (!body)
    return true;
  if (!visited.insert(callee).second)
    return false;
  auto found = body->walk([&](Operation *op) {
    auto inner = dyn_cast<CallOpInterface>(op);
    bool isLoop = isa<scf::WhileOp>(op) ||
                  llvm::any_of(op->getRegions(), [](Region &region) {
                    return !region.empty() && !region.hasOneBlock();
                  });
    return isLoop || canWait(op) || (inner && canWaitInside(inner, visited))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return !body->hasOneBlock() || found.wasInterrupted();
}

/// True if `op` waits for some threads, but not all of the block together.
static bool isWait(Operation *op, const UniformityAnalysis &block) {
  DenseSet<Operation *> visited;
  auto call = dyn_cast<CallOpInterface>(op);
  // What meets at a barrier of some never meets all.
  if (isa<NVVM::BarrierOp, NVVM::SyncWarpOp>(op))
    return canWait(op);
  return (call ? canWaitInside(call, visited) : canWait(op)) &&
         !isTogether(op, block);
}

namespace {

/// Finds out whether a loop iterates until another thread has done something.
class SpinFinder {
public:
  SpinFinder(const KernelLoop *loop, const KernelLoops &loops, bool isFenced)
      : loop(loop), loops(loops), isFenced(isFenced) {}

  /// What sees others, that the end of the loop depends on; null for none.
  Operation *find();

private:
  void addTests();
  void addSources(BlockArgument argument);
  void addTerminators(Operation *op);
  void add(ValueRange values) { llvm::append_range(worklist, values); }

  const KernelLoop *loop;
  const KernelLoops &loops;
  /// There are fences in the kernel.
  bool isFenced;
  IncomingValues incoming;
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

/// Adds what ends regions of `op`: one of those values it yields.
void SpinFinder::addTerminators(Operation *op) {
  add(op->getOperands());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        add(block.getTerminator()->getOperands());
}

void SpinFinder::addSources(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (argument.getOwner()->isEntryBlock() && parent != loop->op)
    return addTerminators(parent);
  for (const IncomingValue &from : incoming.get(argument))
    add(from.value ? ValueRange(from.value) : from.op->getOperands());
}

Operation *SpinFinder::find() {
  // Other loops iterate as often as was settled before.
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
    else if (canSeeOthers(op, isFenced))
      return op;
    else
      addTerminators(op);
  }
  return nullptr;
}

ThreadWaits::ThreadWaits(Operation *scope, const UniformityAnalysis &block,
                         const KernelLoops &loops,
                         llvm::function_ref<bool(Operation *)> isMet)
    : order(scope) {
  DenseSet<const KernelLoop *> visited;
  auto add = [&](Operation *wait) {
    unsigned from = getStart(wait, loops);
    if (first && from >= start)
      return;
    first = wait;
    start = from;
  };
  bool isFenced = false;
  scope->walk(
      [&](Operation *op) { isFenced |= getOpKind(op) == OpKind::Fence; });
  scope->walk([&](Operation *op) {
    if (isWait(op, block) && !isMet(op))
      add(op);
    const KernelLoop *loop =
        canSeeOthers(op, isFenced) ? loops.getLoop(op) : nullptr;
    for (; loop && visited.insert(loop).second; loop = loop->parent)
      if (Operation *seen = SpinFinder(loop, loops, isFenced).find())
        add(seen);
  });
}

/// The last position that nothing of `wait` comes before: in a loop, what
/// stands before it may come behind it as well.
unsigned ThreadWaits::getStart(Operation *wait,
                               const KernelLoops &loops) const {
  unsigned start = order.getRange(wait).first;
  for (const KernelLoop *loop = loops.getLoop(wait); loop; loop = loop->parent)
    if (loop->op)
      start = order.getRange(loop->op).first;
    else if (auto cycle = order.getCycle(loop->header))
      start = cycle->first - 1; // its first position is in it
  return start;
}

} // namespace mlir::workgroup
