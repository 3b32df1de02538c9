//===- PeriodicValues.cpp - Arithmetic on numbers of iterations -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PeriodicValues.h"
#include "Support/IncomingValues.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

/// No larger numbers are computed with, so that nothing overflows.
static constexpr int64_t kMax = int64_t(1) << 31;

PeriodicValue PeriodicValues::make(function_ref<int64_t(int64_t)> get,
                                   int64_t slope) const {
  PeriodicValue value;
  value.slope = slope;
  for (int64_t iteration = 0; iteration < period; ++iteration)
    value.at.push_back(get(iteration));
  return value;
}

/// Sums, products with constants, quotients and remainders by constants: the
/// latter of what is not negative.
PeriodicValues::Result PeriodicValues::combine(AffineExprKind kind,
                                               const Result &lhs,
                                               const Result &rhs) const {
  auto isLarge = [](const PeriodicValue &value) {
    return std::abs(value.slope) > kMax ||
           llvm::any_of(value.at,
                        [](int64_t at) { return std::abs(at) > kMax; });
  };
  if (!lhs || !rhs || isLarge(*lhs) || isLarge(*rhs))
    return std::nullopt;
  if (kind == AffineExprKind::Add)
    return make(
        [&](int64_t iteration) {
          return lhs->at[iteration] + rhs->at[iteration];
        },
        lhs->slope + rhs->slope);
  bool isConstant = rhs->isPeriodic() && llvm::all_equal(rhs->at);
  int64_t factor = rhs->at.front();
  if (!isConstant)
    return kind == AffineExprKind::Mul && lhs->isPeriodic() &&
                   llvm::all_equal(lhs->at)
               ? combine(kind, rhs, lhs)
               : std::nullopt;
  if (kind == AffineExprKind::Mul)
    return make([&](int64_t iteration) { return lhs->at[iteration] * factor; },
                lhs->slope * factor);
  if (factor < 1 || !lhs->isNonNegative() || lhs->slope % factor != 0)
    return std::nullopt;
  if (kind == AffineExprKind::Mod)
    return make([&](int64_t iteration) { return lhs->at[iteration] % factor; });
  if (kind == AffineExprKind::FloorDiv)
    return make([&](int64_t iteration) { return lhs->at[iteration] / factor; },
                lhs->slope / factor);
  return std::nullopt;
}

PeriodicValues::Result PeriodicValues::evaluateExpr(AffineExpr expr,
                                                    ValueRange operands,
                                                    unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return make([&](int64_t) { return constant.getValue(); });
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return evaluate(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return evaluate(operands[numDims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  return combine(expr.getKind(),
                 evaluateExpr(binary.getLHS(), operands, numDims),
                 evaluateExpr(binary.getRHS(), operands, numDims));
}

/// Widening keeps what is not negative; narrowing, what is small, and the
/// remainder of what is not.
PeriodicValues::Result PeriodicValues::evaluateCast(Operation *op) {
  Result value = evaluate(op->getOperand(0));
  if (!value || !value->isNonNegative())
    return std::nullopt;
  auto type = dyn_cast<IntegerType>(op->getResult(0).getType());
  bool isOfBooleans = op->getOperand(0).getType().isInteger(1);
  if (isOfBooleans && !isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
    return std::nullopt; // -1 for true
  if (!type || type.getWidth() >= 63)
    return value;
  int64_t size = int64_t(1) << type.getWidth();
  if (value->slope % size != 0)
    return isa<arith::ExtUIOp, arith::ExtSIOp>(op) ? value : std::nullopt;
  int64_t last = type.getWidth() == 1 ? 2 : size / 2; // not negative then
  PeriodicValue narrow =
      make([&](int64_t iteration) { return value->at[iteration] % size; });
  return llvm::all_of(narrow.at, [&](int64_t at) { return at < last; })
             ? Result(narrow)
             : std::nullopt;
}

/// True if `op` counts by one from what the test of the loop has found to be
/// below a number of the same type, so that it is not the last one.
bool PeriodicValues::isTestedCount(Operation *op) const {
  std::optional<LoopTest> test = loops.getTest(loop);
  return test && test->goesOnIf && isa<arith::AddIOp>(op) &&
         test->compare.getPredicate() == arith::CmpIPredicate::slt &&
         test->compare.getLhs() == op->getOperand(0) &&
         getConstantIntValue(op->getOperand(1)) == 1 &&
         loops.isBehindTest(loop, op);
}

/// True if `op`, which adds or multiplies and has the result `value`, may lose
/// bits of it. No loop has the 2^50 iterations that it takes to the end of 64
/// bits.
bool PeriodicValues::canWrap(Operation *op, const PeriodicValue &value) const {
  constexpr int64_t kMaxStep = 1024;
  auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
  auto type = dyn_cast<IntegerType>(op->getResult(0).getType());
  if (!type || flags.hasNoSignedWrap())
    return false;
  if (!value.isPeriodic())
    return !isTestedCount(op) &&
           (type.getWidth() < 64 || std::abs(value.slope) > kMaxStep * period);
  int64_t limit = int64_t(1) << (std::min(type.getWidth(), 63u) - 1);
  return llvm::any_of(value.at,
                      [&](int64_t at) { return at < -limit || at >= limit; });
}

/// True if `op` takes booleans as numbers with a sign, which makes -1 of true.
static bool isSignedOfBooleans(Operation *op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  bool isSigned =
      compare ? compare.getPredicate() >= arith::CmpIPredicate::slt &&
                    compare.getPredicate() <= arith::CmpIPredicate::sge
              : isa<arith::DivSIOp, arith::FloorDivSIOp, arith::RemSIOp>(op);
  return isSigned && op->getOperand(0).getType().isInteger(1);
}

/// Sums, products, quotients and remainders.
PeriodicValues::Result PeriodicValues::evaluateArith(Operation *op,
                                                     const Result &lhs,
                                                     const Result &rhs) const {
  auto constant = [&](int64_t number) {
    return make([=](int64_t) { return number; });
  };
  auto checked = [&](AffineExprKind kind, const Result &other) {
    Result value = combine(kind, lhs, other);
    return value && !canWrap(op, *value) ? value : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return checked(AffineExprKind::Add, rhs); })
      .Case([&](arith::SubIOp) {
        return checked(AffineExprKind::Add,
                       combine(AffineExprKind::Mul, rhs, constant(-1)));
      })
      .Case([&](arith::MulIOp) { return checked(AffineExprKind::Mul, rhs); })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(
          [&](auto) { return combine(AffineExprKind::FloorDiv, lhs, rhs); })
      .Case<arith::RemUIOp, arith::RemSIOp>(
          [&](auto) { return combine(AffineExprKind::Mod, lhs, rhs); })
      .Case([&](arith::AndIOp) -> Result {
        // The low bits of what is not negative are a remainder.
        std::optional<int64_t> mask = getConstantIntValue(op->getOperand(1));
        bool isOfLowBits = mask && *mask >= 1 && llvm::isPowerOf2_64(*mask + 1);
        return isOfLowBits
                   ? combine(AffineExprKind::Mod, lhs, constant(*mask + 1))
                   : std::nullopt;
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

/// What takes numbers that come again, bit by bit or as a whole.
PeriodicValues::Result PeriodicValues::evaluateRepeated(Operation *op,
                                                        const Result &lhs,
                                                        const Result &rhs) {
  if (!lhs->isPeriodic() || !rhs->isPeriodic())
    return std::nullopt;
  bool areNonNegative = lhs->isNonNegative() && rhs->isNonNegative();
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::XOrIOp) -> Result {
        if (!areNonNegative)
          return std::nullopt;
        return make([&](int64_t iteration) {
          return lhs->at[iteration] ^ rhs->at[iteration];
        });
      })
      .Case([&](arith::CmpIOp compare) -> Result {
        if (!areNonNegative)
          return std::nullopt;
        return make([&](int64_t iteration) -> int64_t {
          return arith::applyCmpPredicate(compare.getPredicate(),
                                          APInt(64, lhs->at[iteration]),
                                          APInt(64, rhs->at[iteration]));
        });
      })
      .Case([&](arith::SelectOp select) -> Result {
        Result other = evaluate(select.getFalseValue());
        if (!other || !other->isPeriodic())
          return std::nullopt;
        return make([&](int64_t iteration) {
          return lhs->at[iteration] ? rhs->at[iteration] : other->at[iteration];
        });
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

PeriodicValues::Result PeriodicValues::evaluateOp(Operation *op) {
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return evaluateExpr(apply.getAffineMap().getResult(0), apply.getOperands(),
                        apply.getAffineMap().getNumDims());
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp,
          arith::ExtSIOp, arith::TruncIOp>(op))
    return evaluateCast(op);
  bool isRepeated = isa<arith::XOrIOp, arith::CmpIOp, arith::SelectOp>(op);
  if (!(isRepeated || isa<arith::AddIOp, arith::SubIOp, arith::MulIOp,
                          arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp,
                          arith::RemUIOp, arith::RemSIOp, arith::AndIOp>(op)) ||
      isSignedOfBooleans(op))
    return std::nullopt;
  Result lhs = evaluate(op->getOperand(0)), rhs = evaluate(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  return isRepeated ? evaluateRepeated(op, lhs, rhs)
                    : evaluateArith(op, lhs, rhs);
}

PeriodicValues::Result PeriodicValues::compute(Value value) {
  if (!value.getType().isIntOrIndex())
    return std::nullopt;
  auto counted = dyn_cast_or_null<scf::ForOp>(loop->op);
  if (counted && value == counted.getInductionVar())
    return evaluateCounter(counted);
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    int64_t number = value.getType().isInteger(1) ? *constant & 1 : *constant;
    return make([&](int64_t) { return number; });
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == loop->header)
      return evaluateCarried(argument);
    Value only = getCommonIncoming(argument);
    return only ? evaluate(only) : std::nullopt;
  }
  return evaluateOp(value.getDefiningOp());
}

PeriodicValues::Result
PeriodicValues::evaluateCounter(scf::ForOp counted) const {
  std::optional<int64_t> first = getConstantIntValue(counted.getLowerBound());
  std::optional<int64_t> step = getConstantIntValue(counted.getStep());
  if (!first || !step || counted.getUnsignedCmp() || std::abs(*first) > kMax ||
      *step > kMax)
    return std::nullopt;
  return make([&](int64_t iteration) { return *first + iteration * *step; },
              period * *step);
}

/// Assumes of all iterations what the first ones show, and proves that the next
/// iteration follows from it.
PeriodicValues::Result PeriodicValues::evaluateCarried(BlockArgument argument) {
  bool isBoolean = argument.getType().isInteger(1);
  SmallVector<int64_t> first;
  for (int64_t iteration = 0; iteration <= period; ++iteration) {
    std::optional<int64_t> value = iterations.evaluate(argument, iteration);
    if (!value || std::abs(*value) > kMax)
      return std::nullopt;
    first.push_back(isBoolean ? *value & 1 : *value);
  }
  int64_t slope = first.back() - first.front();
  PeriodicValue assumed =
      make([&](int64_t iteration) { return first[iteration]; }, slope);
  known[argument] = assumed;
  std::optional<CarriedValue> carried = loops.getCarried(argument);
  Result next = evaluate(carried->next);
  PeriodicValue expected =
      make([&](int64_t iteration) { return first[iteration + 1]; }, slope);
  isWrong |= !next || next->slope != slope || next->at != expected.at;
  return assumed;
}

std::optional<PeriodicValue> PeriodicValues::evaluate(Value value) {
  auto it = known.find(value);
  Result found = it == known.end() ? compute(value) : it->second;
  known[value] = found;
  return isWrong ? std::nullopt : found;
}

} // namespace mlir::workgroup
