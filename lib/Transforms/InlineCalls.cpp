//===- InlineCalls.cpp - Functions in place of calls of them --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a copy of a program that is looked at and thrown away: unlike MLIR's
// inliner it needs no dialect to allow it.
//
//===----------------------------------------------------------------------===//

#include "KernelSync.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// The block that can stand in place of `call`; null for none.
static Block *getCalledBlock(CallOpInterface call) {
  Operation *callee = call.resolveCallable();
  Region *body =
      isa_and_nonnull<FunctionOpInterface>(callee) ? getBody(callee) : nullptr;
  // More arguments than operands: memory that a device function has of its own.
  bool isPlain =
      body && body->hasOneBlock() &&
      body->getNumArguments() == call.getArgOperands().size() &&
      body->front().getTerminator()->getNumOperands() == call->getNumResults();
  // So are mbarriers, of which there are as many however often it is called.
  auto isStatic = [](nvgpu::MBarrierCreateOp) {
    return WalkResult::interrupt();
  };
  isPlain = isPlain && !body->walk(isStatic).wasInterrupted();
  return isPlain ? &body->front() : nullptr;
}

/// Replaces `call` by what `block` does. Returns the new operations.
static SmallVector<Operation *> replaceCall(CallOpInterface call,
                                            Block &block) {
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(block.getArguments(), call.getArgOperands());
  SmallVector<Operation *> added;
  for (Operation &op : block.without_terminator()) {
    Operation *clone = builder.clone(op, mapping);
    clone->walk([&](Operation *inner) {
      inner->setLoc(CallSiteLoc::get(inner->getLoc(), call->getLoc()));
    });
    added.push_back(clone);
  }
  for (auto [result, value] : llvm::zip_equal(
           call->getResults(), block.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call->erase();
  return added;
}

/// Replaces the calls inside of `op`; those of `open`, which it is part of, and
/// those beyond `budget` operations stay.
static void inlineInto(Operation *op, SmallVector<Operation *> &open,
                       unsigned &budget) {
  SmallVector<CallOpInterface> calls;
  op->walk([&](CallOpInterface call) { calls.push_back(call); });
  for (CallOpInterface call : calls) {
    Block *block = getCalledBlock(call);
    if (!block || llvm::is_contained(open, block->getParentOp()))
      continue;
    unsigned size = 0;
    block->walk([&](Operation *) { ++size; });
    if (size > budget)
      continue;
    budget -= size;
    open.push_back(block->getParentOp());
    for (Operation *added : replaceCall(call, *block))
      inlineInto(added, open, budget);
    open.pop_back();
  }
}

SmallVector<Operation *> inlineCalls(Operation *root) {
  constexpr unsigned kMaxOps = 1 << 20;
  SmallVector<Operation *> scopes = collectDeviceScopes(root), starts;
  DenseSet<Operation *> called;
  auto collectCalled = [&](Operation *scope) {
    scope->walk(
        [&](CallOpInterface call) { called.insert(call.resolveCallable()); });
  };
  for (Operation *scope : scopes)
    collectCalled(scope);
  llvm::copy_if(scopes, std::back_inserter(starts), [&](Operation *scope) {
    return isKernel(scope) || !called.contains(scope);
  });
  called.clear();
  unsigned budget = kMaxOps;
  for (Operation *start : starts) {
    SmallVector<Operation *> open = {start};
    inlineInto(start, open, budget);
    collectCalled(start);
  }
  // A function that is left in place may call others.
  SmallVector<Operation *> work(called.begin(), called.end());
  while (!work.empty())
    if (Operation *function = work.pop_back_val())
      function->walk([&](CallOpInterface call) {
        if (called.insert(call.resolveCallable()).second)
          work.push_back(call.resolveCallable());
      });
  llvm::erase_if(scopes, [&](Operation *scope) {
    return !llvm::is_contained(starts, scope) && !called.contains(scope);
  });
  return scopes;
}

} // namespace mlir::workgroup
