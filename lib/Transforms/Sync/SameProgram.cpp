//===- SameProgram.cpp - Whether two programs are the same ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both are walked in step. What a value is in the other program is known when
// all of it was walked: blocks may use what stands behind them.
//
//===----------------------------------------------------------------------===//

#include "SameProgram.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::workgroup {

namespace {
class ProgramComparison {
public:
  bool run(Operation *lhs, Operation *rhs) {
    return walk(lhs, rhs) && llvm::all_of(pairs, [&](auto &pair) {
             return haveSameOperands(pair.first, pair.second);
           });
  }

private:
  bool walk(Operation *lhs, Operation *rhs);
  bool walk(Region &lhs, Region &rhs);
  bool walk(Block &lhs, Block &rhs);
  bool haveSameOperands(Operation *lhs, Operation *rhs) const;
  bool isSame(Value lhs, Value rhs) const;

  SmallVector<std::pair<Operation *, Operation *>, 0> pairs;
  DenseMap<Value, Value> values;
  DenseMap<Block *, Block *> blocks;
};
} // namespace

static bool isConstant(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>();
}

/// True if what stands in both operations themselves is the same.
static bool isSameInItself(Operation *lhs, Operation *rhs) {
  return lhs->getName() == rhs->getName() &&
         lhs->getNumOperands() == rhs->getNumOperands() &&
         lhs->getNumRegions() == rhs->getNumRegions() &&
         lhs->getNumSuccessors() == rhs->getNumSuccessors() &&
         llvm::equal(lhs->getResultTypes(), rhs->getResultTypes()) &&
         lhs->getDiscardableAttrDictionary() ==
             rhs->getDiscardableAttrDictionary() &&
         lhs->getName().compareOpProperties(lhs->getPropertiesStorage(),
                                            rhs->getPropertiesStorage());
}

bool ProgramComparison::walk(Operation *lhs, Operation *rhs) {
  if (!isSameInItself(lhs, rhs) || lhs->getLoc() != rhs->getLoc())
    return false;
  pairs.emplace_back(lhs, rhs);
  for (auto [left, right] :
       llvm::zip_equal(lhs->getResults(), rhs->getResults()))
    values[left] = right;
  return llvm::all_of_zip(
      lhs->getRegions(), rhs->getRegions(),
      [&](Region &left, Region &right) { return walk(left, right); });
}

bool ProgramComparison::walk(Region &lhs, Region &rhs) {
  return llvm::all_of_zip(
      lhs, rhs, [&](Block &left, Block &right) { return walk(left, right); });
}

bool ProgramComparison::walk(Block &lhs, Block &rhs) {
  if (!llvm::equal(lhs.getArgumentTypes(), rhs.getArgumentTypes()))
    return false;
  blocks[&lhs] = &rhs;
  for (auto [left, right] :
       llvm::zip_equal(lhs.getArguments(), rhs.getArguments()))
    values[left] = right;
  auto next = rhs.begin();
  auto skipConstants = [&] {
    while (next != rhs.end() && isConstant(&*next))
      ++next;
  };
  for (Operation &op : lhs) {
    if (isConstant(&op))
      continue;
    skipConstants();
    if (next == rhs.end() || !walk(&op, &*next))
      return false;
    ++next;
  }
  skipConstants();
  return next == rhs.end();
}

bool ProgramComparison::isSame(Value lhs, Value rhs) const {
  if (values.lookup(lhs) == rhs)
    return true;
  Operation *left = lhs.getDefiningOp(), *right = rhs.getDefiningOp();
  return left && right && isConstant(left) && isConstant(right) &&
         isSameInItself(left, right);
}

bool ProgramComparison::haveSameOperands(Operation *lhs, Operation *rhs) const {
  return llvm::all_of_zip(
             lhs->getOperands(), rhs->getOperands(),
             [&](Value left, Value right) { return isSame(left, right); }) &&
         llvm::all_of_zip(lhs->getSuccessors(), rhs->getSuccessors(),
                          [&](Block *left, Block *right) {
                            return blocks.lookup(left) == right;
                          });
}

bool areSamePrograms(Operation *lhs, Operation *rhs) {
  return ProgramComparison().run(lhs, rhs);
}

} // namespace mlir::workgroup
