//===- BufferUses.cpp - What becomes of the memory behind a value ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A worklist holds pairs of an alias of the buffer and the operation of the
// kernel that its uses count at: the user itself, or the call by which a callee
// gets the buffer. Each use makes further aliases, is a use of the contents, or
// lets the buffer get out of sight. An asynchronous copy is in use up to the
// first wait that is known to cover its group.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Program/OpEffects.h"
#include "BufferFlow.h"
#include "BufferLiveness.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "workgroup/IR/Workgroup.h"

namespace mlir::workgroup {

/// The wait after which `copy` is known to be done, or null. Every thread that
/// copies passes it: it stands in the block of the copy or in one around it.
static Operation *findWait(nvgpu::DeviceAsyncCopyOp copy) {
  // Groups that are committed after the copy, of which the first holds it. The
  // ones of nested operations could only add to it.
  int64_t numGroups = 0;
  for (Operation *op = copy; !isa<FunctionOpInterface, gpu::LaunchOp>(op);
       op = op->getParentOp())
    for (Operation *next = op->getNextNode(); next;
         next = next->getNextNode()) {
      std::optional<AsyncGroup> group = getAsyncGroup(next);
      if (!group || group->engine != AsyncGroup::Copies)
        continue;
      if (group->isCommit)
        ++numGroups;
      else if (numGroups - 1 >= group->numPending)
        return next;
    }
  return nullptr;
}

/// The operation after which `product`, which goes on by itself, is known to be
/// done, or null: in its block or in one around it.
static Operation *findAwait(GroupProductOp product) {
  for (Operation *op = product; !isa<FunctionOpInterface, gpu::LaunchOp>(op);
       op = op->getParentOp())
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
      if (isa<AwaitProductsOp>(next))
        return next;
  return nullptr;
}

namespace {

/// Follows the memory of a buffer through its aliases.
class UseCollector {
public:
  UseCollector(SymbolTableCollection &symbols, DominanceInfo &dominance,
               BufferUses &uses)
      : symbols(symbols), dominance(dominance), uses(uses) {}

  void run(Value buffer, Operation *site);

private:
  void visit(OpOperand &use, Operation *site);
  void visitCall(CallOpInterface call, OpOperand &use, Operation *site);
  void add(ValueRange aliases, Operation *site) {
    for (Value alias : aliases)
      if (isa<BaseMemRefType>(alias.getType()))
        worklist.insert({alias, site});
  }
  void escape(Operation *op, bool isOutOfSight = true) {
    uses.ops.insert(op);
    uses.isOutOfSight |= isOutOfSight;
    if (!uses.escape)
      uses.escape = op;
  }

  SymbolTableCollection &symbols;
  DominanceInfo &dominance;
  BufferUses &uses;
  /// The operation that defines the buffer; null if it is an argument.
  Operation *definition = nullptr;
  /// An alias, and the call by which the kernel gets to it.
  llvm::SmallSetVector<std::pair<Value, Operation *>, 8> worklist;
};

} // namespace

void UseCollector::run(Value buffer, Operation *site) {
  definition = buffer.getDefiningOp();
  worklist.insert({buffer, site});
  for (unsigned i = 0; i < worklist.size(); ++i) {
    auto [alias, at] = worklist[i];
    for (OpOperand &use : alias.getUses())
      visit(use, at);
  }
}

void UseCollector::visit(OpOperand &use, Operation *site) {
  Operation *user = use.getOwner();
  Operation *at = site ? site : user;
  if (isa<memref::DeallocOp, memref::DimOp>(user))
    return; // no access
  if (auto call = dyn_cast<CallOpInterface>(user))
    return visitCall(call, use, site);
  auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(user);
  auto product = dyn_cast<GroupProductOp>(user);
  if (copy || (product && product.getPending() != 0)) {
    Operation *wait = copy ? findWait(copy) : findAwait(product);
    uses.ops.insert(at);
    if (!wait)
      return escape(at, /*isOutOfSight=*/false);
    if (!site)
      uses.ops.insert(wait);
    return;
  }
  if (auto store = dyn_cast<memref::StoreOp>(user);
      store && store.getValueToStore() == use.get())
    return escape(at);
  if (isSynchronousAccess(user)) {
    uses.ops.insert(at);
    return;
  }
  if (definition && isHandedOn(use, definition, dominance))
    uses.carrier = user;
  SmallVector<Value> aliases = getAliases(use);
  if (aliases.empty())
    escape(at);
  add(aliases, site);
}

/// Follows `use` into the arguments of the callee. What the callee returns is
/// out of sight.
void UseCollector::visitCall(CallOpInterface call, OpOperand &use,
                             Operation *site) {
  Operation *at = site ? site : call.getOperation();
  uses.ops.insert(at);
  auto callee = dyn_cast_or_null<FunctionOpInterface>(
      call.resolveCallableInTable(&symbols));
  Region *body = callee ? callee.getCallableRegion() : nullptr;
  auto operands = call.getArgOperands();
  if (!body || body->empty() || operands.empty())
    return escape(at);
  for (auto [operand, argument] : llvm::zip(operands, body->getArguments()))
    if (operand == use.get())
      add(argument, at);
}

void collectBufferUses(Value buffer, Operation *site,
                       SymbolTableCollection &symbols, DominanceInfo &dominance,
                       BufferUses &uses) {
  UseCollector(symbols, dominance, uses).run(buffer, site);
}

} // namespace mlir::workgroup
