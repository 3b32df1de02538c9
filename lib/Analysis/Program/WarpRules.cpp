//===- WarpRules.cpp - What the threads of a warp agree on ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpRules.h"
#include "LaunchValues.h"
#include "OpEffects.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::workgroup {

/// The dimension along which `value` is the id of the thread.
static std::optional<unsigned> getThreadDimension(Value value) {
  if (std::optional<LaunchValue> id = getLaunchValue(value.getDefiningOp()))
    return id->kind == LaunchValue::ThreadId ? std::optional(id->dim)
                                             : std::nullopt;
  auto launch = dyn_cast_or_null<gpu::LaunchOp>(
      value.getParentBlock() ? value.getParentBlock()->getParentOp() : nullptr);
  if (!launch)
    return std::nullopt;
  gpu::KernelDim3 ids = launch.getThreadIds();
  if (value == ids.x)
    return 0;
  if (value == ids.y)
    return 1;
  return value == ids.z ? std::optional(2u) : std::nullopt;
}

/// Adds `value` times `factor` to `factors` of the ids along x, y and z. False
/// if it is no such sum.
static bool addFactors(Value value, int64_t factor,
                       std::array<int64_t, 3> &factors) {
  if (std::optional<unsigned> dim = getThreadDimension(value)) {
    factors[*dim] += factor;
    return true;
  }
  if (!value.getType().isIndex())
    return false;
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return addFactors(sum.getLhs(), factor, factors) &&
           addFactors(sum.getRhs(), factor, factors);
  auto product = value.getDefiningOp<arith::MulIOp>();
  std::optional<int64_t> number =
      product ? getConstantIntValue(product.getRhs()) : std::nullopt;
  constexpr int64_t kMaxFactor = 1 << 16; // blocks are smaller
  return number && *number > 0 && *number <= kMaxFactor &&
         factor * *number <= kMaxFactor &&
         addFactors(product.getLhs(), factor * *number, factors);
}

/// True if `value` is the linear id of the thread in a block of shape `block`:
/// x + size.x * (y + size.y * z).
static bool isLinearThreadId(Value value, const BlockShape &block) {
  std::array<int64_t, 3> factors = {0, 0, 0};
  if (!addFactors(value, 1, factors))
    return false;
  int64_t step = 1;
  for (unsigned dim = 0; dim < 3; ++dim) {
    if (block.sizes[dim] != 1 && factors[dim] != step)
      return false;
    if (dim < 2 && !block.sizes[dim])
      return false;
    step *= block.sizes[dim].value_or(1);
  }
  return true;
}

bool isOfWholeWarp(Operation *op) {
  if (auto reduce = dyn_cast<gpu::SubgroupReduceOp>(op))
    return !reduce.getClusterSize();
  auto shuffle = dyn_cast<gpu::ShuffleOp>(op);
  return shuffle && shuffle.getMode() == gpu::ShuffleMode::IDX &&
         getConstantIntValue(shuffle.getWidth()) == kWarpSize;
}

//===----------------------------------------------------------------------===//
// Reductions by exchanges
//===----------------------------------------------------------------------===//

/// `value` before casts that keep its bits.
static Value skipBitcasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::BitcastOp, LLVM::BitcastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static bool isConstant(Value value, int64_t number) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) &&
         constant.getSExtValue() == number;
}

namespace {

/// What a lane gets from the lane whose number differs from its own in one bit.
struct LaneExchange {
  Value source;
  int64_t bit;

  static std::optional<LaneExchange> of(Value value);
};

} // namespace

std::optional<LaneExchange> LaneExchange::of(Value value) {
  value = skipBitcasts(value);
  Operation *op = value.getDefiningOp();
  Value source, distance;
  if (auto shuffle = dyn_cast_or_null<gpu::ShuffleOp>(op);
      shuffle && shuffle.getMode() == gpu::ShuffleMode::XOR &&
      value == shuffle.getShuffleResult() &&
      isConstant(shuffle.getWidth(), kWarpSize)) {
    source = shuffle.getValue();
    distance = shuffle.getOffset();
  } else if (auto shuffle = dyn_cast_or_null<NVVM::ShflOp>(op);
             shuffle && shuffle.getKind() == NVVM::ShflKind::bfly &&
             isConstant(shuffle.getThreadMask(), -1) &&
             isConstant(shuffle.getMaskAndClamp(), kWarpSize - 1)) {
    source = shuffle.getVal();
    distance = shuffle.getOffset();
  }
  APInt bit;
  if (!source || !matchPattern(distance, m_ConstantInt(&bit)) ||
      !bit.isPowerOf2() || bit.uge(kWarpSize))
    return std::nullopt;
  return LaneExchange{skipBitcasts(source), int64_t(bit.getZExtValue())};
}

/// True if `op` combines two values to the same, whichever comes first.
static bool isSymmetric(Operation *op) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
      !llvm::all_equal({op->getOperand(0).getType(),
                        op->getOperand(1).getType(),
                        op->getResult(0).getType()}))
    return false;
  bool isOfLLVM =
      isa<LLVM::FAddOp, LLVM::FMulOp, LLVM::AddOp, LLVM::MulOp, LLVM::AndOp,
          LLVM::OrOp, LLVM::XOrOp, LLVM::MaxNumOp, LLVM::MinNumOp,
          LLVM::MaximumOp, LLVM::MinimumOp, LLVM::SMaxOp, LLVM::SMinOp,
          LLVM::UMaxOp, LLVM::UMinOp>(op);
  return isOfLLVM ||
         (op->hasTrait<OpTrait::IsCommutative>() && isMemoryEffectFree(op));
}

/// The exchange by which one operand of `op` comes from what the other one is.
static std::optional<LaneExchange> getExchange(Operation *op) {
  for (unsigned i : {0, 1})
    if (auto exchange = LaneExchange::of(op->getOperand(i));
        exchange && exchange->source == skipBitcasts(op->getOperand(1 - i)))
      return exchange;
  return std::nullopt;
}

bool isButterfly(Operation *op) {
  for (int64_t missing = kWarpSize - 1; op && isSymmetric(op);) {
    std::optional<LaneExchange> exchange = getExchange(op);
    if (!exchange || (missing & exchange->bit) == 0)
      return false;
    missing &= ~exchange->bit;
    if (missing == 0)
      return true;
    op = exchange->source.getDefiningOp();
  }
  return false;
}

bool isMadeOfExchange(Value value) {
  SmallVector<Value> worklist = {value};
  llvm::SmallDenseSet<Value> seen;
  auto isExchange = [](Operation *op) {
    return getOpKind(op) == OpKind::WarpExchange;
  };
  auto hasExchange = [&](Operation *op) {
    return op
        ->walk([&](Operation *inner) {
          return isExchange(inner) ? WalkResult::interrupt()
                                   : WalkResult::advance();
        })
        .wasInterrupted();
  };
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    Block *block = next.getParentBlock();
    // Of a branch or a loop, whatever it hands on.
    if (!op && !(block->isEntryBlock() &&
                 isa<FunctionOpInterface>(block->getParentOp())))
      op = block->getParentOp();
    if (!op)
      continue;
    if (isExchange(op) || (op->getNumRegions() > 0 && hasExchange(op)))
      return true;
    llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Numbers of warps
//===----------------------------------------------------------------------===//

/// True if `value` counts the threads of a block such that each warp begins at
/// a multiple of 32.
static bool isAlignedThreadId(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto integer = dyn_cast<IntegerType>(value.getType());
    constexpr unsigned kBitsOfIds = 16; // whatever an id is, it fits
    bool isExact = !integer || integer.getWidth() >= kBitsOfIds;
    if (!isExact || !isa<arith::IndexCastOp, arith::IndexCastUIOp,
                         arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp>(op))
      break;
    value = op->getOperand(0);
  }
  Operation *scope = getExecutionScope(value.getParentRegion()->getParentOp());
  if (!isKernel(scope))
    return false;
  BlockShape shape = getBlockShape(scope);
  if (isLinearThreadId(value, shape))
    return true;
  if (getThreadDimension(value) != 0)
    return false;
  bool isRow = shape.sizes[1] == 1 && shape.sizes[2] == 1;
  return isRow || (shape.sizes[0] && *shape.sizes[0] % kWarpSize == 0);
}

bool isWarpNumber(Operation *op) {
  constexpr int64_t kShift = 5;
  static_assert(kWarpSize == 1 << kShift);
  std::optional<int64_t> divisor;
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op)) {
    divisor = getConstantIntValue(op->getOperand(1));
  } else if (isa<arith::ShRUIOp, arith::ShRSIOp>(op)) {
    std::optional<int64_t> shift = getConstantIntValue(op->getOperand(1));
    bool isWhole = shift && *shift >= kShift && *shift < 16;
    divisor = isWhole ? std::optional(int64_t(1) << *shift) : std::nullopt;
  } else if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    auto quotient =
        dyn_cast<AffineBinaryOpExpr>(apply.getAffineMap().getResult(0));
    if (apply.getNumOperands() == 1 && quotient &&
        quotient.getKind() == AffineExprKind::FloorDiv &&
        isa<AffineDimExpr, AffineSymbolExpr>(quotient.getLHS()))
      if (auto constant = dyn_cast<AffineConstantExpr>(quotient.getRHS()))
        divisor = constant.getValue();
  }
  return divisor && *divisor > 0 && *divisor % kWarpSize == 0 &&
         isAlignedThreadId(op->getOperand(0));
}

} // namespace mlir::workgroup
