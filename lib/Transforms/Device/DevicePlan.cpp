//===- DevicePlan.cpp - Who uses the buffers of a function ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The uses are collected here; DevicePlanRules.cpp decides by them.
//
//===----------------------------------------------------------------------===//

#include "DevicePlan.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::workgroup {

bool BufferPlan::isLaunched() const {
  return llvm::any_of(
      events, [](const auto &event) { return isLaunchOp(event.first); });
}

bool BufferPlan::isFreed() const {
  return llvm::any_of(
      events, [](const auto &event) { return event.second.host.frees; });
}

DevicePlan::DevicePlan(FunctionOpInterface function,
                       const DeviceArguments &arguments, KernelUses &kernels,
                       bool areDistinct)
    : function(function),
      memory(function, areDistinct,
             [&](Value value) { return arguments.contains(value); }),
      kernels(kernels), plans(memory.getBuffers().size()),
      escaped(memory.getBuffers().size()) {
  collect();
  spreadOverlaps();
  decide();
}

BufferEvent &DevicePlan::getEvent(unsigned number, Operation *op) {
  BufferEvent &event = plans[number].events[op];
  event.op = op;
  return event;
}

/// True if `value` is all of its buffer, in whatever shape.
bool DevicePlan::isWhole(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::MemorySpaceCastOp,
             memref::AssumeAlignmentOp, memref::ExpandShapeOp,
             memref::CollapseShapeOp, memref::TransposeOp>(op))
      break;
    value = getViewedMemory(op);
  }
  Operation *op = value.getDefiningOp();
  return !(op && getViewedMemory(op)) && !memory.isJoined(value);
}

void DevicePlan::collectLaunch(Operation *launch) {
  SetVector<Value> used(launch->operand_begin(), launch->operand_end());
  if (isa<gpu::LaunchOp>(launch))
    getUsedValuesDefinedAbove(launch->getRegions(), used);
  auto async = cast<gpu::AsyncOpInterface>(launch);
  auto outlined = dyn_cast<gpu::LaunchFuncOp>(launch);
  bool isAsync = async.getAsyncToken() ||
                 !async.getAsyncDependencies().empty() ||
                 (outlined && outlined.getAsyncObject());
  for (Value value : used) {
    ArrayRef<unsigned> numbers = memory.getBuffers(value);
    if (numbers.empty())
      continue;
    MemoryUse use = kernels.get(launch, value);
    for (unsigned number : numbers) {
      getEvent(number, launch).device |= use;
      if (isAsync)
        leave(number,
              "a launch of it is asynchronous; allocate first, and run "
              "gpu-async-region then",
              launch);
    }
    if (memory.isJoined(value))
      joinedOnDevice.insert(memory.getFamily(numbers.front()));
  }
}

/// True if `op` may go on when the host does.
static bool isAsynchronous(Operation *op) {
  auto async = dyn_cast<gpu::AsyncOpInterface>(op);
  return async &&
         (async.getAsyncToken() || !async.getAsyncDependencies().empty());
}

/// True if `op`, which gives no view, makes a number or something else of its
/// operands that may stand for their memory.
static bool isAddress(Operation *op) {
  return isMemoryEffectFree(op) && op->getNumResults() &&
         !isa<memref::DimOp, memref::RankOp, RegionBranchOpInterface,
              CallOpInterface>(op);
}

void DevicePlan::collectHostUse(OpOperand &operand) {
  Operation *op = operand.getOwner();
  Value value = operand.get();
  ArrayRef<unsigned> numbers = memory.getBuffers(value);
  if (numbers.empty())
    return;
  if (!getNextValues(operand).empty())
    return;
  MemoryUse use = getHostUse(operand);
  use.overwrites &= isWhole(value);
  bool isJoined = memory.isJoined(value);
  bool isOnDevice = isJoined && isJoinedFamily(numbers.front());
  for (unsigned number : numbers) {
    if (isa<gpu::HostRegisterOp, gpu::HostUnregisterOp>(op))
      leave(number, "it is registered, so that kernels reach it where it is",
            op);
    else if (isAsynchronous(op))
      leave(number,
            "an operation on it is asynchronous; allocate first, and run "
            "gpu-async-region then",
            op);
    else if (isAddress(op))
      leave(number, "its address is taken", op);
    if (use.keeps)
      escaped.set(number);
    bool isNothing = !use.reads && !use.writes && !use.frees;
    if (isNothing)
      continue;
    BufferEvent &event = getEvent(number, op);
    if (isOnDevice) {
      event.device.reads |= use.reads;
      event.device.writes |= use.writes;
      event.host.frees |= use.frees;
      continue;
    }
    event.host |= use;
    event.undefines |= use.frees && !isJoined && isWhole(value);
    // Whichever it is, the host has to own it.
    if (use.frees && isJoined)
      event.host.writes = event.host.overwrites = true;
  }
  if (isOnDevice && (use.reads || use.writes || use.frees))
    hostUses.push_back(&operand);
}

/// What may access memory that it is not given may access all that others know.
void DevicePlan::collectUnknown() {
  using Kind = HostBuffer::Kind;
  for (auto [number, buffer] : llvm::enumerate(memory.getBuffers())) {
    bool isKnownElsewhere =
        buffer.kind != Kind::Allocation || escaped.test(number);
    if (!isKnownElsewhere || buffer.isConstant() || buffer.isOfDevice)
      continue;
    for (Operation *op : unknownOps) {
      BufferEvent &event = getEvent(number, op);
      event.host.reads = event.host.writes = true;
      event.host.overwrites = false;
    }
  }
}

void DevicePlan::collect() {
  SmallVector<OpOperand *> operands;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isLaunchOp(op)) {
      collectLaunch(op);
      return WalkResult::skip();
    }
    if (mayAccessAnything(op))
      unknownOps.push_back(op);
    for (OpOperand &operand : op->getOpOperands())
      if (isMemoryType(operand.get().getType()))
        operands.push_back(&operand);
    return WalkResult::advance();
  });
  for (OpOperand *operand : operands)
    collectHostUse(*operand);
  collectUnknown();
}

/// What the host does to a buffer it may do to others that overlap it.
void DevicePlan::spreadOverlaps() {
  auto hasEscaped = [&](unsigned number) { return escaped.test(number); };
  SmallVector<SmallVector<BufferEvent>> spread(plans.size());
  for (unsigned to = 0, e = plans.size(); to != e; ++to) {
    if (!plans[to].isLaunched())
      continue;
    for (unsigned from = 0; from != e; ++from)
      if (from != to && memory.mayOverlap(from, to, hasEscaped))
        for (auto &[op, event] : plans[from].events)
          if (event.host.reads || event.host.writes)
            spread[to].push_back(event);
  }
  for (unsigned to = 0, e = plans.size(); to != e; ++to)
    for (const BufferEvent &event : spread[to]) {
      BufferEvent &mine = getEvent(to, event.op);
      mine.host.reads |= event.host.reads;
      mine.host.writes |= event.host.writes;
      mine.host.overwrites = false;
    }
}

bool DevicePlan::isOnDevice(Value value) const {
  ArrayRef<unsigned> numbers = memory.getBuffers(value);
  if (numbers.empty())
    return false;
  if (memory.isJoined(value))
    return isJoinedFamily(numbers.front()) &&
           llvm::all_of(numbers, [&](unsigned number) {
             return plans[number].outcome == Outcome::Moved ||
                    plans[number].outcome == Outcome::Mirrored;
           });
  return plans[numbers.front()].outcome == Outcome::Moved;
}

bool DevicePlan::isJoinedOnDevice(Value value) const {
  ArrayRef<unsigned> numbers = memory.getBuffers(value);
  return numbers.size() == 1 && !memory.isJoined(value) &&
         plans[numbers.front()].outcome == Outcome::Mirrored &&
         isJoinedFamily(numbers.front());
}

} // namespace mlir::workgroup
