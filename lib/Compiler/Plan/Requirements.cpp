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
// out of bounds; so does who asks for a slice that is not there. What is surely
// executed says what has to hold of extents and numbers that a function is
// called with. Of those that have to be equal, each is compared with the first.
//
//===----------------------------------------------------------------------===//

#include "Requirements.h"
#include "Compiler/Records/Records.h"
#include "PlanExpressions.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

namespace {

/// Finds what a function requires.
class RequirementFinder {
public:
  explicit RequirementFinder(FunctionRequirements &found) : found(found) {}

  /// Visits the body of `function`, of which `extents` knows the arguments.
  void visitBody(func::FuncOp function, ExtentExpressions &extents);

private:
  AffineExpr getFirst(AffineExpr expr) const;
  void add(AffineExpr left, Requirement::Relation relation, AffineExpr right,
           Location loc, ArrayRef<AffineExpr> trips = {});
  void join(AffineExpr known, AffineExpr other, Location loc);
  void joinAll(Value known, Value other, Location loc);
  SmallVector<AffineExpr> visitLoops(linalg::LinalgOp op);
  void visitWindow(AffineExpr at, ArrayRef<AffineExpr> loops, AffineExpr extent,
                   Location loc);
  void visitStructured(linalg::LinalgOp op);
  void visitSlice(Operation *slice, Value whole);
  void visitInsertion(tensor::InsertSliceOp insert);
  void visitConcat(tensor::ConcatOp concat);
  void visitElementwise(Operation *op);
  void visitCall(func::CallOp call);
  void visitLoop(scf::ForOp loop);
  void visitShape(Operation *op);
  void visit(Operation *op);
  template <typename OpTy>
  void visitReshape(OpTy op, Value collapsed, Value expanded);

  FunctionRequirements &found;
  ExtentExpressions *extents = nullptr;
  DenseMap<AffineExpr, AffineExpr> firstOf;
  SmallVector<func::FuncOp> open;
  /// The number of operations that may be visited yet: functions call
  /// functions.
  unsigned budget = 1 << 14;
};

} // namespace

//===----------------------------------------------------------------------===//
// Requirements
//===----------------------------------------------------------------------===//

AffineExpr RequirementFinder::getFirst(AffineExpr expr) const {
  for (auto it = firstOf.find(expr); it != firstOf.end();
       it = firstOf.find(expr))
    expr = it->second;
  return expr;
}

/// Adds what is true of some calls only. It counts where there are `trips`.
void RequirementFinder::add(AffineExpr left, Requirement::Relation relation,
                            AffineExpr right, Location loc,
                            ArrayRef<AffineExpr> trips) {
  auto simplify = [&](AffineExpr expr) {
    return simplifyAffineExpr(expr, 0, found.symbols.size());
  };
  if (isa<AffineConstantExpr>(simplify(right - left)))
    return;
  left = simplify(left);
  right = simplify(right);
  bool isKnown =
      llvm::any_of(found.requirements, [&](const Requirement &known) {
        return known.left == left && known.relation == relation &&
               known.right == right;
      });
  if (isKnown)
    return;
  Requirement &added = found.requirements.emplace_back(
      Requirement{left, relation, right, loc, {}});
  for (AffineExpr expr : trips)
    if (expr && !isa<AffineConstantExpr>(expr) &&
        !llvm::is_contained(added.trips, expr))
      added.trips.push_back(expr);
}

void RequirementFinder::join(AffineExpr known, AffineExpr other, Location loc) {
  if (!known || !other)
    return;
  known = getFirst(known);
  other = getFirst(other);
  if (known == other)
    return;
  if (isa<AffineConstantExpr>(other))
    std::swap(known, other); // it is what the other one has to be
  add(other, Requirement::Equal, known, loc);
  if (!isa<AffineConstantExpr>(other))
    firstOf[other] = known;
}

/// Joins the extents of two values of one rank.
void RequirementFinder::joinAll(Value known, Value other, Location loc) {
  SmallVector<AffineExpr> from = extents->getExtents(known),
                          to = extents->getExtents(other);
  if (from.size() == to.size())
    for (auto [lhs, rhs] : llvm::zip_equal(from, to))
      join(lhs, rhs, loc);
}

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

/// The trips of each loop, which all operands have to agree on.
SmallVector<AffineExpr> RequirementFinder::visitLoops(linalg::LinalgOp op) {
  SmallVector<AffineExpr> loops(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    SmallVector<AffineExpr> known = extents->getExtents(operand.get());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [at, extent] : llvm::zip(map.getResults(), known)) {
      auto loop = dyn_cast<AffineDimExpr>(at);
      if (!loop || !extent)
        continue;
      AffineExpr &trips = loops[loop.getPosition()];
      join(trips, extent, op.getLoc());
      trips = trips ? trips : extent;
    }
  }
  return loops;
}

/// True if `expr` is largest where all of its dimensions are.
static bool isIncreasing(AffineExpr expr) {
  if (isa<AffineDimExpr>(expr))
    return true;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return binary &&
         (expr.getKind() == AffineExprKind::Add ||
          expr.getKind() == AffineExprKind::Mul) &&
         isIncreasing(binary.getLHS()) && isIncreasing(binary.getRHS());
}

/// The last place of a window is inside of what it moves over.
void RequirementFinder::visitWindow(AffineExpr at, ArrayRef<AffineExpr> loops,
                                    AffineExpr extent, Location loc) {
  if (!extent || !isIncreasing(at))
    return;
  SmallVector<AffineExpr> last;
  bool isKnown = true;
  at.walk([&](AffineExpr part) {
    if (auto loop = dyn_cast<AffineDimExpr>(part))
      isKnown &= loops[loop.getPosition()] != nullptr;
  });
  if (!isKnown)
    return;
  for (AffineExpr trips : loops)
    last.push_back(trips ? trips - 1 : trips);
  AffineExpr needed = at.replaceDims(last) + 1;
  bool isFixed = isa<AffineConstantExpr>(extent);
  add(isFixed ? needed : extent,
      isFixed ? Requirement::AtMost : Requirement::AtLeast,
      isFixed ? extent : needed, loc, loops);
}

void RequirementFinder::visitStructured(linalg::LinalgOp op) {
  SmallVector<AffineExpr> loops = visitLoops(op);
  for (OpOperand &operand : op->getOpOperands()) {
    SmallVector<AffineExpr> known = extents->getExtents(operand.get());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [at, extent] : llvm::zip(map.getResults(), known))
      if (!isa<AffineDimExpr>(at))
        visitWindow(at, loops, extent, op.getLoc());
  }
  // What is not known by itself has the extents that the loops have.
  for (OpResult result : op->getResults()) {
    AffineMap map = op.getIndexingMapMatchingResult(result);
    for (auto [dim, at] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(at);
          loop && !extents->getExtent(result, dim)) {
        SmallVector<AffineExpr> all(map.getNumResults());
        all[dim] = loops[loop.getPosition()];
        extents->setExtents(result, all);
      }
  }
}

void RequirementFinder::visitElementwise(Operation *op) {
  Value first;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      continue;
    if (first)
      joinAll(first, operand, op->getLoc());
    first = first ? first : operand;
  }
}

//===----------------------------------------------------------------------===//
// Parts and other shapes
//===----------------------------------------------------------------------===//

/// The first and the last element of a slice are inside of `whole`.
void RequirementFinder::visitSlice(Operation *slice, Value whole) {
  std::optional<SlicePlace> place = getSlicePlace(slice);
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(place->offsets, place->sizes, place->strides)) {
    AffineExpr first = extents->getNumber(offset);
    AffineExpr extent = extents->getExtent(whole, dim);
    std::optional<int64_t> step = getConstantIntValue(stride);
    if (!first || !step || *step < 0)
      continue;
    Location loc = slice->getLoc();
    AffineExpr taken = extents->getNumber(size);
    add(first, Requirement::AtLeast, extents->getConstant(0), loc, taken);
    AffineExpr steps = addKnown(taken, extents->getConstant(-1));
    AffineExpr end = addKnown(
        addKnown(first, multiplyKnown(steps, extents->getConstant(*step))),
        extents->getConstant(1));
    if (end && extent)
      add(end, Requirement::AtMost, extent, loc, taken);
  }
}

void RequirementFinder::visitInsertion(tensor::InsertSliceOp insert) {
  visitSlice(insert, insert.getDest());
  std::optional<SlicePlace> place = getSlicePlace(insert);
  int64_t kept = 0;
  for (auto [dim, size] : llvm::enumerate(place->sizes))
    if (!place->dropped.test(dim))
      join(extents->getNumber(size),
           extents->getExtent(insert.getSource(), kept++), insert.getLoc());
}

void RequirementFinder::visitConcat(tensor::ConcatOp concat) {
  Value first = concat.getInputs().front();
  int64_t rank = concat.getResultType().getRank();
  for (Value input : concat.getInputs().drop_front())
    for (int64_t dim = 0; dim < rank; ++dim)
      if (static_cast<uint64_t>(dim) != concat.getDim())
        join(extents->getExtent(first, dim), extents->getExtent(input, dim),
             concat.getLoc());
  AffineExpr sum = extents->getConstant(0);
  for (Value input : concat.getInputs())
    sum = addKnown(sum, extents->getExtent(input, concat.getDim()));
  join(extents->getExtent(concat.getResult(), concat.getDim()), sum,
       concat.getLoc());
}

/// As many elements on the one side as on the other.
template <typename OpTy>
void RequirementFinder::visitReshape(OpTy op, Value collapsed, Value expanded) {
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    AffineExpr product = extents->getConstant(1);
    for (int64_t part : group)
      product = multiplyKnown(product, extents->getExtent(expanded, part));
    join(extents->getExtent(collapsed, dim), product, op.getLoc());
  }
}

void RequirementFinder::visitShape(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<tensor::CastOp, memref::CastOp>([&](auto cast) {
        joinAll(cast.getSource(), cast->getResult(0), cast.getLoc());
      })
      .Case<tensor::ExpandShapeOp, memref::ExpandShapeOp>(
          [&](auto op) { visitReshape(op, op.getSrc(), op.getResult()); })
      .Case<tensor::CollapseShapeOp, memref::CollapseShapeOp>(
          [&](auto op) { visitReshape(op, op.getResult(), op.getSrc()); })
      .Case<tensor::ExtractSliceOp, memref::SubViewOp>(
          [&](auto slice) { visitSlice(slice, slice.getSource()); })
      .Case([&](tensor::InsertSliceOp insert) { visitInsertion(insert); })
      .Case([&](tensor::ConcatOp concat) { visitConcat(concat); });
}

//===----------------------------------------------------------------------===//
// Regions and functions
//===----------------------------------------------------------------------===//

/// The first iteration of a loop that has one is executed.
void RequirementFinder::visitLoop(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
  if (!lower || !upper || *lower >= *upper || loop.getUnsignedCmp())
    return;
  extents->setNumber(loop.getInductionVar(), extents->getConstant(*lower));
  for (auto [argument, init] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInits())) {
    extents->setExtents(argument, extents->getExtents(init));
    extents->setNumber(argument, extents->getNumber(init));
  }
  for (Operation &op : *loop.getBody())
    visit(&op);
}

void RequirementFinder::visitCall(func::CallOp call) {
  auto callee = dyn_cast_or_null<func::FuncOp>(call.resolveCallable());
  if (!callee || !callee.getBody().hasOneBlock() ||
      llvm::is_contained(open, callee))
    return;
  ExtentExpressions ofCallee(callee, call, *extents);
  ExtentExpressions *ofCaller = extents;
  visitBody(callee, ofCallee);
  extents = ofCaller;
  Operation *end = callee.getBody().front().getTerminator();
  for (auto [result, value] :
       llvm::zip_equal(call.getResults(), end->getOperands())) {
    extents->setExtents(result, ofCallee.getExtents(value));
    extents->setNumber(result, ofCallee.getNumber(value));
  }
}

void RequirementFinder::visit(Operation *op) {
  if (budget == 0)
    return;
  --budget;
  if (op->hasTrait<OpTrait::Elementwise>())
    return visitElementwise(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](linalg::LinalgOp structured) { visitStructured(structured); })
      .Case([&](linalg::SoftmaxOp softmax) {
        joinAll(softmax.getInput(), softmax.getOutput(), softmax.getLoc());
      })
      .Case([&](memref::CopyOp copy) {
        joinAll(copy.getSource(), copy.getTarget(), copy.getLoc());
      })
      .Case([&](bufferization::MaterializeInDestinationOp copy) {
        joinAll(copy.getSource(), copy.getDest(), copy.getLoc());
      })
      .Case([&](func::CallOp call) { visitCall(call); })
      .Case([&](scf::ForOp loop) { visitLoop(loop); })
      .Default([&](Operation *shape) { visitShape(shape); });
}

void RequirementFinder::visitBody(func::FuncOp function,
                                  ExtentExpressions &ofFunction) {
  extents = &ofFunction;
  open.push_back(function);
  // What is in other regions may not be executed.
  for (Operation &op : function.getBody().front())
    visit(&op);
  open.pop_back();
}

RequirementsOf findRequirements(ModuleOp module) {
  RequirementsOf all;
  llvm::StringMap<unsigned> numFunctions;
  module.walk([&](func::FuncOp function) {
    ++numFunctions[function.getName()];
    FunctionRequirements &found = all[function.getName()];
    if (!function.getBody().hasOneBlock())
      return;
    ExtentExpressions extents(function, found.symbols);
    RequirementFinder(found).visitBody(function, extents);
  });
  for (const auto &entry : numFunctions)
    if (entry.second > 1)
      all.erase(entry.first());
  return all;
}

//===----------------------------------------------------------------------===//
// Their description
//===----------------------------------------------------------------------===//

/// True if `function`, which a schedule may have changed, has the argument.
static bool exists(func::FuncOp function, ArgumentSymbol symbol) {
  if (symbol.argument >= function.getNumArguments())
    return false;
  Type type = function.getArgument(symbol.argument).getType();
  if (!symbol.dim)
    return type.isIntOrIndex();
  auto memref = dyn_cast<MemRefType>(type);
  return memref && *symbol.dim < memref.getRank();
}

static StringRef getText(Requirement::Relation relation) {
  switch (relation) {
  case Requirement::Equal:
    return "==";
  case Requirement::AtMost:
    return "<=";
  case Requirement::AtLeast:
    return ">=";
  }
  llvm_unreachable("unknown relation");
}

llvm::json::Array describeRequirements(func::FuncOp function,
                                       const FunctionRequirements &required) {
  using llvm::json::Array, llvm::json::Object;
  Array array;
  for (const Requirement &requirement : required.requirements) {
    llvm::SmallSetVector<unsigned, 4> used;
    auto collect = [&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        used.insert(symbol.getPosition());
    };
    requirement.left.walk(collect);
    requirement.right.walk(collect);
    for (AffineExpr expr : requirement.trips)
      expr.walk(collect);
    SmallVector<AffineExpr> renumbered(required.symbols.size());
    Array args;
    bool isKept = true;
    for (auto [position, number] : llvm::enumerate(used)) {
      ArgumentSymbol symbol = required.symbols[number];
      isKept &= exists(function, symbol);
      renumbered[number] = getAffineSymbolExpr(position, function.getContext());
      Array arg{static_cast<int64_t>(symbol.argument)};
      if (symbol.dim)
        arg.push_back(*symbol.dim);
      args.push_back(std::move(arg));
    }
    if (!isKept)
      continue;
    SourceLocation place = getSourceLocation(requirement.loc);
    auto describe = [&](AffineExpr side) {
      return describeExpression(side.replaceSymbols(renumbered));
    };
    Array trips;
    for (AffineExpr expr : requirement.trips)
      trips.push_back(describe(expr));
    array.push_back(
        Object{{"args", std::move(args)},
               {"trips", std::move(trips)},
               {"left", describe(requirement.left)},
               {"relation", getText(requirement.relation)},
               {"right", describe(requirement.right)},
               {"loc", Array{place.file, place.line, place.column}}});
  }
  return array;
}

} // namespace mlir::workgroup
