//===- HoistCopies.cpp - Copies at the right loop level -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Promotion puts a copy where the operand is used. If its source does not
// change in the loop around it, every iteration fills the buffer with what is
// in it already, and one copy before the loop does.
//
// What a loop accesses is collected once, by the buffers that it accesses: time
// does not grow with the product of copies and accesses.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Memory/BufferFlow.h"
#include "Analysis/Program/OpEffects.h"
#include "CopyShape.h"
#include "FilledCopies.h"
#include "LoopCopies.h"
#include "Support/Remarks.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Target/LaunchLimits.h"
#include "workgroup/Transforms/Copies.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_HOISTCOPIESPASS
#include "workgroup/Transforms/Copies.h.inc"

namespace {

/// A copy to workgroup or private memory in a loop that copies the same
/// elements in every iteration of it.
struct LoopCopy {
  Operation *op;
  Value source;
  Value target;
  LoopLikeOpInterface loop;
  /// The copy, or the outermost of branches around it that do nothing else.
  Operation *unit;
  /// The operations that compute the operands in the loop.
  LoopSlice chain;
  /// Whether operations of the chain read memory, or must not be executed if
  /// the loop has no iteration.
  bool isLoaded = false, mayTrap = false;
  /// Deallocations of the buffer in the loop.
  SmallVector<Operation *> deallocs = {};
};

/// The accesses of the operations in a loop, by root buffers.
struct LoopAccesses {
  using Map = llvm::MapVector<Value, SmallVector<Operation *, 2>>;
  Map read, written;
  /// The roots in either map that are no allocations.
  llvm::SetVector<Value> others;
  /// Atomics, and operations that may access anything.
  SmallVector<Operation *> unknown;
  SmallVector<Operation *> barriers;
};

/// Hoists copies, and remembers what it has seen of loops and kernels.
class Hoister {
public:
  Hoister(MLIRContext *context, int64_t maxBytes)
      : rewriter(context), maxBytes(maxBytes) {}

  /// Hoists the copy that `op` is out of the loop around it; false if it stays.
  bool run(Operation *op);

private:
  StringRef getObstacle(LoopCopy &copy);
  StringRef getObstacleInBody(const LoopCopy &copy);
  const LoopAccesses &getLoopAccesses(Operation *loop);
  bool doesFit(Operation *scope);
  void hoist(LoopCopy &copy);

  IRRewriter rewriter;
  int64_t maxBytes;
  DenseMap<Operation *, std::unique_ptr<LoopAccesses>> accesses;
  DenseMap<Operation *, bool> fits;
};

} // namespace

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

/// The closest loop around `op` in its kernel; null if there is none. Loops
/// over processors have no iterations.
static LoopLikeOpInterface getLoop(Operation *op) {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  Operation *scope = getExecutionScope(op);
  bool isInKernel = loop && scope && scope->isProperAncestor(loop);
  if (!isInKernel ||
      isa<scf::ForallOp, scf::ParallelOp, affine::AffineParallelOp>(
          loop.getOperation()))
    return {};
  return loop;
}

/// `op`, or the outermost branch around it in `loop` that does nothing else.
static Operation *getUnit(Operation *op, Operation *loop) {
  for (;;) {
    auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
    bool isAlone = branch && loop->isProperAncestor(branch) &&
                   branch->getNumResults() == 0 && !branch.elseBlock() &&
                   llvm::all_of(*branch.thenBlock(), [&](Operation &inner) {
                     return &inner == op || isMemoryEffectFree(&inner);
                   });
    if (!isAlone)
      return op;
    op = branch;
  }
}

static bool isBufferAllocation(Operation *op) {
  return isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(op);
}

/// The allocation of the buffer of `copy`; null if it is none.
static Operation *getAllocation(const LoopCopy &copy) {
  Operation *op = getRootBuffer(copy.target).getDefiningOp();
  return isBufferAllocation(op) ? op : nullptr;
}

/// Longer chains of operations than this are not for one copy.
static constexpr unsigned kMaxChainDepth = 256;

/// Adds what computes `value` in the loop to the chain of `copy`. False if it
/// may be another one in each iteration.
static bool addToChain(Value value, LoopCopy &copy, Operation *allocation,
                       unsigned depth = 0) {
  if (!copy.loop->isAncestor(value.getParentRegion()->getParentOp()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || depth > kMaxChainDepth)
    return false;
  if (copy.chain.contains(op))
    return true;
  bool isPlain = op == allocation || isMemoryEffectFree(op);
  if (!isPlain && !hasSingleEffect<MemoryEffects::Read>(op))
    return false;
  for (Value operand : op->getOperands())
    if (!addToChain(operand, copy, allocation, depth + 1))
      return false;
  copy.isLoaded |= !isPlain;
  copy.mayTrap |= isPlain && op != allocation && !isSpeculatable(op);
  copy.chain.insert(op);
  return true;
}

/// True if `memref` is memory of the kernel's.
static bool isStaged(Value memref) {
  return isWorkgroupMemory(memref.getType()) ||
         getMemorySpace(memref) == MemorySpace::Private;
}

/// The copy that `op` is, if it stands in a loop, its target is workgroup or
/// private memory, and it is the same in all iterations.
static std::optional<LoopCopy> matchCopy(Operation *op) {
  std::optional<CopyOperands> operands = getCopyOperands(op);
  if (!operands || !isStaged(operands->target))
    return std::nullopt;
  LoopLikeOpInterface loop = getLoop(op);
  if (!loop)
    return std::nullopt;
  LoopCopy copy{op,   operands->source,  operands->target,
                loop, getUnit(op, loop), {}};
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(copy.unit->getRegions(), captured);
  captured.insert_range(copy.unit->getOperands());
  Operation *allocation = getAllocation(copy);
  for (Value value : captured)
    if (!addToChain(value, copy, allocation))
      return std::nullopt;
  return copy;
}

const LoopAccesses &Hoister::getLoopAccesses(Operation *loop) {
  std::unique_ptr<LoopAccesses> &found = accesses[loop];
  if (found)
    return *found;
  found = std::make_unique<LoopAccesses>();
  auto add = [&](LoopAccesses::Map &map, ArrayRef<Value> memory,
                 Operation *op) {
    for (Value memref : memory) {
      Value root = getRootBuffer(memref);
      map[root].push_back(op);
      if (!isBufferAllocation(root.getDefiningOp()))
        found->others.insert(root);
    }
  };
  loop->walk([&](Operation *op) {
    if (op == loop)
      return;
    std::optional<Accesses> accessed = getAccesses(op);
    // What other threads write may become visible here.
    if (!accessed || getOpKind(op) == OpKind::AtomicAccess) {
      found->unknown.push_back(op);
      return;
    }
    if (isBlockBarrier(op))
      found->barriers.push_back(op);
    add(found->read, accessed->read, op);
    add(found->written, accessed->written, op);
  });
  return *found;
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// True if the buffer of `copy` is another one in each iteration.
static bool isBufferOfIteration(const LoopCopy &copy) {
  Operation *allocation = getAllocation(copy);
  return allocation && copy.chain.contains(allocation);
}

using Condition = function_ref<bool(Operation *)>;

/// True if one of `ops` is in the loop of `copy` beside it, and satisfies
/// `condition`. Copies that were hoisted are in the loop no more.
static bool isAnyBeside(const LoopCopy &copy, ArrayRef<Operation *> ops,
                        Condition condition) {
  return llvm::any_of(ops, [&](Operation *op) {
    return LoopLikeOpInterface(copy.loop)->isProperAncestor(op) &&
           !copy.unit->isAncestor(op) && condition(op);
  });
}

/// True if allocations are known not to be what `root` is.
static bool isNoAllocation(Value root) {
  if (Operation *op = root.getDefiningOp())
    return isa<memref::GetGlobalOp>(op);
  Block *block = cast<BlockArgument>(root).getOwner();
  return block->isEntryBlock() &&
         isa<FunctionOpInterface, gpu::LaunchOp>(block->getParentOp());
}

/// `isAnyBeside` for the operations in `map` that may access `memory`.
static bool mayAccess(const LoopCopy &copy, Value memory,
                      const LoopAccesses &accesses,
                      const LoopAccesses::Map &map, Condition condition) {
  auto isAccessed = [&](Value root) {
    auto *it = map.find(root);
    return it != map.end() && mayAlias(memory, root) &&
           isAnyBeside(copy, it->second, condition);
  };
  Value root = getRootBuffer(memory);
  if (isAccessed(root) || llvm::any_of(accesses.others, isAccessed))
    return true;
  // Allocations are apart from each other.
  return !isBufferAllocation(root.getDefiningOp()) && !isNoAllocation(root) &&
         llvm::any_of(llvm::make_first_range(map), isAccessed);
}

/// The reason why something in the loop forbids to copy before it, or empty.
StringRef Hoister::getObstacleInBody(const LoopCopy &copy) {
  auto isAny = [](Operation *) { return true; };
  auto isBefore = [&](Operation *op) {
    Operation *top = copy.unit->getBlock()->findAncestorOpInBlock(*op);
    return top->isBeforeInBlock(copy.unit);
  };
  LoopLikeOpInterface loop = copy.loop;
  const LoopAccesses &inLoop = getLoopAccesses(loop);
  if (isAnyBeside(copy, inLoop.unknown, isAny))
    return "there is an atomic or an unknown operation in the loop";
  if (isAnyBeside(copy, inLoop.barriers, isBefore))
    return "a barrier comes before it in the iteration";
  if (mayAccess(copy, copy.source, inLoop, inLoop.written, isAny))
    return "the loop may write its source";
  if (mayAccess(copy, copy.target, inLoop, inLoop.written, isAny))
    return "the loop may write to its buffer";
  if (!isBufferOfIteration(copy) &&
      mayAccess(copy, copy.target, inLoop, inLoop.read, isBefore))
    return "the loop may read its buffer before";
  return "";
}

/// The reason why a buffer that is another one in each iteration cannot be a
/// single one, or empty. Collects its deallocations.
static StringRef getObstacleInBuffer(LoopCopy &copy) {
  if (!isBufferOfIteration(copy))
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
        return "the loop hands its buffer on to a later iteration";
      if (!isa<memref::DeallocOp>(user))
        continue;
      if (use.get() != root || user->getBlock() != copy.unit->getBlock())
        return "the loop deallocates its buffer by another name, or not in "
               "every iteration";
      copy.deallocs.push_back(user);
    }
  return "";
}

/// True if the kernel's buffers fit into its memory without sharing bytes,
/// which those of loops can do less once they live longer. Hoisting does not
/// change the answer.
bool Hoister::doesFit(Operation *scope) {
  auto [it, isNew] = fits.try_emplace(scope);
  if (isNew) {
    KernelBuffers memory = collectKernelBuffers(scope);
    it->second = memory.getStaticBytes() <= maxBytes &&
                 memory.windows.empty() && memory.unbounded.empty();
  }
  return it->second;
}

/// True if `loop`, which counts, is known to have an iteration.
static bool hasIteration(Operation *loop) {
  if (auto affine = dyn_cast<affine::AffineForOp>(loop))
    return affine.hasConstantBounds() &&
           affine.getConstantLowerBound() < affine.getConstantUpperBound();
  auto counted = cast<scf::ForOp>(loop);
  std::optional<int64_t> from = getConstantIntValue(counted.getLowerBound());
  std::optional<int64_t> to = getConstantIntValue(counted.getUpperBound());
  return from && to && *from >= 0 && *from < *to;
}

/// The reason why `copy` cannot be done before its loop, or empty.
StringRef Hoister::getObstacle(LoopCopy &copy) {
  if (!isa<scf::ForOp, affine::AffineForOp>(copy.loop.getOperation()))
    return "the loop is not one that counts";
  if (copy.unit->getParentOp() != copy.loop)
    return "it is not executed in every iteration";
  if (copy.isLoaded)
    return "an operand is loaded in the loop";
  if (copy.mayTrap && !hasIteration(copy.loop))
    return "computing its operands may trap, and the loop may have no "
           "iteration";
  if (StringRef why = getObstacleInBody(copy); !why.empty())
    return why;
  if (StringRef why = getObstacleInBuffer(copy); !why.empty())
    return why;
  bool fits = !isWorkgroupMemory(copy.target.getType()) ||
              doesFit(getExecutionScope(copy.op));
  return fits ? "" : "its buffer would live longer than the memory allows";
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

/// A bound of an `affine.for` as a value: the largest result of its map if it
/// is the lower one, else the smallest.
static Value createBound(RewriterBase &rewriter, Location loc, AffineMap map,
                         ValueRange operands, bool isLower) {
  if (map.getNumResults() == 1)
    return affine::AffineApplyOp::create(rewriter, loc, map, operands);
  if (isLower)
    return affine::AffineMaxOp::create(rewriter, loc, map, operands);
  return affine::AffineMinOp::create(rewriter, loc, map, operands);
}

/// Creates the condition for `loop` to have an iteration.
static Value createHasIterations(RewriterBase &rewriter, Operation *loop) {
  Location loc = loop->getLoc();
  auto less = arith::CmpIPredicate::slt;
  if (auto affine = dyn_cast<affine::AffineForOp>(loop)) {
    Value from = createBound(rewriter, loc, affine.getLowerBoundMap(),
                             affine.getLowerBoundOperands(), /*isLower=*/true);
    Value to = createBound(rewriter, loc, affine.getUpperBoundMap(),
                           affine.getUpperBoundOperands(), /*isLower=*/false);
    return arith::CmpIOp::create(rewriter, loc, less, from, to);
  }
  auto counted = cast<scf::ForOp>(loop);
  if (counted.getUnsignedCmp())
    less = arith::CmpIPredicate::ult;
  return arith::CmpIOp::create(rewriter, loc, less, counted.getLowerBound(),
                               counted.getUpperBound());
}

/// Moves `copy` before its loop, where it is done if the loop has an iteration.
void Hoister::hoist(LoopCopy &copy) {
  Operation *loop = copy.loop;
  for (Operation *op : copy.chain)
    rewriter.moveOpBefore(op, loop);
  for (Operation *op : copy.deallocs)
    rewriter.moveOpAfter(op, loop);
  if (hasIteration(loop))
    return rewriter.moveOpBefore(copy.unit, loop);
  rewriter.setInsertionPoint(loop);
  Value hasIterations = createHasIterations(rewriter, loop);
  auto branch = scf::IfOp::create(rewriter, copy.op->getLoc(), hasIterations);
  rewriter.moveOpBefore(copy.unit, branch.thenBlock()->getTerminator());
}

bool Hoister::run(Operation *op) {
  std::optional<LoopCopy> copy = matchCopy(op);
  if (!copy)
    return false;
  if (StringRef why = getObstacle(*copy); !why.empty()) {
    recordRemark(RemarkId::HoistCopies_NotHoisted, op)
        << "copy of the same elements in every iteration of a loop"
        << remark::reason("{0}", why.str());
    return false;
  }
  hoist(*copy);
  recordRemark(RemarkId::HoistCopies_Hoisted, op)
      << "copy hoisted out of a loop that does not change its source";
  return true;
}

LogicalResult hoistCopies(Operation *root, const HoistCopiesOptions &options) {
  SmallVector<Operation *> scopes = collectDeviceScopes(root), copies;
  if (scopes.empty())
    return success();
  int64_t maxBytes = options.maxBytes;
  if (maxBytes == 0) {
    const Chip *chip = resolveChip(scopes.front(), options.chip);
    if (!chip)
      return failure();
    maxBytes = chip->maxWorkgroupBytes;
  }
  Hoister hoister(root->getContext(), maxBytes);
  ArgumentAliases aliases(root, options.assumeDistinctArguments);
  IRRewriter rewriter(root->getContext());
  for (Operation *scope : scopes)
    forwardFills(rewriter, scope, aliases);
  for (Operation *scope : scopes)
    scope->walk([&](Operation *op) {
      if (isa<memref::CopyOp, linalg::CopyOp>(op))
        copies.push_back(op);
    });
  for (Operation *op : copies)
    while (hoister.run(op)) {
    }
  return success();
}

namespace {
struct HoistCopiesPass final : impl::HoistCopiesPassBase<HoistCopiesPass> {
  using HoistCopiesPassBase::HoistCopiesPassBase;

  void runOnOperation() override {
    if (failed(hoistCopies(getOperation(),
                           {assumeDistinctArguments, maxBytes, chip})))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
