//===- Requirements.cpp - Extents that have to agree ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structured operation reads its operands over common loops, and whoever
// calls it with extents that differ along one of them gets accesses that are
// out of bounds. Extents that have to be equal for a function to have a meaning
// form classes; each time that an operation joins two of them in which there is
// something to compare, there is a requirement.
//
//===----------------------------------------------------------------------===//

#include "Requirements.h"
#include "Records.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

namespace {

/// Finds the requirements of one function.
class RequirementFinder {
public:
  std::vector<Requirement> find(func::FuncOp function);

private:
  /// What an extent can be compared with: one of an argument, or a constant.
  struct Anchor {
    std::optional<ArgumentExtent> extent;
    int64_t constant = 0;
  };

  unsigned makeClass(std::optional<Anchor> anchor);
  unsigned getClass(Value value, int64_t dim);
  unsigned getRoot(unsigned number);
  void join(unsigned lhs, unsigned rhs, Location loc);
  void joinAll(Value lhs, Value rhs, Location loc);
  void joinSize(Value result, int64_t dim, Value size);
  void visitStructured(linalg::LinalgOp op);
  void visitSizes(Value result, ValueRange sizes);
  void visit(Operation *op);

  Block *entry = nullptr;
  DenseMap<std::pair<Value, int64_t>, unsigned> classOf;
  SmallVector<unsigned> parents;
  SmallVector<std::optional<Anchor>> anchors;
  std::vector<Requirement> requirements;
};

} // namespace

unsigned RequirementFinder::makeClass(std::optional<Anchor> anchor) {
  parents.push_back(parents.size());
  anchors.push_back(anchor);
  return parents.back();
}

unsigned RequirementFinder::getRoot(unsigned number) {
  while (parents[number] != number)
    number = parents[number] = parents[parents[number]];
  return number;
}

unsigned RequirementFinder::getClass(Value value, int64_t dim) {
  auto [it, isNew] = classOf.try_emplace({value, dim}, 0);
  if (!isNew)
    return it->second;
  std::optional<Anchor> anchor;
  auto type = cast<ShapedType>(value.getType());
  auto argument = dyn_cast<BlockArgument>(value);
  if (!type.isDynamicDim(dim))
    anchor = Anchor{std::nullopt, type.getDimSize(dim)};
  else if (argument && argument.getOwner() == entry)
    anchor = Anchor{ArgumentExtent{argument.getArgNumber(), dim}};
  return it->second = makeClass(anchor);
}

void RequirementFinder::join(unsigned lhs, unsigned rhs, Location loc) {
  lhs = getRoot(lhs);
  rhs = getRoot(rhs);
  if (lhs == rhs)
    return;
  std::optional<Anchor> first = anchors[lhs], second = anchors[rhs];
  parents[rhs] = lhs;
  anchors[lhs] = first ? first : second;
  if (!first || !second || (!first->extent && !second->extent))
    return;
  if (!second->extent)
    std::swap(first, second);
  requirements.push_back(
      {*second->extent, first->extent, first->constant, loc});
}

/// Joins the extents of two values of one rank.
void RequirementFinder::joinAll(Value lhs, Value rhs, Location loc) {
  auto from = dyn_cast<ShapedType>(lhs.getType()),
       to = dyn_cast<ShapedType>(rhs.getType());
  if (!from || !to || !from.hasRank() || !to.hasRank())
    return;
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    join(getClass(lhs, dim), getClass(rhs, dim), loc);
}

void RequirementFinder::visitStructured(linalg::LinalgOp op) {
  SmallVector<std::optional<unsigned>> loops(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<ShapedType>(operand.get().getType());
    if (!type || !type.hasRank())
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      unsigned number = getClass(operand.get(), dim);
      std::optional<unsigned> &known = loops[loop.getPosition()];
      if (known)
        join(*known, number, op.getLoc());
      else
        known = number;
    }
  }
  for (OpResult result : op->getResults())
    joinAll(op.getDpsInits()[result.getResultNumber()], result, op.getLoc());
}

/// Dimension `dim` of `result` has `size`, which may be that of another value.
void RequirementFinder::joinSize(Value result, int64_t dim, Value size) {
  Value source;
  std::optional<int64_t> index;
  if (auto query = size.getDefiningOp<tensor::DimOp>()) {
    source = query.getSource();
    index = query.getConstantIndex();
  } else if (auto query = size.getDefiningOp<memref::DimOp>()) {
    source = query.getSource();
    index = query.getConstantIndex();
  }
  auto type = source ? dyn_cast<ShapedType>(source.getType()) : ShapedType();
  if (type && type.hasRank() && index && *index >= 0 && *index < type.getRank())
    join(getClass(source, *index), getClass(result, dim), size.getLoc());
}

void RequirementFinder::visitSizes(Value result, ValueRange sizes) {
  auto type = cast<ShapedType>(result.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    joinSize(result, dim, sizes.front());
    sizes = sizes.drop_front();
  }
}

void RequirementFinder::visit(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](linalg::LinalgOp structured) { visitStructured(structured); })
      .Case([&](tensor::EmptyOp empty) {
        visitSizes(empty, empty.getDynamicSizes());
      })
      .Case([&](memref::AllocOp alloc) {
        visitSizes(alloc, alloc.getDynamicSizes());
      })
      .Case<tensor::CastOp, memref::CastOp>([&](auto cast) {
        joinAll(cast.getSource(), cast->getResult(0), cast.getLoc());
      });
}

std::vector<Requirement> RequirementFinder::find(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return {};
  entry = &function.getBody().front();
  // What is in regions may not be executed.
  for (Operation &op : *entry)
    visit(&op);
  return std::move(requirements);
}

llvm::StringMap<std::vector<Requirement>> findRequirements(ModuleOp module) {
  llvm::StringMap<std::vector<Requirement>> found;
  llvm::StringMap<unsigned> numFunctions;
  module.walk([&](func::FuncOp function) {
    ++numFunctions[function.getName()];
    found[function.getName()] = RequirementFinder().find(function);
  });
  for (const auto &entry : numFunctions)
    if (entry.second > 1)
      found.erase(entry.first());
  return found;
}

llvm::json::Array describeRequirements(func::FuncOp function,
                                       ArrayRef<Requirement> requirements) {
  using llvm::json::Array, llvm::json::Object;
  // A schedule may have changed the function.
  auto exists = [&](ArgumentExtent extent) {
    if (extent.argument >= function.getNumArguments())
      return false;
    auto type =
        dyn_cast<MemRefType>(function.getArgument(extent.argument).getType());
    return type && extent.dim < type.getRank();
  };
  Array array;
  for (const Requirement &requirement : requirements) {
    const auto &[extent, other, constant, loc] = requirement;
    if (!exists(extent) || (other && !exists(*other)))
      continue;
    llvm::json::Value equals = constant;
    if (other)
      equals = Array{other->argument, other->dim};
    SourceLocation place = makeLocation(loc);
    array.push_back(
        Object{{"extent", Array{extent.argument, extent.dim}},
               {"equals", std::move(equals)},
               {"loc", Array{place.file, place.line, place.column}}});
  }
  return array;
}

} // namespace mlir::workgroup
