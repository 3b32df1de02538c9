//===- Uniformity.cpp - What all threads of a block agree on --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/Uniformity.h"
#include "LaunchValues.h"
#include "OpEffects.h"
#include "WarpRules.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

void Divergence::explain(InFlightDiagnostic &diagnostic) const {
  if (control)
    diagnostic.attachNote(control->getLoc())
        << "threads of one block part here";
  if (source)
    diagnostic.attachNote(source.getLoc())
        << "because this value may differ between them";
  else if (!control)
    diagnostic.attachNote()
        << "it stands in a function that is not known to be called by all "
           "threads of a block together";
}

/// True if `value` is an id of the thread within its block, or a part of one.
static bool isThreadId(Value value) {
  if (Operation *op = value.getDefiningOp()) {
    std::optional<LaunchValue> id = getLaunchValue(op);
    return (id && id->kind == LaunchValue::ThreadId) || isLaneId(op) ||
           isa<gpu::GlobalIdOp, gpu::SubgroupIdOp>(op);
  }
  auto launch = dyn_cast<gpu::LaunchOp>(value.getParentBlock()->getParentOp());
  if (!launch)
    return false;
  gpu::KernelDim3 ids = launch.getThreadIds();
  return value == ids.x || value == ids.y || value == ids.z;
}

bool Divergence::isByThreadId() const { return source && isThreadId(source); }

//===----------------------------------------------------------------------===//
// What single operations do
//===----------------------------------------------------------------------===//

/// True for region operations whose control flow is that of one thread, with
/// operands that either decide it or are forwarded to region arguments.
static bool isStructuredControl(Operation *op) {
  return isa<scf::IfOp, scf::ForOp, scf::WhileOp, scf::IndexSwitchOp,
             scf::ExecuteRegionOp, affine::AffineForOp, affine::AffineIfOp,
             memref::AllocaScopeOp>(op);
}

/// True if the id along `dim` is the same in all threads of the unit.
bool UniformityAnalysis::isUniformThreadId(unsigned dim,
                                           Operation *scope) const {
  if (!isKernel(scope))
    return false;
  BlockShape shape = getBlockShape(scope);
  if (shape.sizes[dim] == 1)
    return true;
  if (unit == UniformityUnit::Block)
    return false;
  int64_t row = 1; // threads after which the id changes
  for (unsigned before = 0; before < dim; ++before)
    row *= shape.sizes[before].value_or(1) % kWarpSize;
  return row % kWarpSize == 0;
}

/// True if `op` gives all threads of the block one number of what they bring.
static bool isReductionOfBlock(Operation *op) {
  auto barrier = dyn_cast<NVVM::BarrierOp>(op);
  return isa<gpu::AllReduceOp>(op) ||
         (barrier && barrier.getReductionOp() && isBlockBarrier(op));
}

/// True if the results of `op`, which has no regions, are uniform whenever all
/// its operands are. Operations of unknown dialects are not, however pure: they
/// may read a thread id.
bool UniformityAnalysis::isUniformFunction(Operation *op) const {
  if (isOfWholeBlock(op) || isa<UnrealizedConversionCastOp>(op) ||
      isReductionOfBlock(op) || isLoadOfParameter(op))
    return true;
  if (std::optional<LaunchValue> id = getLaunchValue(op)) { // of the thread
    auto bounded = dyn_cast<gpu::ThreadIdOp>(op);
    bool isZero = bounded && bounded.getUpperBound() &&
                  bounded.getUpperBound()->getZExtValue() == 1;
    return isZero || isUniformThreadId(id->dim, getExecutionScope(op));
  }
  if (isa<gpu::SubgroupIdOp, gpu::ShuffleOp, gpu::SubgroupReduceOp>(op))
    return unit == UniformityUnit::Warp &&
           (isa<gpu::SubgroupIdOp>(op) || isOfWholeWarp(op));
  if (isa<memref::AllocOp, memref::AllocaOp>(op))
    return isWorkgroupMemory(op->getResult(0).getType());
  return isMemoryEffectFree(op) &&
         isa_and_nonnull<affine::AffineDialect, arith::ArithDialect,
                         complex::ComplexDialect, index::IndexDialect,
                         math::MathDialect, memref::MemRefDialect,
                         vector::VectorDialect>(op->getDialect());
}

/// True if the owner of `use` has the same results in all threads of the unit
/// although the operand differs between them.
bool UniformityAnalysis::isUniformWhatever(OpOperand &use) const {
  Operation *op = use.getOwner();
  if (isReductionOfBlock(op) || isLoadOfParameter(op))
    return true;
  if (unit == UniformityUnit::Warp && isButterfly(op))
    return true;
  return unit == UniformityUnit::Warp && use.getOperandNumber() == 0 &&
         (isOfWholeWarp(op) || isWarpNumber(op));
}

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

UniformityAnalysis::UniformityAnalysis(Operation *root, UniformityUnit unit,
                                       const ArgumentAliases *arguments)
    : unit(unit) {
  SmallVector<std::pair<CallOpInterface, FunctionOpInterface>> calls;
  SmallVector<Operation *> scopes = collectDeviceScopes(root, &calls);
  for (auto [call, callee] : calls)
    callees[call] = callee;
  if (!calls.empty())
    findKnownFunctions(root);
  writes.try_emplace(nullptr);
  for (Operation *scope : scopes)
    collectWrites(scope);
  for (Operation *scope : scopes)
    initialize(scope, arguments);
  propagate();
}

void UniformityAnalysis::findKnownFunctions(Operation *root) {
  if (!root->hasTrait<OpTrait::SymbolTable>())
    return; // any other operation around `root` may call them
  SymbolTableCollection tables;
  SymbolUserMap users(tables, root);
  for (auto [call, callee] : callees) {
    // Others than kernels may call a public function of the host's module.
    bool isVisible = callee->getParentOfType<gpu::GPUModuleOp>() ||
                     SymbolTable::getSymbolVisibility(callee) ==
                         SymbolTable::Visibility::Private;
    if (isVisible && llvm::all_of(users.getUsers(callee), [&](Operation *user) {
          return callees.contains(user);
        }))
      knownFunctions.insert(callee);
  }
}

/// True if `op` writes nothing but mbarriers of nvgpu, which no load can find.
static bool writesNothing(Operation *op) {
  bool isHidden =
      isMBarrierOp(op) && isa<nvgpu::NVGPUDialect>(op->getDialect());
  return isHidden || (isFreeOfAccesses(op) && !isa<memref::DeallocOp>(op));
}

void UniformityAnalysis::collectWrites(Operation *scope) {
  Writes &written = writes[isKernel(scope) ? scope : nullptr];
  scope->walk([&](Operation *op) {
    if (op == scope || callees.contains(op) || writesNothing(op))
      return;
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    if (!interface) {
      // Operations with recursive effects have those of what they hold.
      written.isAnything |=
          !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
          !op->hasTrait<OpTrait::IsTerminator>();
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      if (!isa<MemoryEffects::Write, MemoryEffects::Free>(effect.getEffect()))
        continue;
      Value value = effect.getValue();
      if (value && isa<BaseMemRefType>(value.getType()))
        written.roots.insert(getRootBuffer(value));
      else
        written.isAnything = true;
    }
  });
}

/// True if `op`, in a kernel, loads from memory of the device that neither the
/// kernel nor a function writes.
bool UniformityAnalysis::isInvariantLoad(
    Operation *op, const ArgumentAliases *arguments) const {
  Operation *scope = getExecutionScope(op);
  auto kernel = writes.find(scope);
  if (!isa<memref::LoadOp, vector::LoadOp, affine::AffineLoadOp>(op) ||
      !isKernel(scope) || kernel == writes.end() ||
      getMemorySpace(op->getOperand(0)) != MemorySpace::Global)
    return false;
  const Writes &own = kernel->second;
  const Writes &ofFunctions = writes.find(nullptr)->second;
  auto isWritten = [&](Value root) {
    Value loaded = op->getOperand(0);
    return arguments ? arguments->mayAlias(loaded, root)
                     : mayAlias(loaded, root);
  };
  // What a function gets as an argument may be any memory of its caller.
  return !own.isAnything && !ofFunctions.isAnything &&
         llvm::none_of(own.roots, isWritten) &&
         llvm::none_of(ofFunctions.roots, [](Value root) {
           MemorySpace space = getMemorySpace(root);
           return space == MemorySpace::Global || space == MemorySpace::Other;
         });
}

void UniformityAnalysis::initialize(Operation *scope,
                                    const ArgumentAliases *arguments) {
  Region *body = getBody(scope);
  if (!body)
    return;
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope)) {
    gpu::KernelDim3 ids = launch.getThreadIds();
    for (auto [dim, id] :
         llvm::enumerate(std::array<Value, 3>{ids.x, ids.y, ids.z}))
      if (!isUniformThreadId(dim, launch))
        markDivergent(id, id);
    for (BlockArgument buffer : launch.getPrivateAttributions())
      markDivergent(buffer, buffer);
  } else if (auto function = dyn_cast<gpu::GPUFuncOp>(scope)) {
    for (BlockArgument buffer : function.getPrivateAttributions())
      markDivergent(buffer, buffer);
  }
  if (!isKernel(scope) && !knownFunctions.contains(scope))
    markEntryDivergent(scope, /*call=*/nullptr);
  body->walk([&](Operation *op) { initializeOp(op, arguments); });
}

void UniformityAnalysis::initializeOp(Operation *op,
                                      const ArgumentAliases *arguments) {
  if (isStructuredControl(op))
    return initializeRegionBranch(op);
  if (op->getNumRegions() != 0) {
    // Unknown control flow: whatever it holds and yields is divergent.
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        markBlockDivergent(&block, op, Value());
        for (BlockArgument argument : block.getArguments())
          markDivergent(argument, argument);
      }
    // A reduction over the block gives all threads the same.
    if (!isReductionOfBlock(op))
      markResultsDivergent(op, Value());
    return;
  }
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (auto [index, block] : llvm::enumerate(op->getSuccessors())) {
      SuccessorOperands operands = branch.getSuccessorOperands(index);
      for (auto [i, argument] : llvm::enumerate(block->getArguments())) {
        if (operands.isOperandProduced(i))
          markDivergent(argument, argument);
        else
          flows[&op->getOpOperand(operands.getOperandIndex(i))].push_back(
              argument);
      }
    }
    return;
  }
  if (op->getNumSuccessors() != 0)
    return markUnstructuredDivergent(op, Value()); // forwards unknown values
  if (callees.contains(op))
    return addCall(op);
  if (!isUniformFunction(op) && !isInvariantLoad(op, arguments))
    markResultsDivergent(op, Value());
}

void UniformityAnalysis::initializeRegionBranch(Operation *op) {
  RegionBranchSuccessorMapping mapping;
  cast<RegionBranchOpInterface>(op).getSuccessorOperandInputMapping(mapping);
  for (auto &[operand, inputs] : mapping)
    llvm::append_range(flows[operand], inputs);
}

void UniformityAnalysis::addCall(Operation *op) {
  auto call = cast<CallOpInterface>(op);
  Region *body = getBody(callees.lookup(op));
  MutableOperandRange operands = call.getArgOperandsMutable();
  for (auto [i, argument] : llvm::enumerate(body->getArguments())) {
    if (i >= operands.size())
      break; // attributions of a gpu.func
    flows[&operands[i]].push_back(argument);
  }
  for (Block &block : *body) {
    Operation *end = block.getTerminator();
    if (end->getNumSuccessors() != 0)
      continue;
    for (auto [operand, result] :
         llvm::zip(end->getOpOperands(), op->getResults()))
      flows[&operand].push_back(result);
    callsOfReturns[end].push_back(op);
    if (divergentBlocks.contains(&block))
      markResultsDivergent(op, Value());
  }
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

void UniformityAnalysis::propagate() {
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses())
      visitUse(use);
}

void UniformityAnalysis::visitUse(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto it = flows.find(&use); it != flows.end()) {
    for (Value target : it->second)
      markDivergent(target, use.get());
    return;
  }
  // An operand that is not forwarded decides where control goes.
  if (isStructuredControl(op))
    return markControlDivergent(op, use.get());
  if (isUniformWhatever(use))
    return;
  if (op->getNumSuccessors() > 1)
    return markUnstructuredDivergent(op, use.get());
  if (isa<RegionBranchTerminatorOpInterface>(op) &&
      isStructuredControl(op->getParentOp()))
    return markControlDivergent(op->getParentOp(), use.get());
  markResultsDivergent(op, use.get());
}

void UniformityAnalysis::markDivergent(Value value, Value cause) {
  if (divergentValues.try_emplace(value, cause ? cause : value).second)
    worklist.push_back(value);
}

void UniformityAnalysis::markResultsDivergent(Operation *op, Value cause) {
  for (Value result : op->getResults())
    markDivergent(result, cause);
}

void UniformityAnalysis::markBlockDivergent(Block *block, Operation *control,
                                            Value cause) {
  Divergence divergence{control, cause ? getSource(cause) : Value()};
  if (!divergentBlocks.try_emplace(block, divergence).second)
    return;
  block->walk([&](CallOpInterface call) {
    if (FunctionOpInterface callee = callees.lookup(call))
      markEntryDivergent(callee, call);
  });
  // Threads may come back by different returns.
  if (block->mightHaveTerminator())
    for (Operation *call : callsOfReturns.lookup(block->getTerminator()))
      markResultsDivergent(call, cause);
}

void UniformityAnalysis::markControlDivergent(Operation *op, Value cause) {
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      markBlockDivergent(&block, op, cause);
      for (BlockArgument argument : block.getArguments())
        markDivergent(argument, cause);
    }
  markResultsDivergent(op, cause);
}

/// True if `argument` is given one value by all blocks that are `isFrom`.
static bool isSameFrom(BlockArgument argument,
                       llvm::function_ref<bool(Block *)> isFrom) {
  Value same;
  Block *block = argument.getOwner();
  for (auto it = block->pred_begin(); it != block->pred_end(); ++it) {
    if (!isFrom(*it))
      continue;
    auto end = dyn_cast<BranchOpInterface>((*it)->getTerminator());
    if (!end)
      return false;
    Value given = end.getSuccessorOperands(
        it.getSuccessorIndex())[argument.getArgNumber()];
    if (!given || (same && given != same))
      return false;
    same = given;
  }
  return same != nullptr;
}

void UniformityAnalysis::markUnstructuredDivergent(Operation *branch,
                                                   Value cause) {
  // Threads part at the branch and meet where all paths from it lead. Every
  // block between counts as divergent, and so does every value that it defines,
  // for threads may leave a loop there in different iterations.
  auto *node = postDominance.getNode(branch->getBlock());
  Block *join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
  llvm::SmallSetVector<Block *, 8> reached;
  auto enter = [&](Block *block) {
    for (Block *next : block->getSuccessors())
      if (next != join)
        reached.insert(next);
  };
  enter(branch->getBlock());
  for (unsigned i = 0; i < reached.size(); ++i)
    enter(reached[i]);
  // What a block is given depends on where threads come from, if they bring
  // different values.
  auto isFrom = [&](Block *block) {
    return block == branch->getBlock() || reached.contains(block);
  };
  if (join)
    for (BlockArgument argument : join->getArguments())
      if (!isSameFrom(argument, isFrom))
        markDivergent(argument, cause);
  for (Block *block : reached) {
    markBlockDivergent(block, branch, cause);
    for (BlockArgument argument : block->getArguments())
      markDivergent(argument, cause);
    for (Operation &op : *block)
      markResultsDivergent(&op, cause);
  }
  Operation *parent = branch->getParentOp();
  if (!join && parent && !isa<gpu::LaunchOp, FunctionOpInterface>(parent))
    markResultsDivergent(parent, cause);
}

void UniformityAnalysis::markEntryDivergent(Operation *function,
                                            Operation *call) {
  Region *body = getBody(function);
  if (!body)
    return;
  for (Block &block : *body)
    markBlockDivergent(&block, call, Value());
  // Threads may have come by different calls, with different arguments.
  for (BlockArgument argument : body->getArguments())
    markDivergent(argument, argument);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

Value UniformityAnalysis::getSource(Value value) const {
  while (true) {
    auto it = divergentValues.find(value);
    if (it == divergentValues.end() || it->second == value)
      return value;
    value = it->second;
  }
}

bool UniformityAnalysis::isUniform(Value value) const {
  return !divergentValues.contains(value);
}

std::optional<Divergence> UniformityAnalysis::getDivergence(Value value) const {
  if (isUniform(value))
    return std::nullopt;
  return Divergence{/*control=*/nullptr, getSource(value)};
}

bool UniformityAnalysis::isUniformPoint(Operation *op) const {
  return !getDivergence(op);
}

std::optional<Divergence>
UniformityAnalysis::getDivergence(Operation *op) const {
  for (; op && !isa<gpu::LaunchOp, FunctionOpInterface>(op);
       op = op->getParentOp())
    if (auto it = divergentBlocks.find(op->getBlock());
        it != divergentBlocks.end())
      return it->second;
  return std::nullopt;
}

} // namespace mlir::workgroup
