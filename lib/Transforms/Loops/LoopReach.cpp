//===- LoopReach.cpp - Which threads get to a parallel loop ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopReach.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

DenseSet<Operation *> findHostFunctions(Operation *root) {
  SmallVector<std::pair<CallOpInterface, FunctionOpInterface>> calls;
  DenseSet<Operation *> device, host;
  for (Operation *scope : collectDeviceScopes(root, &calls))
    device.insert(scope);
  for (auto [call, function] : calls)
    device.insert(function);
  SmallVector<Operation *> pending;
  root->walk([&](Operation *op) {
    if (isa<gpu::LaunchOp, gpu::LaunchFuncOp>(op))
      if (auto function = op->getParentOfType<FunctionOpInterface>())
        pending.push_back(function);
  });
  while (!pending.empty()) {
    pending.pop_back_val()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::LaunchOp>(op))
        return WalkResult::skip();
      auto call = dyn_cast<CallOpInterface>(op);
      Operation *callee = call ? call.resolveCallable() : nullptr;
      if (callee && !device.contains(callee) && host.insert(callee).second)
        pending.push_back(callee);
      return WalkResult::advance();
    });
  }
  return host;
}

static bool isOfBlock(ProcessorLevel level) {
  return level == ProcessorLevel::Threads || level == ProcessorLevel::Warps ||
         level == ProcessorLevel::Lanes;
}

/// True for an id that processors of the level do not share. What a warp has in
/// common its lanes share.
static bool isIdOp(Operation *op, ProcessorLevel level) {
  if (level == ProcessorLevel::Blocks)
    return isa<gpu::BlockIdOp, gpu::ClusterIdOp, gpu::GlobalIdOp>(op);
  if (isa<gpu::LaneIdOp, gpu::GlobalIdOp>(op))
    return true;
  if (isa<gpu::SubgroupIdOp>(op))
    return level != ProcessorLevel::Lanes;
  auto thread = dyn_cast<gpu::ThreadIdOp>(op);
  if (!thread)
    return false;
  Operation *scope = getExecutionScope(op);
  return getBlockShape(scope).sizes[unsigned(thread.getDimension())] != 1;
}

/// True for the id of a warp: that of its thread, divided by 32.
static bool isIdOfWarp(Operation *op) {
  auto divided = dyn_cast<arith::DivUIOp>(op);
  auto size = divided ? getConstantIntValue(divided.getRhs()) : std::nullopt;
  return size && *size > 0 && *size % kWarpSize == 0;
}

static bool isIdOfLaunch(BlockArgument argument, ProcessorLevel level) {
  auto launch = dyn_cast<gpu::LaunchOp>(argument.getOwner()->getParentOp());
  if (!launch)
    return false;
  gpu::KernelDim3 ids = level == ProcessorLevel::Blocks ? launch.getBlockIds()
                                                        : launch.getThreadIds();
  return argument == ids.x || argument == ids.y || argument == ids.z;
}

bool LoopReach::isIdOfLoop(BlockArgument argument, ProcessorLevel level) const {
  Operation *op = argument.getOwner()->getParentOp();
  std::optional<ParallelLoop> loop = ParallelLoop::get(op, options);
  if (!loop || argument.getArgNumber() >= loop->targets.size())
    return false;
  const auto &target = loop->targets[argument.getArgNumber()];
  if (!target)
    return false;
  if (!isOfBlock(level) || !isOfBlock(target->level))
    return target->level == level;
  return level != ProcessorLevel::Lanes ||
         target->level != ProcessorLevel::Warps;
}

bool LoopReach::isOfProcessor(Value value, ProcessorLevel level,
                              DenseSet<Value> &visited) const {
  if (!visited.insert(value).second)
    return false;
  auto isAny = [&](ValueRange values) {
    return llvm::any_of(values, [&](Value operand) {
      return isOfProcessor(operand, level, visited);
    });
  };
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    if (isIdOfLaunch(argument, level) || isIdOfLoop(argument, level))
      return true;
    op = argument.getOwner()->getParentOp();
    // The operands of a launch or call are those of the host or caller.
    if (op == getExecutionScope(op))
      return false;
  } else if (isIdOp(op, level)) {
    return true;
  } else if (level == ProcessorLevel::Lanes && isIdOfWarp(op)) {
    return false;
  }
  if (isAny(op->getOperands()))
    return true;
  // What the regions yield, or hand to their next iteration.
  return llvm::any_of(op->getRegions(), [&](Region &region) {
    return llvm::any_of(region, [&](Block &block) {
      return block.mightHaveTerminator() &&
             isAny(block.getTerminator()->getOperands());
    });
  });
}

bool LoopReach::isOfProcessor(Value value, ProcessorLevel level) const {
  DenseSet<Value> visited;
  return isOfProcessor(value, level, visited);
}

Operation *LoopReach::findParting(Operation *op, Operation *scope,
                                  ProcessorLevel level) const {
  for (Operation *around = op->getParentOp(); around && around != scope;
       around = around->getParentOp()) {
    // Of these it is told by itself who executes them.
    if (ParallelLoop::get(around, options))
      continue;
    SmallVector<Value> deciding(around->getOperands());
    // What is carried from iteration to iteration decides of no branch but a
    // `while`'s.
    if (auto loop = dyn_cast<scf::ForOp>(around))
      deciding = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
    else if (auto loop = dyn_cast<scf::WhileOp>(around))
      deciding = {loop.getConditionOp().getCondition()};
    if (llvm::any_of(deciding,
                     [&](Value value) { return isOfProcessor(value, level); }))
      return around;
  }
  return nullptr;
}

/// True for memory of one thread.
static bool isThreadMemory(Value value) {
  if (!isa<BaseMemRefType>(value.getType()))
    return false;
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value.getDefiningOp<memref::AllocaOp>() ||
         getMemorySpace(value) == MemorySpace::Private;
}

bool LoopReach::isOfNoWarp(const ParallelLoop &loop) const {
  constexpr ProcessorLevel level = ProcessorLevel::Warps;
  Operation *scope = getExecutionScope(loop.op);
  if (!loop.goesTo(ProcessorLevel::Lanes) || loop.goesTo(level) ||
      findParting(loop.op, scope, level))
    return false;
  for (Operation *op = loop.op->getParentOp(); op != scope;
       op = op->getParentOp())
    if (auto around = ParallelLoop::get(op, options);
        around && around->goesTo(level))
      return false;
  SetVector<Value> used;
  getUsedValuesDefinedAbove(loop.op->getRegions(), used);
  used.insert_range(loop.op->getOperands());
  loop.op->walk([&](Operation *op) {
    if (isa<gpu::ThreadIdOp, gpu::SubgroupIdOp, gpu::GlobalIdOp>(op))
      used.insert(op->getResult(0));
  });
  // What a thread has alone, each warp may need.
  return llvm::none_of(used, [&](Value value) {
    return isThreadMemory(value) || isOfProcessor(value, level);
  });
}

} // namespace mlir::workgroup
