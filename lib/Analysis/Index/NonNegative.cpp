//===- NonNegative.cpp - Values that are never below zero -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NonNegative.h"
#include "Analysis/Program/LaunchValues.h"
#include "Support/IncomingValues.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

namespace {

/// Collects what has to be not negative for a value not to be.
class NonNegativeProof {
public:
  bool prove(Value value);

private:
  bool add(Value value);
  bool addOperands(Operation *op);
  bool addArgument(BlockArgument argument);
  bool addIncoming(Value value);
  bool need(ValueRange values) {
    needed.insert_range(values);
    return true;
  }

  SetVector<Value> needed;
  IncomingValues incoming;
};

} // namespace

bool NonNegativeProof::addIncoming(Value value) {
  auto values = incoming.get(value);
  return !values.empty() &&
         llvm::all_of(values, [&](const IncomingValue &from) {
           return from.value && need(from.value);
         });
}

bool NonNegativeProof::addArgument(BlockArgument argument) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (loop && argument == loop.getInductionVar()) {
    if (loop.getUnsignedCmp())
      return false;
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    return step && *step > 0 && need(loop.getLowerBound());
  }
  return addIncoming(argument);
}

/// True if `op` does not wrap from the largest number to below zero.
template <typename OpTy>
static bool isWithoutWrap(OpTy op) {
  return isa<IndexType>(op.getType()) ||
         bitEnumContainsAll(op.getOverflowFlags(),
                            arith::IntegerOverflowFlags::nsw);
}

/// True if `expr` is not negative where its dimensions and symbols are not.
static bool isOfNonNegative(AffineExpr expr) {
  return !expr.walk([](AffineExpr part) {
                auto constant = dyn_cast<AffineConstantExpr>(part);
                return constant && constant.getValue() < 0
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

/// True if `cast` makes more bits of fewer: the first one is zero.
static bool isWidened(arith::IndexCastUIOp cast) {
  constexpr unsigned kIndexBits = 64;
  auto from = dyn_cast<IntegerType>(cast.getIn().getType());
  auto to = dyn_cast<IntegerType>(cast.getType());
  return from ? from.getWidth() < kIndexBits : to.getWidth() > kIndexBits;
}

/// True if no bit of what `cast` is given is lost.
static bool isWide(arith::IndexCastUIOp cast) {
  constexpr unsigned kIndexBits = 64, kIdBits = 32;
  // The largest grid has 2^31 - 1 blocks.
  bool isId = getLaunchValue(cast.getIn().getDefiningOp()).has_value();
  auto to = dyn_cast<IntegerType>(cast.getType());
  return !to || to.getWidth() >= (isId ? kIdBits : kIndexBits);
}

/// True if `op` is not negative provided that what it adds to the proof is not.
bool NonNegativeProof::addOperands(Operation *op) {
  auto isAtLeast = [](Value value, int64_t least) {
    std::optional<int64_t> number = getConstantIntValue(value);
    return number && *number >= least;
  };
  if (getLaunchValue(op) || isLaneId(op) || isa<gpu::SubgroupIdOp>(op))
    return true;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](arith::ExtUIOp) {
        return true; // of a narrower type
      })
      .Case([&](arith::IndexCastUIOp cast) {
        return isWidened(cast) || (isWide(cast) && need(cast.getIn()));
      })
      .Case([&](arith::MaxSIOp most) {
        return isAtLeast(most.getLhs(), 0) || isAtLeast(most.getRhs(), 0) ||
               need(most->getOperands());
      })
      .Case([&](arith::ShRUIOp shift) {
        return isAtLeast(shift.getRhs(), 1) || need(shift.getLhs());
      })
      .Case([&](arith::DivUIOp quotient) {
        return isAtLeast(quotient.getRhs(), 2) || need(quotient.getLhs());
      })
      .Case([&](arith::RemUIOp rest) {
        return isAtLeast(rest.getRhs(), 1) || need(rest->getOperands());
      })
      .Case([&](arith::AndIOp both) {
        return isAtLeast(both.getRhs(), 0) || isAtLeast(both.getLhs(), 0) ||
               need(both->getOperands());
      })
      .Case<arith::AddIOp, arith::MulIOp>([&](auto sum) {
        return isWithoutWrap(sum) && need(sum->getOperands());
      })
      .Case([&](affine::AffineApplyOp apply) {
        return isOfNonNegative(apply.getAffineMap().getResult(0)) &&
               need(apply.getMapOperands());
      })
      .Case<arith::OrIOp, arith::XOrIOp, arith::DivSIOp, arith::FloorDivSIOp,
            arith::CeilDivSIOp, arith::MinSIOp, arith::MinUIOp, arith::ExtSIOp>(
          [&](Operation *all) { return need(all->getOperands()); })
      .Case<arith::RemSIOp, arith::ShRSIOp>(
          [&](Operation *rest) { return need(rest->getOperand(0)); })
      .Case([&](arith::SelectOp selection) {
        return need({selection.getTrueValue(), selection.getFalseValue()});
      })
      .Default([&](Operation *) { return false; });
}

bool NonNegativeProof::add(Value value) {
  if (!value.getType().isIntOrIndex())
    return false;
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return *number >= 0;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return addArgument(argument);
  return addOperands(value.getDefiningOp()) || addIncoming(value);
}

bool NonNegativeProof::prove(Value value) {
  // Longer proofs are not worth the time.
  constexpr unsigned kMaxValues = 32;
  need(value);
  for (unsigned i = 0; i < needed.size(); ++i)
    if (i == kMaxValues || !add(needed[i]))
      return false;
  return true;
}

bool isNeverNegative(Value value) { return NonNegativeProof().prove(value); }

} // namespace mlir::workgroup
