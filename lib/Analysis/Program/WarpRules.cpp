//===- WarpRules.cpp - What the threads of a warp agree on ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpRules.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// True if `value` is the id of the thread along x.
static bool isThreadIdX(Value value) {
  if (auto id = value.getDefiningOp<gpu::ThreadIdOp>())
    return id.getDimension() == gpu::Dimension::x;
  auto launch = dyn_cast_or_null<gpu::LaunchOp>(
      value.getParentBlock() ? value.getParentBlock()->getParentOp() : nullptr);
  return launch && value == launch.getThreadIds().x;
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
  if (!isThreadIdX(value) || !isKernel(scope))
    return false;
  BlockShape shape = getBlockShape(scope);
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
