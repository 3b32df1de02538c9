//===- EdgeBlocks.cpp - Blocks for what stands on edges -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EdgeBlocks.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::workgroup {

static bool hasBranches(Operation *root) {
  auto isBranch = [](Block *block) {
    return block->getNumSuccessors() > 1 ? WalkResult::interrupt()
                                         : WalkResult::advance();
  };
  return root->walk(isBranch).wasInterrupted();
}

/// The edges of `root` that `edges`, of what may be a copy of it, stand for.
static SyncEdges getOriginal(const SyncEdges &edges,
                             const InlinedProgram &program) {
  auto getBlock = [&](Block *block) {
    return program.getOriginal(block->getTerminator())->getBlock();
  };
  SyncEdges original;
  original.to = getBlock(edges.to);
  llvm::append_range(original.from, llvm::map_range(edges.from, getBlock));
  return original;
}

/// What barriers of the block, and of warps, may have to stand on.
static std::vector<SyncEdges> findEdges(Operation *root,
                                        const SyncOptions &options) {
  std::vector<SyncEdges> found;
  if (!hasBranches(root))
    return found;
  InlinedProgram program(root);
  SyncAnalyses analyses(program, options);
  for (ArrayRef<Operation *> scopes : program.getScopesByDepth())
    for (Operation *scope : scopes) {
      if (!hasBranches(scope))
        continue;
      KernelSync kernel(scope, analyses);
      for (UniformityUnit unit :
           {UniformityUnit::Block, UniformityUnit::Warp}) {
        SyncTree tree = kernel.makeTree(unit);
        for (const SyncEdges &edges : tree.getEdges())
          found.push_back(getOriginal(edges, program));
      }
    }
  return found;
}

/// Splits the larger sets of edges first: of two sets, one is part of the
/// other, or they have no edge in common.
EdgeBlocks::EdgeBlocks(Operation *root, const SyncOptions &options)
    : rewriter(root->getContext()) {
  std::vector<SyncEdges> found = findEdges(root, options);
  llvm::stable_sort(found, [](const SyncEdges &lhs, const SyncEdges &rhs) {
    return lhs.from.size() > rhs.from.size();
  });
  for (const SyncEdges &edges : found)
    split(edges);
}

/// Calls `visit` for each edge between two blocks: for the branch and the
/// number of the successor that it is.
static void
forEachEdge(Block *from, Block *to,
            llvm::function_ref<void(BranchOpInterface, unsigned)> visit) {
  auto branch = cast<BranchOpInterface>(from->getTerminator());
  for (auto [number, next] : llvm::enumerate(branch->getSuccessors()))
    if (next == to)
      visit(branch, number);
}

/// The block that all of `edges` go to now; null if that is not one block, or
/// they are of other operations than those that do nothing but hand values on.
Block *EdgeBlocks::findTarget(const SyncEdges &edges) const {
  llvm::SetVector<Block *> targets;
  for (Block *from : edges.from) {
    if (!isa<cf::BranchOp, cf::CondBranchOp, cf::SwitchOp>(
            from->getTerminator()))
      return nullptr;
    auto it = moved.find({from, edges.to});
    targets.insert(it == moved.end() ? edges.to : it->second);
  }
  return targets.size() == 1 ? targets.front() : nullptr;
}

/// Has `edges` go to a block of their own first. It is only given what is not
/// the same on all of them: of the rest, as much is known as before.
void EdgeBlocks::split(const SyncEdges &edges) {
  Block *target = findTarget(edges);
  bool isMade = target && llvm::is_contained(blocks, target) &&
                llvm::all_of(target->getPredecessors(), [&](Block *from) {
                  return llvm::is_contained(edges.from, from);
                });
  if (!target || isMade)
    return;
  SmallVector<SmallVector<Value, 2>> handed(target->getNumArguments());
  for (Block *from : edges.from)
    forEachEdge(from, target, [&](BranchOpInterface branch, unsigned number) {
      SuccessorOperands operands = branch.getSuccessorOperands(number);
      for (unsigned i = 0; i < operands.size(); ++i)
        handed[i].push_back(operands[i]);
    });
  Location loc = edges.from.front()->getTerminator()->getLoc();
  Block *block = rewriter.createBlock(target);
  SmallVector<Value> operands;
  for (ArrayRef<Value> values : handed)
    operands.push_back(llvm::all_equal(values)
                           ? values.front()
                           : block->addArgument(values.front().getType(), loc));
  cf::BranchOp::create(rewriter, loc, target, operands);
  for (Block *from : edges.from) {
    forEachEdge(from, target, [&](BranchOpInterface branch, unsigned number) {
      SmallVector<Value> differing;
      SuccessorOperands own = branch.getSuccessorOperands(number);
      for (unsigned i = 0; i < operands.size(); ++i)
        if (operands[i].getParentBlock() == block)
          differing.push_back(own[i]);
      own.getMutableForwardedOperands().assign(differing);
      branch->setSuccessor(block, number);
    });
    moved[{from, edges.to}] = block;
  }
  blocks.push_back(block);
}

/// Has what goes to `block` go to where it goes.
void EdgeBlocks::skip(Block *block) {
  auto last = cast<cf::BranchOp>(block->getTerminator());
  for (Block *from : llvm::to_vector(block->getPredecessors()))
    forEachEdge(from, block, [&](BranchOpInterface branch, unsigned number) {
      SuccessorOperands own = branch.getSuccessorOperands(number);
      SmallVector<Value> operands;
      for (Value value : last.getDestOperands())
        operands.push_back(value.getParentBlock() == block
                               ? own[cast<BlockArgument>(value).getArgNumber()]
                               : value);
      own.getMutableForwardedOperands().assign(operands);
      branch->setSuccessor(last.getDest(), number);
    });
  rewriter.eraseBlock(block);
}

EdgeBlocks::~EdgeBlocks() {
  for (Block *block : llvm::reverse(blocks))
    if (&block->front() == block->getTerminator())
      skip(block);
}

} // namespace mlir::workgroup
