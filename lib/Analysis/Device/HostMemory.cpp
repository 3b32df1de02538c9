//===- HostMemory.cpp - The buffers of a host function --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostMemory.h"
#include "Analysis/Memory/BufferFlow.h"
#include "Support/IncomingValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

bool isMemoryType(Type type) {
  return isa<BaseMemRefType, nvgpu::TensorMapDescriptorType>(type);
}

Value getViewedMemory(Operation *op) {
  if (auto map = dyn_cast<nvgpu::TmaCreateDescriptorOp>(op))
    return map.getTensor();
  return getViewSource(op);
}

SmallVector<Value> getNextValues(OpOperand &use) {
  Operation *user = use.getOwner();
  if (getViewedMemory(user) == use.get())
    return {user->getResult(0)};
  return getAliases(use);
}

static bool isOfDevice(Value value) {
  if (auto alloc = value.getDefiningOp<gpu::AllocOp>())
    return !alloc.getHostShared();
  auto type = dyn_cast<BaseMemRefType>(value.getType());
  return type && type.getMemorySpace();
}

void HostMemory::addBuffer(Value value) {
  HostBuffer buffer{HostBuffer::Kind::Other, value, nullptr, isOfDevice(value)};
  Operation *op = value.getDefiningOp();
  auto argument = dyn_cast<BlockArgument>(value);
  if (isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(op)) {
    buffer.kind = HostBuffer::Kind::Allocation;
  } else if (argument &&
             isa<FunctionOpInterface>(argument.getOwner()->getParentOp())) {
    buffer.kind = HostBuffer::Kind::Argument;
  } else if (auto get = dyn_cast_or_null<memref::GetGlobalOp>(op)) {
    auto [known, isNew] =
        globals.try_emplace(get.getNameAttr().getAttr(), buffers.size());
    if (!isNew) {
      numbers[value] = {known->second};
      return;
    }
    buffer.kind = HostBuffer::Kind::Global;
    buffer.global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
        get, get.getNameAttr());
  }
  numbers[value] = {unsigned(buffers.size())};
  families.insert(buffers.size());
  buffers.push_back(buffer);
}

void HostMemory::addValue(Value value) {
  Operation *op = value.getDefiningOp();
  if (op)
    if (Value source = getViewedMemory(op);
        source && op->getResult(0) == value) {
      sources[value] = {source};
      return;
    }
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    sources[value] = {select.getTrueValue(), select.getFalseValue()};
    joined.insert(value);
    return;
  }
  addBuffer(value);
}

/// True if `value` is what one of several operations hands on.
static bool isJoin(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return isa<RegionBranchOpInterface>(value.getDefiningOp());
  Operation *parent = argument.getOwner()->getParentOp();
  return !argument.getOwner()->isEntryBlock() ||
         isa<RegionBranchOpInterface>(parent);
}

void HostMemory::collect(FunctionOpInterface function) {
  IncomingValues incoming;
  auto add = [&](Value value) {
    if (!isMemoryType(value.getType()))
      return;
    if (!isJoin(value))
      return addValue(value);
    auto from = incoming.get(value);
    bool isKnown = !from.empty() && llvm::all_of(from, [](const auto &path) {
      return bool(path.value);
    });
    if (!isKnown)
      return addBuffer(value);
    joined.insert(value);
    for (const IncomingValue &path : from)
      sources[value].push_back(path.value);
  };
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function)
      llvm::for_each(op->getResults(), add);
    if (isa<gpu::LaunchOp>(op))
      return WalkResult::skip();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), add);
    return WalkResult::advance();
  });
}

HostMemory::HostMemory(FunctionOpInterface function, bool areDistinct,
                       function_ref<bool(Value)> isOfDevice)
    : areDistinct(areDistinct) {
  collect(function);
  for (HostBuffer &buffer : buffers)
    buffer.isOfDevice |= isOfDevice(buffer.value);
  solve();
}

void HostMemory::solve() {
  llvm::MapVector<Value, SmallVector<Value, 2>> users;
  SmallVector<Value> worklist;
  for (auto &[value, from] : sources)
    for (Value source : from) {
      users[source].push_back(value);
      if (numbers.contains(source))
        worklist.push_back(source);
    }
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    SmallVector<unsigned, 1> known = numbers.lookup(value);
    for (Value user : users.lookup(value)) {
      SmallVector<unsigned, 1> &mine = numbers[user];
      SmallVector<unsigned, 1> all;
      std::set_union(mine.begin(), mine.end(), known.begin(), known.end(),
                     std::back_inserter(all));
      bool isNew = joined.contains(value) && joined.insert(user).second;
      if (all == mine && !isNew)
        continue;
      mine = std::move(all);
      worklist.push_back(user);
    }
  }
  for (auto &[value, all] : numbers)
    for (unsigned number : all)
      families.unionSets(all.front(), number);
}

ArrayRef<unsigned> HostMemory::getBuffers(Value value) const {
  auto it = numbers.find(value);
  return it == numbers.end() ? ArrayRef<unsigned>() : it->second;
}

unsigned HostMemory::getFamily(unsigned buffer) const {
  return families.getLeaderValue(buffer);
}

static bool isNoAlias(const HostBuffer &buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer.value);
  auto function =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : nullptr;
  return function &&
         function.getArgAttr(argument.getArgNumber(),
                             LLVM::LLVMDialect::getNoAliasAttrName());
}

bool HostMemory::mayOverlap(unsigned lhs, unsigned rhs,
                            function_ref<bool(unsigned)> hasEscaped) const {
  if (lhs == rhs)
    return true;
  using Kind = HostBuffer::Kind;
  const HostBuffer *left = &buffers[lhs], *right = &buffers[rhs];
  if (left->isOfDevice || right->isOfDevice)
    return false; // of no concern
  if (isNoAlias(*left) || isNoAlias(*right))
    return false;
  if (left->kind == right->kind && left->kind == Kind::Global)
    return false;
  auto isNamed = [](const HostBuffer *buffer) {
    return buffer->kind == Kind::Argument || buffer->kind == Kind::Global;
  };
  if (isNamed(left) && isNamed(right))
    return !areDistinct;
  // What is allocated here gets elsewhere only if it is passed on, and then
  // comes back as anything but an argument or a global.
  for (auto [own, other] : {std::pair(left, right), std::pair(right, left)})
    if (own->kind == Kind::Allocation)
      return other->kind == Kind::Other && hasEscaped(own == left ? lhs : rhs);
  return true;
}

} // namespace mlir::workgroup
