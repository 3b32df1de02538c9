//===- SyncTreeBuilder.cpp - From a kernel to its tree --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SyncTreeBuilder.h"
#include "Analysis/Program/OpEffects.h"
#include "AsyncGroups.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

SyncTree SyncTreeBuilder::build() {
  tree.part = sync.part;
  tree.stepOf.assign(accesses.getAccesses().size(), 0);
  markRelevant();
  if (Region *body = sync.part ? sync.part : getBody(scope))
    visitRegion(0, *body);
  tree.completions = findCompletions(scope, accesses, sync, tree, waits);
  sortParted();
  findEdges();
  return std::move(tree);
}

bool SyncTreeBuilder::isBarrier(Operation *op) const {
  if (sync.part)
    return sync.isPartBarrier(op);
  bool isOfWarps = sync.unit == UniformityUnit::Warp;
  return isBlockBarrier(op) ||
         (isOfWarps && (isWarpBarrier(op) || sync.isPartBarrier(op)));
}

/// True if the whole block has to get to `op` together, though `op` is not
/// followed as a barrier.
bool SyncTreeBuilder::isMeeting(Operation *op) const {
  auto barrier = dyn_cast<NVVM::BarrierOp>(op);
  return !sync.part && sync.unit == UniformityUnit::Block &&
         (getOpKind(op) == OpKind::BlockExchange ||
          (barrier && !barrier.getNumberOfThreads() && !isBarrier(op)));
}

/// Finds what is worth a node: accesses, barriers, and all around them.
void SyncTreeBuilder::markRelevant() {
  auto mark = [&](Operation *op) {
    for (; op != scope && relevant.insert(op).second; op = op->getParentOp())
      ;
  };
  for (auto [number, access] : llvm::enumerate(accesses.getAccesses())) {
    accessesOf[access.op].push_back(number);
    mark(access.op);
  }
  scope->walk([&](Operation *op) {
    if (isBarrier(op) || isMeeting(op) || isGroupOp(op) ||
        getOpKind(op) == OpKind::ProxyFence)
      mark(op);
  });
}

unsigned SyncTreeBuilder::append(unsigned sequence, SyncNode::Kind kind,
                                 Operation *point) {
  unsigned node = tree.program.append(sequence, kind);
  tree.before.push_back(point);
  if (Operation *start = point ? sync.getStartOfCall(point) : nullptr) {
    tree.program.nodes[node].call =
        calls.try_emplace(start, calls.size()).first->second;
    tree.before[node] = start;
  }
  const KernelLoop *loop =
      point ? sync.loops.getLoopAt(point->getBlock()) : nullptr;
  if (loop && loop != open && !point->getPrevNode())
    tree.atHeaders[node] = loop;
  return node;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void SyncTreeBuilder::addAccesses(unsigned node, Operation *op) {
  for (unsigned access : accessesOf.lookup(op))
    tree.stepOf[access] = node;
}

/// Makes all of `op` and in it part of the step `node`.
void SyncTreeBuilder::addDivergent(unsigned node, Operation *op) {
  op->walk([&](Operation *inner) {
    addAccesses(node, inner);
    if (isGroupOp(inner))
      waits.hiding.insert(node);
    bool isOfWarps = sync.unit == UniformityUnit::Warp;
    bool isMissed =
        isOfWarps ? isWarpBarrier(inner) : isBarrier(inner) || isMeeting(inner);
    if (!isMissed || sync.isDead(inner))
      return;
    if (isOfWarps || sync.part)
      tree.parted.push_back(inner);
    else
      tree.divergentBarriers.push_back(inner);
  });
}

/// A lone barrier of the warp where lanes part, or of a part of the block where
/// its threads do, is missed by some. Where there are several, each lane, or
/// warp, may get to one (PTX ISA, `bar.warp.sync` and `bar.sync a, b`).
void SyncTreeBuilder::sortParted() {
  if (tree.parted.empty())
    return;
  bool isOne = llvm::all_of(tree.parted, [&](Operation *barrier) {
    return barrier->getBlock() == tree.parted.front()->getBlock();
  });
  if (isOne && (sync.part || sync.partsWarps(tree.parted.front())))
    llvm::append_range(tree.divergentBarriers, tree.parted);
  else
    tree.isOpen = true;
}

void SyncTreeBuilder::addStep(unsigned sequence, Operation *op) {
  unsigned node = append(sequence, SyncNode::Step, op);
  if (isGroupOp(op)) {
    waits.ofGroups[op] = node;
    addAccesses(node, op);
    return;
  }
  if (getOpKind(op) == OpKind::ProxyFence)
    tree.fences[node] = op;
  if (isa<nvgpu::MBarrierTryWaitParityOp>(op))
    waits.ofPhases[op] = node;
  if (isa<scf::IfOp>(op))
    tree.divergentBranches.push_back(op);
  if (!isMeeting(op))
    return addDivergent(node, op);
  op->walk([&](Operation *inner) { addAccesses(node, inner); });
  // Barriers of other numbers are waited for by others.
  auto barrier = dyn_cast<NVVM::BarrierOp>(op);
  if (barrier && !sync.block.isUniform(barrier.getBarrierId()))
    tree.divergentBarriers.push_back(op);
}

/// Adds a loop that all threads execute together; false if it is none.
bool SyncTreeBuilder::visitLoop(unsigned sequence, Operation &op) {
  const KernelLoop *loop = sync.loops.getLoopOf(&op);
  auto general = dyn_cast<scf::WhileOp>(op);
  if (!loop || !isa<scf::ForOp, scf::WhileOp, affine::AffineForOp>(op) ||
      !sync.takesOnePath(&op))
    return false;
  unsigned node = append(sequence, SyncNode::Loop, &op);
  unsigned body = addPart(node);
  tree.loopOf[node] = loop;
  tree.program.nodes[node].hasIteration = sync.hasIteration(loop);
  if (general) {
    visitRegion(body, general.getBefore());
    tree.program.nodes[node].exit = tree.program.sequences[body].items.size();
    tree.tests[body] = general.getConditionOp();
    visitRegion(body, general.getAfter());
  } else {
    visitRegion(body, op.getRegion(0));
  }
  return true;
}

unsigned SyncTreeBuilder::addRegion(unsigned branch) {
  unsigned number = tree.program.nodes[branch].parts.size(),
           region = addPart(branch);
  tree.program.sequences[region].isNeverTaken =
      sync.isNeverTaken(tree.branches[branch], number);
  return region;
}

/// Adds a branch that all threads take together; false if it is none.
bool SyncTreeBuilder::visitBranch(unsigned sequence, Operation &op) {
  if (isa<scf::ExecuteRegionOp, memref::AllocaScopeOp>(op)) {
    visitRegion(sequence, op.getRegion(0));
    return true;
  }
  if (!isa<scf::IfOp, scf::IndexSwitchOp, affine::AffineIfOp>(op) ||
      !sync.takesOnePath(&op))
    return false;
  unsigned node = append(sequence, SyncNode::Branch, &op);
  tree.branches[node] = &op;
  for (Region &region :
       op.getRegions()) // an empty region for one that is empty
    visitRegion(addRegion(node), region);
  return true;
}

void SyncTreeBuilder::visitOp(unsigned sequence, Operation &op) {
  if (!isRelevant(&op))
    return;
  if (isBarrier(&op)) {
    unsigned node = append(sequence, SyncNode::Barrier, &op);
    tree.barriers[node] = &op;
    tree.program.nodes[node].isFixed = sync.isPartBarrier(&op);
    return;
  }
  bool isPlain = op.getNumRegions() == 0 || !accessesOf.lookup(&op).empty();
  if (isPlain || !(visitLoop(sequence, op) || visitBranch(sequence, op)))
    addStep(sequence, &op);
}

/// Several branch regions may share what is behind them, but not all regions
/// do: then an operation has no place of its own.
void SyncTreeBuilder::enter(Block *block) {
  if (entered.insert(block).second)
    return;
  tree.shared.insert(block);
  if (hasRelevant(block))
    tree.unstructured = &block->front();
}

void SyncTreeBuilder::visitBlock(unsigned sequence, Block &block) {
  enter(&block);
  for (Operation &op : block)
    visitOp(sequence, op);
}

void SyncTreeBuilder::visitRegion(unsigned sequence, Region &region) {
  if (region.empty())
    return;
  if (region.hasOneBlock()) {
    visitBlock(sequence, region.front());
    tree.ends[sequence] = &region.front().back();
    return;
  }
  const KernelLoop *around = std::exchange(open, nullptr);
  visitBlocks(sequence, &region.front(), nullptr);
  open = around;
}

//===----------------------------------------------------------------------===//
// Branches between blocks
//===----------------------------------------------------------------------===//

bool SyncTreeBuilder::hasRelevant(Block *block) const {
  return llvm::any_of(*block, [&](Operation &op) { return isRelevant(&op); });
}

/// The block where the paths from `block` on meet again; null if they do not.
Block *SyncTreeBuilder::findJoin(Block *block) {
  auto *node = postDominance.getNode(block);
  return node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
}

/// The blocks from `first` on that are reached without `join`.
SmallVector<Block *> SyncTreeBuilder::findBetween(ArrayRef<Block *> first,
                                                  Block *join) {
  llvm::SetVector<Block *> blocks;
  for (Block *block : first)
    if (block != join)
      blocks.insert(block);
  for (unsigned i = 0; i < blocks.size(); ++i)
    for (Block *next : blocks[i]->getSuccessors())
      if (next != join)
        blocks.insert(next);
  return blocks.takeVector();
}

/// Passes `blocks` if there is nothing in them that is worth a node.
bool SyncTreeBuilder::enterIrrelevant(ArrayRef<Block *> blocks) {
  if (llvm::any_of(blocks, [&](Block *block) { return hasRelevant(block); }))
    return false;
  for (Block *block : blocks)
    enter(block);
  return true;
}

/// Makes the blocks from `first` to `join` one step.
void SyncTreeBuilder::visitDivergentBlocks(unsigned sequence,
                                           ArrayRef<Block *> first, Block *join,
                                           Operation *point) {
  SmallVector<Block *> between = findBetween(first, join);
  if (enterIrrelevant(between))
    return;
  unsigned node = append(sequence, SyncNode::Step, point);
  for (Block *block : between) {
    enter(block);
    for (Operation &op : *block)
      addDivergent(node, &op);
  }
}

/// True if every path from `block` on passes `other`.
bool SyncTreeBuilder::mustPass(Block *block, Block *other) {
  while (block && block != other)
    block = findJoin(block);
  return block;
}

/// Adds `loop`, of which all threads take the iterations together. Returns the
/// block behind it; null if it is left in several places, or some iterations do
/// not get to where it is.
Block *SyncTreeBuilder::visitNaturalLoop(unsigned sequence,
                                         const KernelLoop *loop,
                                         Operation *point) {
  Region *region = loop->header->getParent();
  auto isInside = [&](Block *block) {
    return loop->contains(sync.loops.getLoop(block));
  };
  auto isLatch = [&](Block *block) {
    return llvm::is_contained(loop->latches, block);
  };
  Block *exiting = nullptr, *behind = nullptr, *next = nullptr;
  for (Block &block : *region) {
    if (!isInside(&block))
      continue;
    for (Block *successor : block.getSuccessors()) {
      if (isInside(successor))
        continue;
      if (behind && (exiting != &block || behind != successor))
        return nullptr;
      exiting = &block;
      behind = successor;
    }
  }
  if (!exiting || exiting->getNumSuccessors() != 2 ||
      !mustPass(loop->header, exiting) ||
      llvm::any_of(findBetween(loop->header, exiting), isLatch))
    return nullptr;
  next = exiting->getSuccessor(exiting->getSuccessor(0) == behind);

  unsigned node = append(sequence, SyncNode::Loop, point);
  unsigned body = addPart(node);
  tree.loopOf[node] = loop;
  tree.program.nodes[node].hasIteration = sync.hasIteration(loop);
  const KernelLoop *around = std::exchange(open, loop);
  if (exiting != loop->header)
    visitBlocks(body, loop->header, exiting);
  visitBlock(body, *exiting);
  tree.program.nodes[node].exit = tree.program.sequences[body].items.size();
  tree.tests[body] = exiting->getTerminator();
  tree.ends[body] = exiting->getTerminator();
  if (next != loop->header)
    visitBlocks(body, next, loop->header);
  open = around;
  return behind;
}

/// True if threads that enter `loop`, which `blocks` are of, together leave it
/// together.
bool SyncTreeBuilder::goesOnTogether(const KernelLoop *loop,
                                     ArrayRef<Block *> blocks) {
  return llvm::all_of(blocks, [&](Block *block) {
    bool isExiting = llvm::any_of(block->getSuccessors(), [&](Block *next) {
      return !loop->contains(sync.loops.getLoop(next));
    });
    return !loop->contains(sync.loops.getLoop(block)) || !isExiting ||
           sync.takesOnePath(block->getTerminator());
  });
}

/// Adds the natural loop at `block`. Returns what comes behind; null if nothing
/// does, or if it is too entangled.
Block *SyncTreeBuilder::visitLoopAt(unsigned sequence, Block *block,
                                    Operation *point) {
  const KernelLoop *loop = sync.loops.getLoopAt(block);
  Block *join = findJoin(block);
  while (join && loop->contains(sync.loops.getLoop(join)))
    join = findJoin(join);
  SmallVector<Block *> blocks = findBetween(block, join);
  if (enterIrrelevant(blocks))
    return join;
  if (!goesOnTogether(loop, blocks)) {
    visitDivergentBlocks(sequence, block, join, point);
    return join;
  }
  if (Block *behind = visitNaturalLoop(sequence, loop, point))
    return behind;
  tree.unstructured = &block->front();
  return nullptr;
}

/// Adds the branch that ends `block`. Returns where all its paths meet.
Block *SyncTreeBuilder::visitBranches(unsigned sequence, Block *block,
                                      Block *stop) {
  Block *join = findJoin(block);
  SmallVector<Block *> successors = llvm::to_vector(block->getSuccessors());
  if (!sync.takesOnePath(block->getTerminator())) {
    visitDivergentBlocks(sequence, successors, join, block->getTerminator());
    return join;
  }
  SmallVector<Block *> between = findBetween(successors, join ? join : stop);
  if (enterIrrelevant(between))
    return join;
  unsigned node = append(sequence, SyncNode::Branch, block->getTerminator());
  tree.branches[node] = block->getTerminator();
  for (Block *successor : successors)
    visitBlocks(addRegion(node), successor, join ? join : stop);
  return join;
}

/// Adds what is from `block` on until control gets to `stop`.
void SyncTreeBuilder::visitBlocks(unsigned sequence, Block *block,
                                  Block *stop) {
  spans[sequence] = {block, stop};
  // Where something may stand that comes before the next block.
  Operation *point = block ? &block->front() : nullptr;
  for (bool isFirst = true; block && block != stop && !tree.unstructured;
       isFirst = false) {
    const KernelLoop *loop = sync.loops.getLoopAt(block);
    const KernelLoop *around = sync.loops.getLoop(block);
    bool isRepeated = around && !around->isCountable && hasRelevant(block);
    if (isRepeated || (loop && loop == open && !isFirst)) {
      tree.unstructured = &block->front();
      return;
    }
    if (loop && loop != open) {
      block = visitLoopAt(sequence, block, point);
      point = block ? &block->front() : nullptr;
      tree.ends[sequence] = nullptr; // unless a block follows
      continue;
    }
    visitBlock(sequence, *block);
    point = tree.ends[sequence] = block->getTerminator();
    if (block->getNumSuccessors() <= 1) {
      block = block->getNumSuccessors() ? block->getSuccessor(0) : nullptr;
      continue;
    }
    block = visitBranches(sequence, block, stop);
    // What follows may stand at the start of the block that all get to.
    point = block ? &block->front() : nullptr;
    tree.ends[sequence] = nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

/// The edges from the blocks around a loop to its header.
static SyncEdges getEdgesInto(const KernelLoop *loop) {
  SyncEdges edges;
  edges.to = loop->header;
  for (Block *from : llvm::SetVector<Block *>(loop->header->pred_begin(),
                                              loop->header->pred_end()))
    if (!llvm::is_contained(loop->latches, from))
      edges.from.push_back(from);
  return edges;
}

/// Finds the edges for points that have no place.
void SyncTreeBuilder::findEdges() {
  SmallVector<SyncEdges> &all = tree.edges;
  for (auto [node, loop] : tree.atHeaders)
    all.push_back(getEdgesInto(loop));
  for (auto [sequence, span] : spans) {
    auto [first, stop] = span;
    if (tree.ends.lookup(sequence) || !stop || first == stop)
      continue;
    SyncEdges &edges = all.emplace_back();
    edges.to = stop;
    for (Block *block : findBetween(first, stop))
      if (llvm::is_contained(block->getSuccessors(), stop))
        edges.from.push_back(block);
  }
  llvm::erase_if(all, [&](const SyncEdges &edges) {
    return llvm::any_of(
        edges.from, [&](Block *block) { return tree.shared.contains(block); });
  });
}

} // namespace mlir::workgroup
