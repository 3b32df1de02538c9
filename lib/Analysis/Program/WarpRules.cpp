//===- WarpRules.cpp - What the threads of a warp agree on ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpRules.h"
#include "LaunchValues.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/Kernel.h"

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
