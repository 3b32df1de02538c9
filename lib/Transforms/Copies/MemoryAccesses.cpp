//===- MemoryAccesses.cpp - What operations read and write ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryAccesses.h"
#include "Analysis/Program/OpEffects.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

/// The memory that an effect of `value` is on: of a tensor map, that of which
/// it was made in sight. Null if that is not known.
static Value getAccessed(Value value) {
  if (auto map = value.getDefiningOp<nvgpu::TmaCreateDescriptorOp>())
    return map.getTensor();
  return isa<BaseMemRefType>(value.getType()) ? value : Value();
}

std::optional<Accesses> getAccesses(Operation *op) {
  Accesses accesses;
  if (isTransparent(op) || isBlockBarrier(op))
    return accesses;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface) {
    bool isControl = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                     op->hasTrait<OpTrait::IsTerminator>();
    return isControl ? std::optional(accesses) : std::nullopt;
  }
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    bool isRead = isa<MemoryEffects::Read>(effect.getEffect());
    SmallVector<Value> &accessed = isRead ? accesses.read : accesses.written;
    Value value = effect.getValue();
    if (Value memory = value ? getAccessed(value) : Value())
      accessed.push_back(memory);
    else if (!value && getOpKind(op) == OpKind::WarpAccess)
      llvm::copy_if(
          op->getOperands(), std::back_inserter(accessed),
          [](Value operand) { return isa<BaseMemRefType>(operand.getType()); });
    else
      return std::nullopt;
  }
  return accesses;
}

/// True if `op` itself may write `memref` or, unless `onlyWrites`, read it.
static bool mayAccess(Operation *op, Value memref,
                      const ArgumentAliases &aliases, bool onlyWrites) {
  auto mayAlias = [&](Value other) {
    return isa<BaseMemRefType>(other.getType()) &&
           aliases.mayAlias(other, memref);
  };
  // What a group of asynchronous copies accesses, its copies tell.
  if (std::optional<AsyncGroup> group = getAsyncGroup(op);
      group && !group->isWhole)
    return false;
  if (std::optional<Accesses> accesses = getAccesses(op))
    return llvm::any_of(accesses->written, mayAlias) ||
           (!onlyWrites && llvm::any_of(accesses->read, mayAlias));
  bool isKnown = isa<MemoryEffectOpInterface>(op) ||
                 op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
  return !isKnown || llvm::any_of(op->getOperands(), mayAlias);
}

static bool mayAccessInside(Operation *op, Value memref,
                            const ArgumentAliases &aliases, bool onlyWrites,
                            Operation *except) {
  WalkResult result = op->walk([&](Operation *inner) {
    bool isHarmless =
        inner == except || isMemoryEffectFree(inner) ||
        isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp>(inner) ||
        !mayAccess(inner, memref, aliases, onlyWrites);
    return isHarmless ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result.wasInterrupted();
}

bool mayTouch(Operation *op, Value memref, const ArgumentAliases &aliases,
              Operation *except) {
  return mayAccessInside(op, memref, aliases, /*onlyWrites=*/false, except);
}

bool mayWrite(Operation *op, Value memref, const ArgumentAliases &aliases) {
  return mayAccessInside(op, memref, aliases, /*onlyWrites=*/true,
                         /*except=*/nullptr);
}

std::string nameInRemark(Operation *op) {
  std::string name = ("'" + op->getName().getStringRef() + "'").str();
  if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
    name += " of line " + std::to_string(place.getLine());
  return name;
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// True if `op` is a fence that may be part of how blocks wait for each other:
/// any but one between the proxies of workgroup memory.
static bool isFence(Operation *op) {
  auto fence = dyn_cast<NVVM::FenceProxyOp>(op);
  return fence && fence.getKind() != NVVM::ProxyKind::async_shared;
}

/// True if `op` commits stores by TMA to a group, or waits for groups.
static bool isOfStoreGroups(Operation *op) {
  std::optional<AsyncGroup> group = getAsyncGroup(op);
  return group && group->engine == AsyncGroup::Stores;
}

GlobalWrites::GlobalWrites(Operation *op) {
  op->walk([&](Operation *inner) {
    // What a ring does to its slots touches nothing else, and who waits for
    // products, or for stores by TMA, nothing at all.
    if (inner == op || isBarrierInBlock(inner) ||
        getOpKind(inner) == OpKind::RingUse || isa<AwaitProductsOp>(inner) ||
        isOfStoreGroups(inner))
      return;
    std::optional<Accesses> accesses = getAccesses(inner);
    if (!accesses || isFence(inner) ||
        getOpKind(inner) == OpKind::AtomicAccess) {
      unknown.push_back(inner);
      return;
    }
    for (Value written : accesses->written) {
      MemorySpace space = getMemorySpace(written);
      if (space != MemorySpace::Workgroup && space != MemorySpace::Private)
        writers[getRootBuffer(written)].push_back(inner);
    }
  });
}

Operation *GlobalWrites::findWriter(Value memref,
                                    const ArgumentAliases &aliases) const {
  for (const auto &[root, ops] : writers)
    if (aliases.mayAlias(root, memref))
      return ops.front();
  return nullptr;
}

/// True if `first` may be executed before `second` in the same kernel.
static bool mayPrecede(Operation *first, Operation *second) {
  Operation *scope = getExecutionScope(second);
  for (; second != scope; second = second->getParentOp()) {
    Operation *other = second->getBlock()->findAncestorOpInBlock(*first);
    if (!other)
      continue;
    return other == second || other->isBeforeInBlock(second) ||
           isInLoop(second, scope);
  }
  return true;
}

/// True if `op` is part of asynchronous copies to workgroup memory, and of the
/// way in which the threads of a block wait for them.
static bool isOfCopies(Operation *op) {
  OpKind kind = getOpKind(op);
  std::optional<AsyncGroup> group = getAsyncGroup(op);
  return kind == OpKind::ProxyFence || kind == OpKind::LocalFence ||
         (group && group->engine == AsyncGroup::Copies) ||
         isa<nvgpu::MBarrierInitOp, nvgpu::MBarrierArriveExpectTxOp,
             nvgpu::MBarrierTryWaitParityOp, nvgpu::TmaAsyncLoadOp>(op);
}

Operation *
GlobalWrites::findWriterBefore(Operation *op, Value memref,
                               const ArgumentAliases &aliases) const {
  for (Operation *other : unknown)
    if (!isOfCopies(other) && mayPrecede(other, op))
      return other;
  for (const auto &[root, ops] : writers) {
    if (!aliases.mayAlias(root, memref))
      continue;
    for (Operation *writer : ops)
      if (mayPrecede(writer, op))
        return writer;
  }
  return nullptr;
}

Operation *KernelWrites::findWriterBefore(Operation *op, Value memref,
                                          const ArgumentAliases &aliases) {
  Operation *scope = getExecutionScope(op);
  if (!isKernel(scope))
    return scope;
  std::unique_ptr<GlobalWrites> &known = writes[scope];
  if (!known)
    known = std::make_unique<GlobalWrites>(scope);
  return known->findWriterBefore(op, memref, aliases);
}

} // namespace mlir::workgroup
