//===- ProducerSlice.cpp - What fills rings, by itself --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProducerSlice.h"
#include "Transforms/Copies/MemoryAccesses.h"
#include "workgroup/IR/Workgroup.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

std::string ProducerSlice::add(Operation *op) {
  if (!ops.insert(op).second)
    return "";
  bool isOfRing = isa<PutOp, CommitOp, CopyOp>(op);
  if (!isOfRing && (op->getNumRegions() != 0 || !isMemoryEffectFree(op)))
    return nameInRemark(op) + " feeds copies, and cannot be executed twice";
  if (std::string why = addAround(op); !why.empty())
    return why;
  for (Value operand : op->getOperands())
    if (std::string why = addValue(operand); !why.empty())
      return why;
  return "";
}

/// Adds the loops and branches around `op`.
std::string ProducerSlice::addAround(Operation *op) {
  for (Block *block = op->getBlock(); block != &body;
       block = block->getParentOp()->getBlock()) {
    Operation *around = block->getParentOp();
    if (!isa<scf::ForOp, scf::IfOp>(around))
      return nameInRemark(around) + " is around copies";
    if (!ops.insert(around).second)
      continue;
    size_t numOperands = around->getNumOperands();
    if (auto loop = dyn_cast<scf::ForOp>(around))
      numOperands = loop.getNumControlOperands();
    for (Value operand : around->getOperands().take_front(numOperands))
      if (std::string why = addValue(operand); !why.empty())
        return why;
  }
  return "";
}

std::string ProducerSlice::addValue(Value value) {
  Operation *owner = value.getParentBlock()->getParentOp();
  if (!body.getParentOp()->isProperAncestor(
          value.getDefiningOp() ? value.getDefiningOp() : owner))
    return ""; // of outside, or of the body itself
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(owner);
    if (!loop)
      return "an argument of " + nameInRemark(owner) + " feeds copies";
    if (value == loop.getInductionVar())
      return addAround(&loop.getBody()->front());
    return addCarried(loop, argument.getArgNumber() - 1);
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return addCarried(loop, number);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return addResult(branch, number);
  return isa<RingOp>(op) ? "" : add(op); // a ring is for all warps
}

std::string ProducerSlice::addCarried(scf::ForOp loop, unsigned number) {
  if (!handedOn.insert({loop, number}))
    return "";
  std::string why = addAround(&loop.getBody()->front());
  for (Value value : {loop.getInitArgs()[number],
                      loop.getBody()->getTerminator()->getOperand(number)})
    if (why.empty())
      why = addValue(value);
  return why;
}

std::string ProducerSlice::addResult(scf::IfOp branch, unsigned number) {
  if (!handedOn.insert({branch, number}))
    return "";
  std::string why = addAround(&branch.thenBlock()->front());
  for (Block *block : {branch.thenBlock(), branch.elseBlock()})
    if (why.empty())
      why = addValue(block->getTerminator()->getOperand(number));
  return why;
}

//===----------------------------------------------------------------------===//
// Clone
//===----------------------------------------------------------------------===//

/// The numbers of what `op` carries, or results in.
SmallVector<unsigned> ProducerSlice::getNumbers(Operation *op) const {
  SmallVector<unsigned> numbers;
  for (auto [owner, number] : handedOn)
    if (owner == op)
      numbers.push_back(number);
  llvm::sort(numbers);
  return numbers;
}

/// The operands of the end of `block` with `numbers`.
static SmallVector<Value> getYielded(Block &block, ArrayRef<unsigned> numbers,
                                     IRMapping &mapping) {
  SmallVector<Value> values;
  for (unsigned number : numbers)
    values.push_back(
        mapping.lookupOrDefault(block.getTerminator()->getOperand(number)));
  return values;
}

void ProducerSlice::cloneLoop(scf::ForOp loop, OpBuilder &builder,
                              IRMapping &mapping) const {
  SmallVector<unsigned> numbers = getNumbers(loop);
  SmallVector<Value> initial;
  for (unsigned number : numbers)
    initial.push_back(mapping.lookupOrDefault(loop.getInitArgs()[number]));
  auto clone = scf::ForOp::create(
      builder, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
      mapping.lookupOrDefault(loop.getUpperBound()),
      mapping.lookupOrDefault(loop.getStep()), initial,
      [](OpBuilder &, Location, Value, ValueRange) {}, loop.getUnsignedCmp());
  mapping.map(loop.getInductionVar(), clone.getInductionVar());
  for (auto [i, number] : llvm::enumerate(numbers)) {
    mapping.map(loop.getRegionIterArgs()[number], clone.getRegionIterArgs()[i]);
    mapping.map(loop.getResult(number), clone.getResult(i));
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(clone.getBody());
  cloneBlock(*loop.getBody(), builder, mapping);
  scf::YieldOp::create(builder, loop.getLoc(),
                       getYielded(*loop.getBody(), numbers, mapping));
}

void ProducerSlice::cloneBranch(scf::IfOp branch, OpBuilder &builder,
                                IRMapping &mapping) const {
  SmallVector<unsigned> numbers = getNumbers(branch);
  SmallVector<Type> types;
  for (unsigned number : numbers)
    types.push_back(branch.getResult(number).getType());
  auto clone = scf::IfOp::create(
      builder, branch.getLoc(), types,
      mapping.lookupOrDefault(branch.getCondition()),
      /*addThenBlock=*/true, /*addElseBlock=*/branch.elseBlock() != nullptr);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] : {std::pair(branch.thenBlock(), clone.thenBlock()),
                          std::pair(branch.elseBlock(), clone.elseBlock())}) {
    if (!from)
      continue;
    if (to->mightHaveTerminator())
      to->getTerminator()->erase();
    builder.setInsertionPointToEnd(to);
    cloneBlock(*from, builder, mapping);
    scf::YieldOp::create(builder, branch.getLoc(),
                         getYielded(*from, numbers, mapping));
  }
  for (auto [i, number] : llvm::enumerate(numbers))
    mapping.map(branch.getResult(number), clone.getResult(i));
}

void ProducerSlice::cloneBlock(Block &block, OpBuilder &builder,
                               IRMapping &mapping) const {
  for (Operation &op : block) {
    if (!ops.contains(&op))
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      cloneLoop(loop, builder, mapping);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      cloneBranch(branch, builder, mapping);
    else
      builder.clone(op, mapping);
  }
}

void ProducerSlice::clone(OpBuilder &builder) const {
  IRMapping mapping;
  cloneBlock(body, builder, mapping);
}

} // namespace mlir::workgroup
