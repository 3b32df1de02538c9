//===- SymbolicTranslator.cpp - From values to linear forms ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolicTranslator.h"
#include "Analysis/Integers/IntegerArithmetic.h"
#include "NonNegative.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Condition = SymbolicCondition;
using Form = SymbolicForm;

bool SymbolicTranslator::isNonNegative(const Form &form) const {
  Interval range = index.getRange(form);
  return range.min && *range.min >= 0;
}

bool SymbolicTranslator::isPositive(const Form &form) const {
  Interval range = index.getRange(form);
  return range.min && *range.min >= 1;
}

/// True if `form` is positive where something is divided by it.
bool SymbolicTranslator::isDivisor(const Form &form) const {
  return form.isConstant() ? form.constant > 0 : isNonNegative(form);
}

/// True for a quotient or remainder of numbers that are not negative: it is no
/// larger than they are.
bool SymbolicTranslator::isQuotient(Operation *op) const {
  return isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp,
             arith::FloorDivSIOp>(op) &&
         isNonNegative(index.getForm(op->getOperand(0))) &&
         isDivisor(index.getForm(op->getOperand(1)));
}

/// True if the result of `op`, of 64 bits, is one of its operands, or less.
static bool isOnlyCopied(Operation *op) {
  return op->getResult(0).getType().isInteger(64) &&
         !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp,
              arith::TruncIOp>(op);
}

SymbolicForm SymbolicTranslator::translate(Value value) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return value.getType().isInteger(1)
               ? Form(int64_t(!constant.getValue().isZero()))
               : makeConstant(constant.getValue(), value);
  if (!value.getType().isIntOrIndex())
    return index.makeOpaque(value);
  if (std::optional<Form> id = translateId(value))
    return *id;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return translateArgument(argument);
  Operation *op = value.getDefiningOp();
  if (std::optional<Form> form = translateArith(op)) {
    auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
    bool isWithoutWrap = (flags && flags.hasNoSignedWrap()) || isQuotient(op) ||
                         isOnlyCopied(op);
    return isWithoutWrap ? *form : fit(*form, value);
  }
  if (std::optional<Form> form =
          translateAffine(op, cast<OpResult>(value).getResultNumber()))
    return *form;
  return translateResult(cast<OpResult>(value));
}

/// `number`, if sums with it are far from overflowing.
SymbolicForm SymbolicTranslator::makeConstant(const APInt &number,
                                              Value value) {
  constexpr unsigned kMaxBits = 62;
  return number.isSignedIntN(kMaxBits) ? Form(number.getSExtValue())
                                       : index.makeOpaque(value);
}

/// The form of an id or size of threads, blocks and warps.
std::optional<SymbolicForm> SymbolicTranslator::translateId(Value value) {
  if (auto launch = dyn_cast<gpu::LaunchOp>(index.scope))
    if (isa<BlockArgument>(value) &&
        value.getParentBlock() == &launch.getBody().front())
      return translateLaunchId(launch, cast<BlockArgument>(value));
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto of = [&](unsigned dim, auto make) { return make(dim); };
  auto thread = [&](unsigned dim) { return index.makeThreadId(dim); };
  auto grid = [&](Atom::GridKind what) {
    return
        [this, what](unsigned dim) { return index.makeGridValue(what, dim); };
  };
  using Result = std::optional<Form>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](gpu::ThreadIdOp id) -> Result {
        return of(unsigned(id.getDimension()), thread);
      })
      .Case([&](gpu::BlockIdOp id) -> Result {
        return of(unsigned(id.getDimension()), grid(Atom::BlockId));
      })
      .Case([&](gpu::BlockDimOp id) -> Result {
        return of(unsigned(id.getDimension()), grid(Atom::BlockSize));
      })
      .Case([&](gpu::GridDimOp id) -> Result {
        return of(unsigned(id.getDimension()), grid(Atom::GridSize));
      })
      .Case([&](gpu::GlobalIdOp id) -> Result {
        unsigned dim = unsigned(id.getDimension());
        Form start = index.multiply(index.makeGridValue(Atom::BlockId, dim),
                                    index.makeGridValue(Atom::BlockSize, dim));
        return index.add(start, thread(dim), 1, value);
      })
      .Case([&](NVVM::ThreadIdXOp) -> Result { return thread(0); })
      .Case([&](NVVM::ThreadIdYOp) -> Result { return thread(1); })
      .Case([&](NVVM::ThreadIdZOp) -> Result { return thread(2); })
      .Case([&](NVVM::BlockIdXOp) -> Result { return grid(Atom::BlockId)(0); })
      .Case([&](NVVM::BlockIdYOp) -> Result { return grid(Atom::BlockId)(1); })
      .Case([&](NVVM::BlockIdZOp) -> Result { return grid(Atom::BlockId)(2); })
      .Case(
          [&](NVVM::BlockDimXOp) -> Result { return grid(Atom::BlockSize)(0); })
      .Case(
          [&](NVVM::BlockDimYOp) -> Result { return grid(Atom::BlockSize)(1); })
      .Case(
          [&](NVVM::BlockDimZOp) -> Result { return grid(Atom::BlockSize)(2); })
      .Case<gpu::LaneIdOp, NVVM::LaneIdOp>([&](auto) -> Result {
        if (!index.shape.getNumThreads())
          return std::nullopt;
        return index.remainder(index.getLinearThreadId(), Form(kWarpSize));
      })
      .Case([&](gpu::SubgroupIdOp) -> Result {
        if (!index.shape.getNumThreads())
          return std::nullopt;
        return index.getWarpId();
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
    return index.makeThreadId(*dim);
  if (auto dim = find(blocks))
    return index.makeGridValue(Atom::BlockId, *dim);
  if (auto dim = find(sizes))
    return index.makeGridValue(Atom::BlockSize, *dim);
  if (auto dim = find(grid))
    return index.makeGridValue(Atom::GridSize, *dim);
  return std::nullopt;
}

/// Sums, products, quotients; nothing if `op` is none of them.
std::optional<SymbolicForm> SymbolicTranslator::translateArith(Operation *op) {
  using Result = std::optional<Form>;
  auto get = [&](unsigned i) { return index.getForm(op->getOperand(i)); };
  Value value = op->getResult(0);
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) -> Result {
        return index.add(get(0), get(1), 1, value);
      })
      .Case([&](arith::SubIOp) -> Result {
        return index.add(get(0), get(1), -1, value);
      })
      .Case([&](arith::MulIOp) -> Result {
        return index.multiply(get(0), get(1));
      })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](auto) -> Result {
            // What an i1 means when it is extended is minus one.
            if (op->getOperand(0).getType().isInteger(1))
              return index.makeOpaque(value);
            return get(0);
          })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp>([&](auto) -> Result {
        if (op->getOperand(0).getType().isInteger(1))
          return index.select(index.getCondition(op->getOperand(0)), 1, 0);
        if (isNonNegative(get(0)) || isNeverNegative(op->getOperand(0)))
          return get(0);
        std::optional<Form> plain = getUnsigned(op->getOperand(0));
        return plain ? *plain : translateUnsigned(op);
      })
      .Case([&](arith::SelectOp select) -> Result {
        return translateSelect(select);
      })
      .Case<arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp>(
          [&](auto) -> Result {
            bool isUnsigned = isa<arith::MinUIOp, arith::MaxUIOp>(op);
            if (isUnsigned && !(isNonNegative(get(0)) && isNonNegative(get(1))))
              return index.makeOpaque(value);
            return makeExtremum(isa<arith::MinSIOp, arith::MinUIOp>(op), get(0),
                                get(1));
          })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [&](auto) -> Result { return translateDivision(op); })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp,
            arith::ShRSIOp, arith::ShRUIOp>(
          [&](auto) -> Result { return translateBits(op); })
      .Default([](Operation *) { return std::nullopt; });
}

SymbolicForm SymbolicTranslator::makeExtremum(bool isMinimum, const Form &lhs,
                                              const Form &rhs) {
  Interval left = index.getRange(lhs), right = index.getRange(rhs);
  if (left.max && right.min && *left.max <= *right.min)
    return isMinimum ? lhs : rhs;
  if (right.max && left.min && *right.max <= *left.min)
    return isMinimum ? rhs : lhs;
  if (lhs == rhs)
    return lhs;
  return index.makeBinary(isMinimum ? Atom::Minimum : Atom::Maximum, lhs, rhs);
}

SymbolicForm SymbolicTranslator::translateSelect(arith::SelectOp op) {
  if (op.getType().isInteger(1))
    return index.makeOpaque(op);
  if (std::optional<Form> quotient = translateExpandedQuotient(op))
    return *quotient;
  Form lhs = index.getForm(op.getTrueValue());
  Form rhs = index.getForm(op.getFalseValue());
  // The condition that is an equation is told best.
  auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>();
  Condition condition = index.getCondition(op.getCondition());
  if (compare && (compare.getPredicate() == arith::CmpIPredicate::ne ||
                  compare.getPredicate() == arith::CmpIPredicate::slt ||
                  compare.getPredicate() == arith::CmpIPredicate::ult))
    return index.select(condition.negate(), rhs, lhs);
  return index.select(condition, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Affine operations
//===----------------------------------------------------------------------===//

std::optional<SymbolicForm>
SymbolicTranslator::translateAffine(Operation *op, unsigned result) {
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return index.getForm(apply.getAffineMap(), apply.getMapOperands());
  if (isa<affine::AffineMinOp, affine::AffineMaxOp>(op)) {
    auto map = isa<affine::AffineMinOp>(op)
                   ? cast<affine::AffineMinOp>(op).getMap()
                   : cast<affine::AffineMaxOp>(op).getMap();
    return translateExtremum(map, op->getOperands(),
                             isa<affine::AffineMinOp>(op));
  }
  if (auto split = dyn_cast<affine::AffineDelinearizeIndexOp>(op)) {
    Form rest = index.getForm(split.getLinearIndex());
    SmallVector<OpFoldResult> basis = split.getMixedBasis();
    if (split.hasOuterBound())
      basis.erase(basis.begin());
    // The last coordinate is the remainder by the last size, and so on.
    for (unsigned i = split.getNumResults() - 1; i > result; --i)
      rest = index.divide(rest, index.getForm(basis[i - 1]));
    return result == 0
               ? rest
               : index.remainder(rest, index.getForm(basis[result - 1]));
  }
  if (auto joined = dyn_cast<affine::AffineLinearizeIndexOp>(op)) {
    SmallVector<OpFoldResult> basis = joined.getMixedBasis();
    OperandRange indices = joined.getMultiIndex();
    size_t skipped = basis.size() == indices.size() ? 0 : 1;
    Form sum = index.getForm(indices.front());
    for (size_t i = 1; i < indices.size(); ++i)
      sum = index.add(index.multiply(sum, index.getForm(basis[i - skipped])),
                      index.getForm(indices[i]), 1, nullptr);
    return sum;
  }
  return std::nullopt;
}

SymbolicForm SymbolicTranslator::translateExtremum(AffineMap map,
                                                   ValueRange operands,
                                                   bool isMinimum) {
  Form form = translate(map.getResult(0), operands, map.getNumDims());
  for (AffineExpr expr : map.getResults().drop_front())
    form = makeExtremum(isMinimum, form,
                        translate(expr, operands, map.getNumDims()));
  return form;
}

SymbolicForm SymbolicTranslator::translate(AffineExpr expr, ValueRange operands,
                                           unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return makeConstant(APInt(64, constant.getValue(), true), nullptr);
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return index.getForm(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return index.getForm(operands[numDims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Form lhs = translate(binary.getLHS(), operands, numDims);
  Form rhs = translate(binary.getRHS(), operands, numDims);
  bool isDivision = expr.getKind() != AffineExprKind::Add &&
                    expr.getKind() != AffineExprKind::Mul;
  if (isDivision && rhs.isConstant() && rhs.constant <= 0)
    return index.makeOpaque(nullptr);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return index.add(lhs, rhs, 1, nullptr);
  case AffineExprKind::Mul:
    return index.multiply(lhs, rhs);
  case AffineExprKind::Mod:
    return index.remainder(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return index.divide(lhs, rhs);
  case AffineExprKind::CeilDiv:
    return index.divide(
        index.add(index.add(lhs, rhs, 1, nullptr), Form(-1), 1, nullptr), rhs);
  default:
    llvm_unreachable("no other binary expressions");
  }
}

} // namespace mlir::workgroup
