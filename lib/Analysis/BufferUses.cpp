//===- BufferUses.cpp - What becomes of the memory behind a value ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "workgroup/Analysis/BufferLiveness.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

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
      numGroups += isa<nvgpu::DeviceAsyncCreateGroupOp>(next);
      auto wait = dyn_cast<nvgpu::DeviceAsyncWaitOp>(next);
      if (wait && numGroups - 1 >= int64_t(wait.getNumGroups().value_or(0)))
        return wait;
    }
  return nullptr;
}

/// True if `op` is done with the memory of its operands when it is done, and
/// hands on nothing by which the memory could be found.
static bool isSynchronousAccess(Operation *op) {
  return isa<memref::LoadOp, memref::StoreOp, memref::AtomicRMWOp,
             memref::GenericAtomicRMWOp, memref::CopyOp, memref::PrefetchOp,
             affine::AffineLoadOp, affine::AffineStoreOp,
             affine::AffineVectorLoadOp, affine::AffineVectorStoreOp,
             affine::AffinePrefetchOp, vector::LoadOp, vector::StoreOp,
             vector::MaskedLoadOp, vector::MaskedStoreOp, vector::ExpandLoadOp,
             vector::CompressStoreOp, vector::TransferReadOp,
             vector::TransferWriteOp, vector::GatherOp, vector::ScatterOp,
             gpu::SubgroupMmaLoadMatrixOp, gpu::SubgroupMmaStoreMatrixOp,
             nvgpu::LdMatrixOp, linalg::LinalgOp>(op);
}

bool mayBeInUseAt(BlockArgument argument, Operation *op,
                  DominanceInfo &dominance) {
  Block *block = argument.getOwner();
  Block *at = block->getParent()->findAncestorBlockInRegion(*op->getBlock());
  return at && dominance.dominates(block, at);
}

namespace {

/// Follows the memory of a buffer through its aliases.
class UseCollector {
public:
  UseCollector(SymbolTableCollection &symbols, BufferUses &uses)
      : symbols(symbols), uses(uses) {}

  void run(Value buffer, Operation *site);

private:
  void visit(OpOperand &use, Operation *site);
  void visitCall(CallOpInterface call, OpOperand &use, Operation *site);
  void visitBranch(BranchOpInterface branch, OpOperand &use, Operation *site);
  bool visitRegionFlow(OpOperand &use, Operation *site);
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
  BufferUses &uses;
  DominanceInfo dominance;
  /// Of the buffer; null if it is an argument.
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
  if (isa<arith::SelectOp, memref::ExtractStridedMetadataOp>(user) ||
      getViewSource(user) == use.get())
    return add(user->getResults(), site);
  if (auto call = dyn_cast<CallOpInterface>(user))
    return visitCall(call, use, site);
  if (auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(user)) {
    Operation *wait = findWait(copy);
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
  if (auto branch = dyn_cast<BranchOpInterface>(user))
    return visitBranch(branch, use, site);
  if (!visitRegionFlow(use, site))
    escape(at);
}

/// Follows `use` to the arguments of the block that it is passed to.
void UseCollector::visitBranch(BranchOpInterface branch, OpOperand &use,
                               Operation *site) {
  std::optional<BlockArgument> argument =
      branch.getSuccessorBlockArgument(use.getOperandNumber());
  if (!argument)
    return escape(site ? site : branch.getOperation());
  if (definition && mayBeInUseAt(*argument, definition, dominance))
    uses.carrier = branch;
  add(*argument, site);
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

/// Follows `use` to the arguments and results of a region operation; false if
/// it is not handed on that way.
bool UseCollector::visitRegionFlow(OpOperand &use, Operation *site) {
  Operation *user = use.getOwner();
  bool isTerminator = user->hasTrait<OpTrait::IsTerminator>();
  auto branch = dyn_cast_or_null<RegionBranchOpInterface>(
      isTerminator ? user->getParentOp() : user);
  if (!branch)
    return false;
  bool isNextTurn =
      isTerminator && definition && branch->isAncestor(definition) &&
      branch.isRepetitiveRegion(user->getParentRegion()->getRegionNumber());
  if (isNextTurn)
    uses.carrier = user;
  RegionBranchSuccessorMapping mapping;
  branch.getSuccessorOperandInputMapping(mapping);
  auto it = mapping.find(&use);
  if (it == mapping.end())
    return false;
  add(it->second, site);
  return true;
}

void collectBufferUses(Value buffer, Operation *site,
                       SymbolTableCollection &symbols, BufferUses &uses) {
  UseCollector(symbols, uses).run(buffer, site);
}

} // namespace mlir::workgroup
