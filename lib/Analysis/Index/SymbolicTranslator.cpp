//===- SymbolicTranslator.cpp - From values to linear forms ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ids and sizes of the launch, arithmetic, arguments of blocks, results of
// branches and loops. What is none of these, or may wrap, is an atom of which
// nothing is known.
//
//===----------------------------------------------------------------------===//

#include "SymbolicTranslator.h"
#include "Analysis/Program/LaunchValues.h"
#include "NonNegative.h"
#include "Support/IncomingValues.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Condition = SymbolicCondition;
using Form = SymbolicForm;

//===----------------------------------------------------------------------===//
// Ids
//===----------------------------------------------------------------------===//

SymbolicForm SymbolicTranslator::translateLaunchValue(const LaunchValue &id) {
  switch (id.kind) {
  case LaunchValue::ThreadId:
    return algebra.getThreadId(id.dim);
  case LaunchValue::BlockId:
    return algebra.makeGridValue(Atom::BlockId, id.dim);
  case LaunchValue::BlockSize:
    return algebra.makeGridValue(Atom::BlockSize, id.dim);
  case LaunchValue::GridSize:
    return algebra.makeGridValue(Atom::GridSize, id.dim);
  }
  llvm_unreachable("unknown id");
}

/// The form of an id or size of threads, blocks and warps.
std::optional<SymbolicForm> SymbolicTranslator::translateId(Value value) {
  if (auto launch = dyn_cast<gpu::LaunchOp>(algebra.getScope()))
    if (isa<BlockArgument>(value) &&
        value.getParentBlock() == &launch.getBody().front())
      return translateLaunchId(launch, cast<BlockArgument>(value));
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (std::optional<LaunchValue> id = getLaunchValue(op))
    return translateLaunchValue(*id);
  if (isLaneId(op) && algebra.getShape().getNumThreads())
    return algebra.remainder(algebra.getLinearThreadId(), Form(kWarpSize));
  using Result = std::optional<Form>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](gpu::GlobalIdOp id) -> Result {
        unsigned dim = unsigned(id.getDimension());
        Form start =
            algebra.multiply(algebra.makeGridValue(Atom::BlockId, dim),
                             algebra.makeGridValue(Atom::BlockSize, dim));
        return algebra.add(start, algebra.getThreadId(dim), 1, value);
      })
      .Case([&](gpu::SubgroupIdOp) -> Result {
        if (!algebra.getShape().getNumThreads())
          return std::nullopt;
        return algebra.getWarpId();
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<SymbolicForm>
SymbolicTranslator::translateLaunchId(gpu::LaunchOp launch,
                                      BlockArgument value) {
  gpu::KernelDim3 threads = launch.getThreadIds(),
                  blocks = launch.getBlockIds();
  gpu::KernelDim3 sizes = launch.getBlockSize(), grid = launch.getGridSize();
  auto find = [&](const gpu::KernelDim3 &ids) -> std::optional<unsigned> {
    Value candidates[] = {ids.x, ids.y, ids.z};
    for (auto [dim, candidate] : llvm::enumerate(candidates))
      if (candidate == value)
        return dim;
    return std::nullopt;
  };
  if (auto dim = find(threads))
    return algebra.getThreadId(*dim);
  if (auto dim = find(blocks))
    return algebra.makeGridValue(Atom::BlockId, *dim);
  if (auto dim = find(sizes))
    return algebra.makeGridValue(Atom::BlockSize, *dim);
  if (auto dim = find(grid))
    return algebra.makeGridValue(Atom::GridSize, *dim);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Sums, products, quotients; nothing if `op` is none of them.
std::optional<SymbolicForm> SymbolicTranslator::translateArith(Operation *op) {
  using Result = std::optional<Form>;
  auto get = [&](unsigned i) { return values.getForm(op->getOperand(i)); };
  Value value = op->getResult(0);
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) -> Result {
        return algebra.add(get(0), get(1), 1, value);
      })
      .Case([&](arith::SubIOp) -> Result {
        return algebra.add(get(0), get(1), -1, value);
      })
      .Case([&](arith::MulIOp) -> Result {
        return algebra.multiply(get(0), get(1));
      })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](auto) -> Result {
            // What an i1 means when it is extended is minus one.
            if (op->getOperand(0).getType().isInteger(1))
              return algebra.makeOpaque(value);
            return get(0);
          })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp>([&](auto) -> Result {
        if (op->getOperand(0).getType().isInteger(1))
          return algebra.select(values.getCondition(op->getOperand(0)), 1, 0);
        if (isNonNegative(get(0)) || isNeverNegative(op->getOperand(0)))
          return get(0);
        std::optional<Form> plain = wraps.getUnsigned(op->getOperand(0));
        return plain ? *plain : wraps.translateUnsigned(op);
      })
      .Case([&](arith::SelectOp select) -> Result {
        return translateSelect(select);
      })
      .Case<arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp>(
          [&](auto) -> Result {
            bool isUnsigned = isa<arith::MinUIOp, arith::MaxUIOp>(op);
            if (isUnsigned && !(isNonNegative(get(0)) && isNonNegative(get(1))))
              return algebra.makeOpaque(value);
            return algebra.makeExtremum(isa<arith::MinSIOp, arith::MinUIOp>(op),
                                        get(0), get(1));
          })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [&](auto) -> Result { return divisions.translate(op); })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp,
            arith::ShRSIOp, arith::ShRUIOp>(
          [&](auto) -> Result { return bits.translate(op); })
      .Default([](Operation *) { return std::nullopt; });
}

SymbolicForm SymbolicTranslator::translateSelect(arith::SelectOp op) {
  if (op.getType().isInteger(1))
    return algebra.makeOpaque(op);
  if (std::optional<Form> quotient = divisions.translateExpandedQuotient(op))
    return *quotient;
  Form lhs = values.getForm(op.getTrueValue());
  Form rhs = values.getForm(op.getFalseValue());
  // The condition that is an equation is told best.
  auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>();
  Condition condition = values.getCondition(op.getCondition());
  if (compare && (compare.getPredicate() == arith::CmpIPredicate::ne ||
                  compare.getPredicate() == arith::CmpIPredicate::slt ||
                  compare.getPredicate() == arith::CmpIPredicate::ult))
    return algebra.select(condition.negate(), rhs, lhs);
  return algebra.select(condition, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

SymbolicForm SymbolicTranslator::translateArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  const KernelLoop *loop = algebra.getLoops().getLoopOf(parent);
  if (loop && isa<scf::ForOp, affine::AffineForOp>(parent) &&
      argument.getArgNumber() == 0) {
    std::optional<Form> counter = loopForms.getCounter(loop);
    return counter ? *counter : algebra.makeOpaque(argument);
  }
  if (auto loopOp = dyn_cast<scf::WhileOp>(parent))
    if (argument.getOwner() == loopOp.getAfterBody())
      return values.getForm(
          loopOp.getConditionOp().getArgs()[argument.getArgNumber()]);
  if (std::optional<CarriedValue> carried =
          algebra.getLoops().getCarried(argument))
    return carriedForms.translate(argument, *carried);
  Value only = getCommonIncoming(argument);
  return only ? values.getForm(only) : algebra.makeOpaque(argument);
}

SymbolicForm SymbolicTranslator::translateBranchResult(scf::IfOp op,
                                                       unsigned result) {
  return algebra.select(values.getCondition(op.getCondition()),
                        values.getForm(op.thenYield().getOperand(result)),
                        values.getForm(op.elseYield().getOperand(result)));
}

/// Extents are the same wherever they are asked for.
SymbolicForm SymbolicTranslator::translateExtent(Value memref, int64_t dim) {
  Atom atom;
  atom.value = memref;
  atom.dim = dim + 1;
  atom.range.min = 0;
  SymbolicForm whole = algebra.makeOpaque(memref);
  const SymbolicAtom *source = whole.terms.front().first;
  atom.isDivergent = source->isDivergent;
  atom.isDivergentInWarp = source->isDivergentInWarp;
  atom.isDivergentInGrid = source->isDivergentInGrid;
  atom.isUnsteady = source->isUnsteady;
  atom.isInput = source->isInput;
  atom.loops = source->loops;
  return algebra.ofAtom(std::move(atom));
}

/// A constant of a memref's type; nothing if it is dynamic.
static std::optional<int64_t> getStatic(int64_t number) {
  return ShapedType::isDynamic(number) ? std::nullopt : std::optional(number);
}

/// The offset, an extent or a stride of the memref that `op` takes apart. A
/// dynamic layout is known where rows follow each other.
std::optional<SymbolicForm>
SymbolicTranslator::translateMetadata(memref::ExtractStridedMetadataOp op,
                                      unsigned result) {
  MemRefType type = op.getSource().getType();
  unsigned rank = type.getRank();
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (result == 0 || failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  std::optional<int64_t> number;
  if (result == 1)
    number = getStatic(offset);
  else if (result < 2 + rank)
    return getExtent(op.getSource(), result - 2);
  else
    number = getStatic(strides[result - 2 - rank]);
  if (number)
    return SymbolicForm(*number);
  if (result == 1 || !type.getLayout().isIdentity())
    return std::nullopt;
  Form stride = 1;
  for (unsigned dim = result - 2 - rank + 1; dim < rank; ++dim)
    stride = algebra.multiply(stride, getExtent(op.getSource(), dim));
  return stride;
}

SymbolicForm SymbolicTranslator::getExtent(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  return type.isDynamicDim(dim) ? translateExtent(memref, dim)
                                : SymbolicForm(type.getDimSize(dim));
}

/// What a loop leaves behind, by how often it iterates.
SymbolicForm SymbolicTranslator::translateLoopResult(scf::ForOp counted,
                                                     OpResult result) {
  const KernelLoop *loop = algebra.getLoops().getLoopOf(counted);
  std::optional<LoopForms::Span> span;
  if (loop)
    span = loopForms.getSpan(loop);
  std::optional<Form> trips = span ? loopForms.getTrips(*span) : std::nullopt;
  if (!trips)
    return algebra.makeOpaque(result);
  BlockArgument argument =
      counted.getRegionIterArgs()[result.getResultNumber()];
  Form iterations = *trips;
  Form initial = values.getForm(counted.getTiedLoopInit(argument)->get());
  if (iterations == Form(0))
    return initial;
  Form last = algebra.add(iterations, Form(-1), 1, nullptr);
  // What the argument is holds in the iterations that there are, and not behind
  // the last one: there it is what that one has yielded.
  Value yielded = counted.getTiedLoopYieldedValue(argument)->get();
  std::optional<Form> form =
      substitute(algebra, values.getForm(yielded), loop, last);
  if (!form)
    return algebra.makeOpaque(result);
  if (isPositive(iterations) ||
      substitute(algebra, values.getForm(argument), loop, iterations) == form)
    return *form;
  return algebra.select(Condition::of(Condition::NonNegative, last), *form,
                        initial);
}

SymbolicForm SymbolicTranslator::translateResult(OpResult result) {
  Operation *op = result.getOwner();
  if (auto branch = dyn_cast<scf::IfOp>(op);
      branch && !result.getType().isInteger(1))
    return wraps.fit(translateBranchResult(branch, result.getResultNumber()),
                     result);
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (std::optional<int64_t> number = dim.getConstantIndex())
      return translateExtent(dim.getSource(), *number);
  if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op))
    if (std::optional<Form> form =
            translateMetadata(metadata, result.getResultNumber()))
      return *form;
  if (auto counted = dyn_cast<scf::ForOp>(op))
    return translateLoopResult(counted, result);
  return algebra.makeOpaque(result);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// True for a quotient or remainder of numbers that are not negative: it is no
/// larger than they are.
static bool isQuotient(ValueForms &values, Operation *op) {
  return isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp,
             arith::FloorDivSIOp>(op) &&
         isNonNegative(values.getForm(op->getOperand(0))) &&
         isDivisor(values.getForm(op->getOperand(1)));
}

/// True if the result of `op`, of 64 bits, is one of its operands, or less.
static bool isOnlyCopied(Operation *op) {
  return op->getResult(0).getType().isInteger(64) &&
         !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp,
              arith::TruncIOp>(op);
}

SymbolicForm SymbolicTranslator::translate(Value value) {
  IntegerAttr constant;
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && value.getType().isIntOrIndex())
    constant = dyn_cast_or_null<IntegerAttr>(
        algebra.getArguments().getConstant(argument));
  if (constant || matchPattern(value, m_Constant(&constant)))
    return value.getType().isInteger(1)
               ? Form(int64_t(!constant.getValue().isZero()))
               : algebra.makeConstant(constant.getValue(), value);
  if (!value.getType().isIntOrIndex())
    return algebra.makeOpaque(value);
  if (std::optional<Form> id = translateId(value))
    return *id;
  if (argument)
    return translateArgument(argument);
  Operation *op = value.getDefiningOp();
  if (std::optional<Form> form = translateArith(op)) {
    auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
    bool isWithoutWrap = (flags && flags.hasNoSignedWrap()) ||
                         isQuotient(values, op) || isOnlyCopied(op);
    return isWithoutWrap ? *form : wraps.fit(*form, value);
  }
  if (std::optional<Form> form =
          affine.translate(op, cast<OpResult>(value).getResultNumber()))
    return *form;
  return translateResult(cast<OpResult>(value));
}

} // namespace mlir::workgroup
