//===- HoistCopies.cpp - Copies at the right loop level -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Promotion puts a copy where the operand is used. If its source does not
// change in the loop around it, every turn fills the buffer with what is in it
// already, and one copy before the loop does.
//
//===----------------------------------------------------------------------===//

#include "CopyShape.h"
#include "KernelBuffers.h"
#include "LoopCopies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "workgroup/Analysis/BufferAliases.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/Barriers.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Support/Remarks.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Transforms.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_HOISTCOPIESPASS
#include "workgroup/Passes.h.inc"

namespace {

/// A copy to workgroup memory in each turn of a loop.
struct LoopCopy {
  Operation *op;
  Value source;
  Value target;
  scf::ForOp loop;
  /// What computes the operands in the loop.
  LoopSlice chain;
  /// Deallocations of the buffer in the loop.
  SmallVector<Operation *> deallocs;
};

} // namespace

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

/// The copy that `op` is, if it stands in the body of a loop and its target is
/// workgroup memory.
static std::optional<LoopCopy> matchCopy(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!loop)
    return std::nullopt;
  std::optional<CopyOperands> operands = getCopyOperands(op);
  if (!operands || !isWorkgroupMemory(operands->target.getType()))
    return std::nullopt;
  return LoopCopy{op, operands->source, operands->target, loop, {}, {}};
}

/// The allocation of the buffer of `copy`; null if it is none.
static Operation *getAllocation(const LoopCopy &copy) {
  Operation *op = getRootBuffer(copy.target).getDefiningOp();
  return isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(op) ? op : nullptr;
}

/// True if `copy` is the same in all turns. Collects what computes its
/// operands, which will be executed even if the loop has no turn.
static bool isInvariant(LoopCopy &copy) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(copy.op->getRegions(), captured);
  captured.insert_range(copy.op->getOperands());
  Operation *allocation = getAllocation(copy);
  for (Value value : captured)
    if (!addToSlice(value, copy.loop, copy.chain, allocation))
      return false;
  Value turn = copy.loop.getInductionVar();
  return !captured.contains(turn) &&
         llvm::none_of(copy.chain, [&](Operation *op) {
           return llvm::is_contained(op->getOperands(), turn);
         });
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// True if the buffer of `copy` is another one in each turn.
static bool isBufferOfTurn(const LoopCopy &copy) {
  Operation *allocation = getAllocation(copy);
  return allocation && copy.chain.contains(allocation);
}

/// The reason why `op`, in the loop, forbids to copy before it, or empty.
static StringRef getObstacle(Operation *op, LoopCopy &copy) {
  Operation *top = copy.loop.getBody()->findAncestorOpInBlock(*op);
  bool isBefore = top->isBeforeInBlock(copy.op);
  std::optional<Accesses> accesses = getAccesses(op);
  // What other threads write may become visible here.
  if (!accesses || isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(op))
    return "there is an atomic or an unknown operation in the loop";
  if (isBefore && isBlockBarrier(op))
    return "a barrier comes before it in the turn";
  auto mayBeOneOf = [](Value memory, ArrayRef<Value> others) {
    return llvm::any_of(others,
                        [&](Value other) { return mayAlias(memory, other); });
  };
  if (mayBeOneOf(copy.source, accesses->written))
    return "the loop may write its source";
  if (mayBeOneOf(copy.target, accesses->written))
    return "the loop may write to its buffer";
  if (isBefore && !isBufferOfTurn(copy) &&
      mayBeOneOf(copy.target, accesses->read))
    return "the loop may read its buffer before";
  return "";
}

static StringRef getObstacleInBody(LoopCopy &copy) {
  StringRef why;
  copy.loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == copy.op)
      return WalkResult::skip();
    why = getObstacle(op, copy);
    return why.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return why;
}

/// The reason why a buffer that is another one in each turn cannot be a single
/// one, or empty. Collects its deallocations.
static StringRef getObstacleInBuffer(LoopCopy &copy) {
  if (!isBufferOfTurn(copy))
    return "";
  DominanceInfo dominance;
  Value root = getRootBuffer(copy.target);
  llvm::SmallSetVector<Value, 8> aliases;
  aliases.insert(root);
  for (unsigned i = 0; i < aliases.size(); ++i)
    for (OpOperand &use : aliases[i].getUses()) {
      Operation *user = use.getOwner();
      aliases.insert_range(getAliases(use));
      auto store = dyn_cast<memref::StoreOp>(user);
      if (isHandedOn(use, root.getDefiningOp(), dominance) ||
          (store && store.getValueToStore() == use.get()))
        return "the loop hands its buffer on to a later turn";
      if (!isa<memref::DeallocOp>(user))
        continue;
      if (use.get() != root || user->getBlock() != copy.loop.getBody())
        return "the loop deallocates its buffer by another name, or not in "
               "every turn";
      copy.deallocs.push_back(user);
    }
  return "";
}

/// True if the kernel's buffers fit into static memory without sharing bytes,
/// which those of loops can do less once they live longer.
static bool doesFit(Operation *scope) {
  KernelBuffers memory = collectKernelBuffers(scope);
  return memory.getStaticBytes() <= kMaxStaticWorkgroupBytes &&
         memory.windows.empty() && memory.unbounded.empty();
}

/// True if `loop` is known to have a turn.
static bool hasTurn(scf::ForOp loop) {
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> to = getConstantIntValue(loop.getUpperBound());
  return from && to && *from >= 0 && *from < *to;
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

/// Moves `copy` before its loop, where it is done if the loop has a turn.
static void hoist(LoopCopy &copy, RewriterBase &rewriter) {
  for (Operation *op : copy.chain)
    rewriter.moveOpBefore(op, copy.loop);
  for (Operation *op : copy.deallocs)
    rewriter.moveOpAfter(op, copy.loop);
  if (hasTurn(copy.loop))
    return rewriter.moveOpBefore(copy.op, copy.loop);
  scf::ForOp loop = copy.loop;
  rewriter.setInsertionPoint(loop);
  auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                    : arith::CmpIPredicate::slt;
  Value hasTurns =
      arith::CmpIOp::create(rewriter, loop.getLoc(), less, loop.getLowerBound(),
                            loop.getUpperBound());
  auto branch = scf::IfOp::create(rewriter, copy.op->getLoc(), hasTurns);
  rewriter.moveOpBefore(copy.op, branch.thenBlock()->getTerminator());
}

/// Hoists the copy that `op` is out of the loop around it; false if it stays.
static bool tryToHoist(Operation *op, RewriterBase &rewriter) {
  std::optional<LoopCopy> copy = matchCopy(op);
  if (!copy || !isInvariant(*copy))
    return false;
  StringRef why = getObstacleInBody(*copy);
  if (why.empty())
    why = getObstacleInBuffer(*copy);
  if (why.empty() && !doesFit(getExecutionScope(op)))
    why = "its buffer would live longer than the memory allows";
  if (!why.empty()) {
    missedRemark(RemarkSource::HoistCopies, "NotHoisted", op)
        << "copy of the same elements in every turn of a loop"
        << remark::reason("{0}", why.str());
    return false;
  }
  hoist(*copy, rewriter);
  passedRemark(RemarkSource::HoistCopies, "Hoisted", op)
      << "copy hoisted out of a loop that does not change its source";
  return true;
}

void hoistCopies(Operation *root) {
  IRRewriter rewriter(root->getContext());
  SmallVector<Operation *> copies;
  for (Operation *scope : collectDeviceScopes(root))
    scope->walk([&](Operation *op) {
      if (isa<memref::CopyOp, linalg::CopyOp>(op))
        copies.push_back(op);
    });
  for (Operation *op : copies)
    while (tryToHoist(op, rewriter)) {
    }
}

namespace {
struct HoistCopiesPass final : impl::HoistCopiesPassBase<HoistCopiesPass> {
  using HoistCopiesPassBase::HoistCopiesPassBase;

  void runOnOperation() override { hoistCopies(getOperation()); }
};
} // namespace

} // namespace mlir::workgroup
