//===- InlinedProgram.cpp - Functions in place of calls of them -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//

#include "InlinedProgram.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
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

/// The private device functions that nothing refers to but each other, and what
/// such a function refers to.
static llvm::SetVector<Operation *> findUnreached(Operation *root) {
  llvm::SetVector<Operation *> unreached;
  root->walk([&](FunctionOpInterface function) {
    auto symbol = dyn_cast<SymbolOpInterface>(function.getOperation());
    if (symbol && symbol.isPrivate() && !function.isExternal() &&
        function != root && !isKernel(function) && isDeviceFunction(function))
      unreached.insert(function);
  });
  if (unreached.empty())
    return unreached;
  SymbolTableCollection symbols;
  SymbolUserMap users(symbols, root);
  auto isReached = [&](Operation *function) {
    return llvm::any_of(users.getUsers(function), [&](Operation *user) {
      return !unreached.contains(user->getParentOfType<FunctionOpInterface>());
    });
  };
  while (unreached.remove_if(isReached))
    continue;
  return unreached;
}

InlinedProgram::InlinedProgram(Operation *root, bool isCopied) : root(root) {
  bool hasCalls =
      root->walk([](CallOpInterface) { return WalkResult::interrupt(); })
          .wasInterrupted();
  llvm::SetVector<Operation *> unreached = findUnreached(root);
  if (!hasCalls && unreached.empty() && !isCopied)
    return;
  IRMapping mapping;
  copy = root->clone(mapping);
  this->root = *copy;
  for (Operation *function : unreached) {
    mapping.lookup(function)->erase();
    function->walk([&](Operation *op) { mapping.erase(op); });
  }
  for (auto [original, op] : mapping.getOperationMap())
    originalOf[op] = original;
}

Operation *InlinedProgram::getOriginal(Operation *op) const {
  Operation *original = originalOf.lookup(op);
  return original ? original : op;
}

Operation *InlinedProgram::getSource(Operation *op) const {
  while (Operation *source = copyOf.lookup(op).source)
    op = source;
  return getOriginal(op);
}

/// The calls that `op` stands in place of, innermost first: of a function into
/// which others were put before, those of these.
SmallVector<const InlinedProgram::Expansion *>
InlinedProgram::getExpansions(Operation *op) const {
  SmallVector<const Expansion *> expansions;
  Copy copy = copyOf.lookup(op);
  if (copy.source)
    expansions = getExpansions(copy.source);
  for (const Expansion *around = copy.expansion; around;
       around = around->parent)
    expansions.push_back(around);
  return expansions;
}

SmallVector<Operation *> InlinedProgram::getPath(Operation *op,
                                                 Operation *function) const {
  SmallVector<Operation *> path = {getSource(op)};
  for (const Expansion *around : getExpansions(op)) {
    if (around->function == function)
      break;
    path.push_back(around->call);
  }
  return path;
}

SmallVector<Operation *> InlinedProgram::getFunctions(Operation *op) const {
  SmallVector<Operation *> functions;
  for (const Expansion *around : getExpansions(op))
    functions.push_back(around->function);
  return functions;
}

Operation *InlinedProgram::getCommonFunction(ArrayRef<Operation *> ops) const {
  SmallVector<const Expansion *> common = getExpansions(ops.front());
  for (Operation *op : ops.drop_front()) {
    SmallVector<const Expansion *> around = getExpansions(op);
    llvm::erase_if(common, [&](const Expansion *expansion) {
      return !llvm::is_contained(around, expansion);
    });
  }
  return common.empty() ? nullptr : common.front()->function;
}

/// Replaces `call` by what `block` does.
void InlinedProgram::replace(CallOpInterface call, Block &block) {
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(block.getArguments(), call.getArgOperands());
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping)->walk([&](Operation *inner) {
      inner->setLoc(CallSiteLoc::get(inner->getLoc(), call->getLoc()));
    });
  const Expansion *around = copyOf.lookup(call).expansion;
  expansions.push_back(
      {getOriginal(block.getParentOp()), getSource(call), around});
  for (auto [source, op] : mapping.getOperationMap())
    copyOf[op] = {source, &expansions.back()};
  for (auto [result, value] : llvm::zip_equal(
           call->getResults(), block.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  copyOf.erase(call);
  call->erase();
}

/// Replaces `call`, and the calls in what it calls, but for those of functions
/// in `open`, which it is part of. False if it stays.
bool InlinedProgram::expand(CallOpInterface call,
                            SmallVectorImpl<Operation *> &open) {
  Block *block = getCalledBlock(call);
  if (!block || llvm::is_contained(open, block->getParentOp()))
    return false;
  unsigned size = 0;
  block->walk([&](Operation *) { ++size; });
  if (size > budget)
    return false;
  budget -= size;
  Operation *before = call->getPrevNode(), *behind = call->getNextNode();
  Block *around = call->getBlock();
  open.push_back(block->getParentOp());
  replace(call, *block);
  SmallVector<CallOpInterface> calls;
  for (auto &op : llvm::make_range(before ? std::next(before->getIterator())
                                          : around->begin(),
                                   behind->getIterator()))
    op.walk([&](CallOpInterface inner) { calls.push_back(inner); });
  for (CallOpInterface inner : calls)
    expand(inner, open);
  open.pop_back();
  return true;
}

/// Replaces `call`, which is of `scope`, and remembers what stands in its
/// place.
void InlinedProgram::replace(CallOpInterface call, Operation *scope) {
  Operation *before = call->getPrevNode(), *behind = call->getNextNode();
  Operation *original = getOriginal(call);
  Block *block = call->getBlock();
  SmallVector<Operation *> open = {scope};
  if (!expand(call, open))
    return;
  Operation *start = before ? before->getNextNode() : &block->front();
  for (Operation *op = start; op != behind; op = op->getNextNode())
    op->walk([&](Operation *inner) { startOf[inner] = start; });
  if (start != behind)
    originalOf[start] = original;
}

void InlinedProgram::inlineInto(Operation *scope) {
  SmallVector<CallOpInterface> calls;
  scope->walk([&](CallOpInterface call) { calls.push_back(call); });
  for (CallOpInterface call : calls)
    replace(call, scope);
}

bool InlinedProgram::isSeenAtCalls(Operation *function) const {
  bool isCalled = false;
  auto found = root->walk([&](CallOpInterface call) {
    if (call.resolveCallable() != function)
      return WalkResult::advance();
    isCalled = true;
    bool isOwn = function->isAncestor(call);
    return isOwn || !getCalledBlock(call) ? WalkResult::interrupt()
                                          : WalkResult::advance();
  });
  return isCalled && !found.wasInterrupted();
}

SmallVector<Operation *> InlinedProgram::inlineAll() {
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
  for (Operation *start : starts) {
    inlineInto(start);
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

SmallVector<SmallVector<Operation *>> InlinedProgram::getScopesByDepth() const {
  SmallVector<std::pair<CallOpInterface, FunctionOpInterface>> calls;
  SmallVector<Operation *> scopes = collectDeviceScopes(root, &calls);
  DenseMap<Operation *, SmallVector<Operation *>> calleesOf;
  for (auto [call, callee] : calls)
    calleesOf[getExecutionScope(call)].push_back(callee);
  DenseMap<Operation *, unsigned> depthOf;
  std::function<unsigned(Operation *)> getDepth = [&](Operation *scope) {
    // One that is being asked for calls itself, which does not count.
    if (!depthOf.try_emplace(scope, 0).second)
      return depthOf.lookup(scope);
    unsigned depth = 0;
    for (Operation *callee : calleesOf.lookup(scope))
      depth = std::max(depth, getDepth(callee) + 1);
    return depthOf[scope] = depth;
  };
  SmallVector<SmallVector<Operation *>> groups;
  for (Operation *scope : scopes) {
    unsigned depth = getDepth(scope);
    groups.resize(std::max<size_t>(groups.size(), depth + 1));
    groups[depth].push_back(scope);
  }
  return groups;
}

} // namespace mlir::workgroup
