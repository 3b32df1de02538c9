//===- LoopKernels.cpp - Functions of parallel loops ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopKernels.h"
#include "Support/Remarks.h"
#include "Transforms/Loops/HostLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

namespace {

/// Moves a loop into a function.
class LoopOutliner {
public:
  explicit LoopOutliner(Operation *loop);

  void outline(func::FuncOp function, StringRef name);

private:
  void collect(Value value);
  ValueRange getOutputs() const;
  void fill(func::FuncOp kernel);

  Operation *loop;
  llvm::SetVector<Value> captured;
  /// What the function makes for itself, in order.
  llvm::SetVector<Operation *> cloned;
};

} // namespace

/// The tensors that the results of the loop are put into.
ValueRange LoopOutliner::getOutputs() const {
  auto forall = dyn_cast<scf::ForallOp>(loop);
  return forall ? ValueRange(forall.getOutputs()) : ValueRange();
}

/// True for what a kernel makes for itself: numbers that it may know, tensors
/// of no content, and views, behind which it sees that memory is the same.
static bool isMadeInside(Operation *op) {
  if (isa<tensor::EmptyOp>(op))
    return true;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return op->getResult(0).getType().isIntOrIndexOrFloat();
  return isa<ViewLikeOpInterface>(op) && op->getNumResults() == 1 &&
         isa<memref::MemRefDialect>(op->getDialect()) && isPure(op);
}

void LoopOutliner::collect(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isMadeInside(op)) {
    captured.insert(value);
    return;
  }
  if (cloned.contains(op))
    return;
  for (Value operand : op->getOperands())
    collect(operand);
  cloned.insert(op);
}

LoopOutliner::LoopOutliner(Operation *loop) : loop(loop) {
  size_t numBounds = loop->getNumOperands() - getOutputs().size();
  for (Value bound : loop->getOperands().take_front(numBounds))
    collect(bound);
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(loop->getRegions(), used);
  for (Value value : used)
    collect(value);
}

void LoopOutliner::fill(func::FuncOp kernel) {
  Block &entry = kernel.front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  IRMapping mapping;
  mapping.map(captured.getArrayRef(),
              entry.getArguments().take_front(captured.size()));
  for (Operation *op : cloned)
    builder.clone(*op, mapping);
  Operation *inside = builder.clone(*loop, mapping);
  // Each result has a tensor of its own, whatever else is read.
  size_t numOutputs = getOutputs().size();
  size_t first = inside->getNumOperands() - numOutputs;
  for (size_t number = 0; number < numOutputs; ++number)
    inside->setOperand(first + number,
                       entry.getArgument(captured.size() + number));
  func::ReturnOp::create(builder, kernel.getLoc(), inside->getResults());
}

void LoopOutliner::outline(func::FuncOp function, StringRef name) {
  OpBuilder builder(loop);
  SmallVector<Value> arguments = llvm::to_vector(captured);
  for (Value output : getOutputs()) {
    auto empty = output.getDefiningOp<tensor::EmptyOp>();
    arguments.push_back(empty ? builder.clone(*empty)->getResult(0) : output);
  }
  auto type = builder.getFunctionType(TypeRange(ValueRange(arguments)),
                                      loop->getResultTypes());
  auto kernel = func::FuncOp::create(loop->getLoc(), name, type);
  kernel.setPrivate();
  SymbolTable(function->getParentOp())
      .insert(kernel, Block::iterator(function)); // by another name if taken
  kernel.addEntryBlock();
  fill(kernel);
  auto call = func::CallOp::create(builder, loop->getLoc(), kernel, arguments);
  loop->replaceAllUsesWith(call.getResults());
  loop->erase();
}

StringRef getLoopKind(Operation *loop) {
  return isWorkOfThreads(loop) ? "points" : "tiles";
}

Operation *getKernelLoop(func::FuncOp function) {
  if (!function.isPrivate() || !function.getBody().hasOneBlock())
    return nullptr;
  Operation *loop = nullptr;
  for (Operation &op : function.front().without_terminator()) {
    if (isUnmappedLoop(&op) && !loop)
      loop = &op;
    else if (op.getNumRegions() || !isMemoryEffectFree(&op))
      return nullptr;
  }
  if (!loop || function.front().getTerminator()->getOperands() !=
                   ValueRange(loop->getResults()))
    return nullptr;
  auto forall = dyn_cast<scf::ForallOp>(loop);
  auto isDestination = [](Value output) {
    return isa<BlockArgument>(output) && output.hasOneUse();
  };
  bool isPut = !forall || (llvm::all_of(forall.getOutputs(), isDestination) &&
                           areReadsSeparate(forall));
  return isPut && getKernelObstacle(loop).empty() ? loop : nullptr;
}

void formLoopKernels(func::FuncOp function) {
  unsigned number = 0;
  IRRewriter rewriter(function.getContext());
  for (Operation *loop : collectHostLoops(function)) {
    if (!getKernelObstacle(loop).empty())
      continue;
    if (auto forall = dyn_cast<scf::ForallOp>(loop))
      separateReads(rewriter, forall);
    StringRef kind = getLoopKind(loop);
    std::string name =
        llvm::formatv("{0}_{1}_{2}", function.getName(), number++, kind);
    recordRemark(RemarkId::FormKernels_FormedKernel, loop)
        << "a parallel loop became a kernel" << remark::metric("Kernel", name)
        << remark::metric("Operations", kind);
    LoopOutliner(loop).outline(function, name);
  }
}

} // namespace mlir::workgroup
