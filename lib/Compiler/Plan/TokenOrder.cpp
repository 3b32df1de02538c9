//===- TokenOrder.cpp - Asynchronous operations in one order --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk in the order of the program keeps the operations that nobody has
// waited for. Loops are walked through twice: what an iteration leaves behind
// meets the next one, in which its tokens are others.
//
//===----------------------------------------------------------------------===//

#include "TokenOrder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::workgroup {

namespace {

struct Touch {
  Value root;
  bool isWrite;
};

struct Pending {
  Operation *op;
  /// Of an iteration before: its token is no longer there.
  bool isOld = false;
};

class TokenWalker {
public:
  std::optional<TokenConflict> walk(Region &region);

private:
  std::optional<TokenConflict> visit(Operation *op);
  std::optional<TokenConflict> visitLoop(Operation *op);
  std::optional<TokenConflict> meet(Operation *op);
  void finish(Value token);

  SmallVector<Pending> pending;
};

} // namespace

static Value getRoot(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// True if `lhs` and `rhs`, which are not views, may be the same memory.
static bool mayBeOne(Value lhs, Value rhs) {
  if (lhs == rhs)
    return true;
  auto isAllocation = [](Value root) {
    Operation *op = root.getDefiningOp();
    return isa_and_nonnull<memref::AllocOp, memref::AllocaOp, gpu::AllocOp>(op);
  };
  auto isArgument = [](Value root) {
    auto argument = dyn_cast<BlockArgument>(root);
    return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  };
  auto leftGlobal = lhs.getDefiningOp<memref::GetGlobalOp>();
  auto rightGlobal = rhs.getDefiningOp<memref::GetGlobalOp>();
  if (leftGlobal && rightGlobal)
    return leftGlobal.getName() == rightGlobal.getName();
  auto isOwn = [&](Value root, Operation *global) {
    return isAllocation(root) || isArgument(root) || global;
  };
  return !isOwn(lhs, leftGlobal) || !isOwn(rhs, rightGlobal);
}

/// The memory that `op` touches by itself.
static SmallVector<Touch> getTouches(Operation *op) {
  SmallVector<Touch> touches;
  auto isMemory = llvm::IsaPred<BaseMemRefType>;
  auto add = [&](Value memory, bool isWrite) {
    touches.push_back({getRoot(memory), isWrite});
  };
  if (auto copy = dyn_cast<gpu::MemcpyOp>(op)) {
    add(copy.getDst(), true);
    add(copy.getSrc(), false);
    return touches;
  }
  if (isa<gpu::MemsetOp, gpu::DeallocOp, gpu::LaunchFuncOp, CallOpInterface>(
          op)) {
    for (Value operand : op->getOperands())
      if (isMemory(operand.getType()))
        add(operand, true);
    return touches;
  }
  if (isa<gpu::AllocOp>(op)) // whoever uses it has it
    return touches;
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (Value value = effect.getValue(); value && isMemory(value.getType()))
      add(value, !isa<MemoryEffects::Read>(effect.getEffect()));
  return touches;
}

/// Calls `visit` for the operation that made `token`, and those that it waited
/// for.
static void forEachBefore(Value token, function_ref<void(Operation *)> visit) {
  SmallVector<Value> left{token};
  DenseSet<Operation *> seen;
  while (!left.empty()) {
    auto async = left.pop_back_val().getDefiningOp<gpu::AsyncOpInterface>();
    if (!async || !seen.insert(async).second)
      continue;
    visit(async);
    llvm::append_range(left, async.getAsyncDependencies());
  }
}

/// The host has waited for `token`.
void TokenWalker::finish(Value token) {
  forEachBefore(token, [&](Operation *done) {
    llvm::erase_if(pending, [&](const Pending &other) {
      return other.op == done && !other.isOld;
    });
  });
}

/// Compares `op` with what is not known to be done.
std::optional<TokenConflict> TokenWalker::meet(Operation *op) {
  SmallVector<Touch> touches = getTouches(op);
  if (touches.empty() || pending.empty())
    return std::nullopt;
  DenseSet<Operation *> before;
  if (auto async = dyn_cast<gpu::AsyncOpInterface>(op))
    for (Value token : async.getAsyncDependencies())
      forEachBefore(token, [&](Operation *other) { before.insert(other); });
  for (const Pending &other : pending) {
    if (!other.isOld && before.contains(other.op))
      continue;
    for (const Touch &lhs : getTouches(other.op))
      for (const Touch &rhs : touches)
        if ((lhs.isWrite || rhs.isWrite) && mayBeOne(lhs.root, rhs.root))
          return TokenConflict{other.op, op};
  }
  return std::nullopt;
}

std::optional<TokenConflict> TokenWalker::visitLoop(Operation *op) {
  for (bool isSecond : {false, true}) {
    for (Region &region : op->getRegions())
      if (auto conflict = walk(region))
        return conflict;
    if (!isSecond)
      for (Pending &other : pending)
        other.isOld |= op->isAncestor(other.op);
  }
  return std::nullopt;
}

std::optional<TokenConflict> TokenWalker::visit(Operation *op) {
  if (isa<LoopLikeOpInterface>(op))
    return visitLoop(op);
  auto async = dyn_cast<gpu::AsyncOpInterface>(op);
  if (async && isa<gpu::WaitOp>(op) && !async.getAsyncToken()) {
    for (Value token : async.getAsyncDependencies())
      finish(token);
    return std::nullopt;
  }
  if (auto conflict = meet(op))
    return conflict;
  if (async && async.getAsyncToken())
    pending.push_back({op});
  else if (async) // the host waits for what it does itself
    for (Value token : async.getAsyncDependencies())
      finish(token);
  for (Region &region : op->getRegions())
    if (auto conflict = walk(region))
      return conflict;
  return std::nullopt;
}

std::optional<TokenConflict> TokenWalker::walk(Region &region) {
  for (Block &block : region)
    for (Operation &op : block)
      if (auto conflict = visit(&op))
        return conflict;
  return std::nullopt;
}

std::optional<TokenConflict> findTokenConflict(func::FuncOp function) {
  return TokenWalker().walk(function.getBody());
}

} // namespace mlir::workgroup
